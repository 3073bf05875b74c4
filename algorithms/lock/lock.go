// Package lock is what the author of a lock imports: what a lock is ([Lock], [Lease] and their optional powers), what
// it may use ([Env]) and how it describes itself in the list ([Entry]).
//
// A lock is ordinary blocking Go code on the go-redis client, or on a session with a ZooKeeper ensemble. It knows its
// connections, a clock and a source of tokens, and not where they come from. With [Production] it locks a real server;
// the simulator gives it simulated connections and clocks.
package lock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Lock is one way of locking. A Lock value belongs to one client process. Its methods may be called repeatedly, but
// not concurrently. What it keeps between two attempts stands in its fields: a search reads these, and cannot see into
// a closure, so that with one it takes each history of attempts for another.
type Lock interface {
	// Acquire makes one attempt to lock key and does not wait for the lock to become free: the caller decides how to
	// retry (the exception is redis.Spin). It returns ErrNotAcquired, wrapped or bare, if another client has the lock,
	// or if the lock released it again because it could not be relied on. Any other error (a time-out, a broken
	// connection) means that the outcome is unknown.
	Acquire(ctx context.Context, key string) (Lease, error)
}

// A Lease is the result of one successful Acquire. Only the process that acquired it uses it.
type Lease interface {
	// Release gives the lock back. A lock that checks the owner returns ErrNotHeld, wrapped or bare, if the lock no
	// longer belonged to this lease. A lock that does not check returns nil, whatever it removed. Other errors come
	// from the server or the network and mean that the outcome is unknown.
	Release(ctx context.Context) error
}

// A Closer is a Lock that has work to do in an orderly shutdown of its process. One that crashes does not call Close.
type Closer interface {
	Lock
	// Close does that work. Its errors come from the server or the network.
	Close(ctx context.Context) error
}

// A Queuer is a Lock that can wait until it gets the lock.
type Queuer interface {
	Lock
	// Await is an Acquire that waits for at most patience on the client's own clock and then returns ErrNotAcquired.
	// Without patience (0 or less) it is Acquire; with Forever it waits without end.
	Await(ctx context.Context, key string, patience time.Duration) (Lease, error)
}

// Forever is a patience without end.
const Forever time.Duration = 1<<63 - 1

// Optional powers of a Lease. Use [As] to find them in a wrapped lease.
type (
	// A Reporter's Release is a statement: nil says that the lock still belonged to this lease when it was released.
	// The Release of any other Lease states nothing.
	Reporter interface {
		Lease
		// Reports marks the lease. It does nothing.
		Reports()
	}

	// A Renewer can extend its lease to a full TTL, counted from the moment at which the server runs the command. Renew
	// returns ErrNotHeld if the lease had ended.
	Renewer interface {
		Lease
		Renew(ctx context.Context) error
	}

	// A Fencer carries a fencing token, which is greater than every token handed out for this key before, and never 0.
	Fencer interface {
		Lease
		FencingToken() uint64
	}

	// A Checker can say whether it believes that the lease is still valid: nil, or ErrNotHeld. Other errors come from
	// the server or the network and mean that this is unknown. The answer may be outdated when it arrives.
	Checker interface {
		Lease
		Check(ctx context.Context) error
	}
)

// Reporting makes a Reporter of the lease that embeds it.
type Reporting struct{}

// Reports implements [Reporter].
func (Reporting) Reports() {}

// As finds the power P in l, or in the leases that it wraps (by a method Unwrap() Lease), as errors.As does for errors.
func As[P Lease](l Lease) (P, bool) {
	for {
		if power, ok := l.(P); ok {
			return power, true
		}
		wrapper, ok := l.(interface{ Unwrap() Lease })
		if !ok {
			var none P
			return none, false
		}
		l = wrapper.Unwrap()
	}
}

var (
	// ErrNotAcquired says that another client has the lock.
	ErrNotAcquired = errors.New("lock: not acquired")
	// ErrNotHeld says that the lock does not belong to this lease, or no longer.
	ErrNotHeld = errors.New("lock: not held")
)

// Unknown is for authors of locks: it returns the error of a command whose outcome is unknown, because err came from
// the network or the server. It adds the command and the key, which err itself usually does not name, and wraps err.
func Unknown(command, key string, err error) error {
	return fmt.Errorf("lock: %s %q: %w", command, key, err)
}

// A Renewal calls Send periodically, each time in a thread of its own, until Send fails or the renewal is stopped. Each
// call arms the timer for the next, so that calls to a slow server are delayed and never pile up.
//
// The thread that starts and stops it shares it with the threads of the timer.
type Renewal struct {
	Clock Clock
	Every time.Duration
	Send  func() error

	timer atomic.Pointer[clockwork.Timer] // of the next call
	ended atomic.Bool
}

// Arm lets the next call begin after d on the client's clock.
func (r *Renewal) Arm(d time.Duration) {
	if r.ended.Load() {
		return
	}
	timer := r.Clock.AfterFunc(d, r.tick)
	r.timer.Store(&timer)
	// If Stop was called since the check above, it has stopped the previous timer only.
	if r.ended.Load() {
		timer.Stop()
	}
}

// tick is one call of Send. Any failure is final, and the holder gets no notice.
func (r *Renewal) tick() {
	if r.ended.Load() {
		return
	}
	if err := r.Send(); err != nil {
		r.ended.Store(true)
		return
	}
	r.Arm(r.Every)
}

// Stop ends the renewal. It does not cancel a call in progress.
func (r *Renewal) Stop() {
	r.ended.Store(true)
	if timer := r.timer.Load(); timer != nil {
		(*timer).Stop()
	}
}

// Over reports whether the renewal has been stopped or has failed.
func (r *Renewal) Over() bool { return r.ended.Load() }
