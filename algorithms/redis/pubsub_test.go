package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// afterEach is called after each reply to a command, with their number so far.
type afterEach struct {
	noHook
	command string
	do      func(n int)
	n       int
}

func (a *afterEach) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if strings.EqualFold(cmd.Name(), a.command) {
			a.n++
			a.do(a.n)
		}
		return err
	}
}

// A release wakes a waiter that has subscribed, long before its patience and the lease
// end, on the machine's clock and real sockets.
func TestAwaitIsWoken(t *testing.T) {
	s := newTestbed(t, 1)
	e := entry(t, "redisson-lock")
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	b.env.Clock = clockwork.NewRealClock()
	b.Strategy = e.New(b.env)
	held := must(a.Acquire(t.Context(), "lock"))(t)
	b.conns[0].AddHook(&afterEach{command: "eval", do: func(n int) {
		if n == 2 { // refused again, and about to wait
			mustRelease(t, held, nil)
		}
	}})
	began := time.Now()
	lease := must(b.Strategy.(lock.Queuer).Await(t.Context(), "lock", time.Minute))(t)
	if took := time.Since(began); took > e.TTL/2 {
		t.Errorf("woken after %v", took)
	}
	mustRelease(t, lease, nil)
}

// Nobody releases: a waiter gives up after its patience.
func TestAwaitIsPatient(t *testing.T) {
	for _, id := range []string{"redisson-lock", "naive-wake"} {
		s := newTestbed(t, 1)
		e := entry(t, id)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		b.env.Clock = clockwork.NewRealClock()
		b.Strategy = e.New(b.env)
		must(a.Acquire(t.Context(), "lock"))(t)
		for _, patience := range []time.Duration{0, 10 * time.Millisecond} {
			began := time.Now()
			_, err := b.Strategy.(lock.Queuer).Await(t.Context(), "lock", patience)
			if took := time.Since(began); !errors.Is(err, lock.ErrNotAcquired) || took < patience {
				t.Errorf("%s: %v after %v, want %v after %v", id, err, took, lock.ErrNotAcquired, patience)
			}
		}
	}
}
