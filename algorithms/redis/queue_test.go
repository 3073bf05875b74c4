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

// The lock goes to the process that tried first, however often others try.
func TestQueueIsFair(t *testing.T) {
	e := entry(t, "queue")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	mustRefuse(t, c, "lock")
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	mustRefuse(t, a, "lock")
	mustRefuse(t, c, "lock")
	lease = must(b.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	mustRefuse(t, a, "lock")
	must(c.Acquire(t.Context(), "lock"))(t)
}

// The first waiter is gone: for a TTL nobody gets the free lock, then the next waiter
// does.
func TestQueueDropsTheSilent(t *testing.T) {
	e := entry(t, "queue")
	s := newTestbed(t, 1)
	a, b, c := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock") // and gives up
	s.pass(time.Millisecond)
	mustRefuse(t, c, "lock")
	mustRelease(t, lease, nil)
	mustRefuse(t, c, "lock")
	s.pass(e.TTL - 2*time.Millisecond)
	mustRefuse(t, c, "lock")
	s.pass(2 * time.Millisecond)
	lease = must(c.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, lease, nil)
	if left := s.values(t, 0); len(left) != 0 {
		t.Errorf("%v is left when nobody waits", left)
	}
}

// A waiter that does not try for a TTL loses its place.
func TestQueueSilenceCostsThePlace(t *testing.T) {
	e := entry(t, "queue")
	s := newTestbed(t, 1)
	a, b, c, d := s.process(t, e, "A"), s.process(t, e, "B"), s.process(t, e, "C"), s.process(t, e, "D")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	mustRefuse(t, c, "lock")
	s.pass(e.TTL / 2)
	mustRefuse(t, b, "lock")
	mustRefuse(t, d, "lock")
	s.pass(e.TTL/2 + time.Millisecond)
	mustRefuse(t, c, "lock")
	mustRelease(t, lease, lock.ErrNotHeld) // its own TTL has ended as well
	mustRelease(t, must(b.Acquire(t.Context(), "lock"))(t), nil)
	mustRefuse(t, c, "lock")
	mustRelease(t, must(d.Acquire(t.Context(), "lock"))(t), nil)
	must(c.Acquire(t.Context(), "lock"))(t)
}

// A list that an administrator deleted is created again.
func TestQueueSurvivesItsList(t *testing.T) {
	_, s, a, b := pair(t, "queue")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	mustRefuse(t, b, "lock")
	s.deleteKey(t, "lock:queue")
	mustRefuse(t, b, "lock")
	mustRelease(t, lease, nil)
	must(b.Acquire(t.Context(), "lock"))(t)
}

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
	b.Lock = e.New(b.env)
	held := must(a.Acquire(t.Context(), "lock"))(t)
	b.conns[0].AddHook(&afterEach{command: "eval", do: func(n int) {
		if n == 2 { // refused again, and about to wait
			mustRelease(t, held, nil)
		}
	}})
	began := time.Now()
	lease := must(b.Lock.(lock.Queuer).Await(t.Context(), "lock", time.Minute))(t)
	if took := time.Since(began); took > e.TTL/2 {
		t.Errorf("woken after %v", took)
	}
	mustRelease(t, lease, nil)
}

// Without a release a waiter gives up after its patience.
func TestAwaitIsPatient(t *testing.T) {
	for _, id := range []string{"redisson-lock", "naive-wake"} {
		s := newTestbed(t, 1)
		e := entry(t, id)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		b.env.Clock = clockwork.NewRealClock()
		b.Lock = e.New(b.env)
		must(a.Acquire(t.Context(), "lock"))(t)
		for _, patience := range []time.Duration{0, 10 * time.Millisecond} {
			began := time.Now()
			_, err := b.Lock.(lock.Queuer).Await(t.Context(), "lock", patience)
			if took := time.Since(began); !errors.Is(err, lock.ErrNotAcquired) || took < patience {
				t.Errorf("%s: %v after %v, want %v after %v", id, err, took, lock.ErrNotAcquired, patience)
			}
		}
	}
}

// errFault is the error that a client gets for a command into which a fault was
// injected.
var errFault = errors.New("fault")

// noHook lets everything pass.
type noHook struct{}

func (noHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (noHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (noHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A fault is injected into the commands of one name on one connection.
type fault struct {
	noHook
	command      string // its name, in any case
	before       func() // runs before the command leaves, if not nil
	loseRequests int    // how many of them do not reach the server
	loseReplies  int    // of how many the server runs the command but the reply is lost
}

func (f *fault) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !strings.EqualFold(cmd.Name(), f.command) {
			return next(ctx, cmd)
		}
		if f.before != nil {
			f.before()
		}
		if f.loseRequests > 0 {
			f.loseRequests--
			return errFault
		}
		err := next(ctx, cmd)
		if f.loseReplies > 0 {
			f.loseReplies--
			return errFault
		}
		return err
	}
}

// slow makes a command take d on the client's clock.
func slow(command string, clock interface{ Advance(time.Duration) }, d time.Duration) *fault {
	return &fault{command: command, before: func() { clock.Advance(d) }}
}
