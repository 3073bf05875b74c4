package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// TestPlayed: who gets a lock, is refused it and gives it back, one after the other. "late" is a release that is not of
// the holder, "knows" and "lost" what the holder's own check says.
func TestPlayed(t *testing.T) {
	for _, c := range []struct{ what, id, lines string }{
		{"the lock goes to the process that tried first, however often others try", "queue",
			"A gets; B refused; C refused; B refused; A gives; A refused; C refused; B gets; B gives; " +
				"A refused; C gets"},
		{"where the first waiter is gone nobody gets the free lock for a lease, then the next waiter does", "queue",
			"A gets; B refused; pass 1ms; C refused; A gives; C refused; pass 29998ms; C refused; pass 2ms; " +
				"C gets; C gives; keys 0"},
		{"a waiter that does not try for a lease loses its place", "queue",
			"A gets; B refused; C refused; pass 15s; B refused; D refused; pass 15001ms; C refused; A late; " +
				"B gets; B gives; C refused; D gets; D gives; C gets"},
		{"a list that an administrator deleted is created again", "queue",
			"A gets; B refused; delete lock:queue; B refused; A gives; B gets"},
		{"the lock is kept for its least time", "at-least-for", "A gets; A gives; B refused; pass 7501ms; B gets"},
		{"or for what is left of it", "at-least-for", "A gets; pass 7499ms; A gives; B refused; pass 2ms; B gets"},
		{"a later release deletes it", "at-least-for", "A gets; pass 7500ms; A gives; B gets"},
		{"after a lease that ended by itself the lock stays blocked for the delay", "lock-delay",
			"A gets; pass 29999ms; A knows; B refused; pass 1ms; A lost; B refused; pass 14999ms; B refused; " +
				"pass 2ms; B gets"},
		{"after a release it does not", "lock-delay", "A gets; A gives; B gets"},
	} {
		t.Run(c.id+": "+c.what, func(t *testing.T) {
			e := entry(t, c.id)
			s := newTestbed(t, e.Nodes)
			processes, leases := map[string]*process{}, map[string]lock.Lease{}
			for line := range strings.SplitSeq(c.lines, "; ") {
				who, what, _ := strings.Cut(line, " ")
				if p := processes[who]; p == nil && len(who) == 1 {
					processes[who] = s.process(t, e, who)
				}
				p, l := processes[who], leases[who]
				switch {
				case who == "pass":
					d := must(time.ParseDuration(what))(t)
					s.pass(d)
					for _, p := range processes {
						p.clock.Advance(d)
					}
				case who == "delete":
					s.deleteKey(t, what)
				case who == "keys":
					if left := s.values(t, 0); fmt.Sprint(len(left)) != what {
						t.Errorf("%v is left", left)
					}
				case what == "gets":
					leases[who] = must(p.Acquire(t.Context(), "lock"))(t)
				case what == "refused":
					mustRefuse(t, p, "lock")
				case what == "gives":
					mustRelease(t, l, nil)
				case what == "late":
					mustRelease(t, l, lock.ErrNotHeld)
				default:
					checker, _ := lock.As[lock.Checker](l)
					if err := checker.Check(t.Context()); errors.Is(err, lock.ErrNotHeld) != (what == "lost") {
						t.Errorf("Check: %v", err)
					}
				}
			}
		})
	}
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
