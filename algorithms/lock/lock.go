// Package algorithms holds the locks that people have built on Redis, each in
// the form in which it was published, behind one interface, in the order in
// which history tried them; and those on ZooKeeper, which were meant to do better.
//
// A strategy is ordinary blocking Go code on the go-redis client. It knows a
// Redis client, a clock and a source of tokens, and nothing of where they come
// from: with [Production] it locks a real server, and a laboratory can hand it
// connections and clocks of its own. See the package example. A strategy on
// ZooKeeper knows a session in the place of the Redis client; see [OnConn].
package lock

import (
	"context"
	"errors"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
)

// A Strategy is one way of locking. A Strategy value belongs to one client
// process; its methods may be called again and again, but not concurrently.
type Strategy interface {
	// Acquire makes one attempt to lock key and does not wait for its turn:
	// waiting policies belong to the caller ([Spin] alone brings one). It
	// returns ErrNotAcquired, wrapped or bare, when somebody else has the lock
	// or the strategy gave it back because it could not be relied on, and any
	// other error (a time-out, a broken connection) when the outcome is unknown.
	Acquire(ctx context.Context, key string) (Lease, error)
}

// A Lease is one successful Acquire. It is used by the process that acquired it.
type Lease interface {
	// Release gives the lock back. A strategy that looks returns ErrNotHeld,
	// wrapped or bare, when the lock was no longer this lease's; one that does
	// not look returns nil whatever it removed. Other errors are the server's
	// or the network's, and leave the outcome open.
	Release(ctx context.Context) error
}

// A Closer is a Strategy with work to do when its process is shut down in good
// order. A process that crashes does not get to call it.
type Closer interface {
	Strategy
	// Close does that work. Its errors are the server's or the network's.
	Close(ctx context.Context) error
}

// A Queuer is a Strategy that can stand in line for its turn: an optional power.
type Queuer interface {
	Strategy
	// Await is an Acquire that waits for its turn, for at most patience on the
	// client's own clock, and then returns ErrNotAcquired. Acquire is an Await
	// without patience.
	Await(ctx context.Context, key string, patience time.Duration) (Lease, error)
}

// Optional powers. A Lease that has one implements its interface.
type (
	// A Reporter's Release reports: nil is the statement that the lock was
	// still this lease's when it was given back. The Release of a Lease that is
	// no Reporter states nothing.
	Reporter interface {
		Lease
		// Reports marks the lease; it does nothing.
		Reports()
	}

	// A Renewer can prolong its lease by a full TTL, counted from when the
	// server runs the command. It returns ErrNotHeld when the lease had ended.
	Renewer interface {
		Lease
		Renew(ctx context.Context) error
	}

	// A Fencer carries a fencing token: greater than every token handed out for
	// this key before, and never 0.
	Fencer interface {
		Lease
		FencingToken() uint64
	}

	// A Checker can say whether it believes the lease to stand still. A nil
	// answer is already old when it arrives.
	Checker interface {
		Lease
		Check(ctx context.Context) error
	}
)

var (
	// ErrNotAcquired says that somebody else has the lock.
	ErrNotAcquired = errors.New("algorithms: lock not acquired")
	// ErrNotHeld says that the lock is not, or no longer, this lease's.
	ErrNotHeld = errors.New("algorithms: lock not held")
)

// Env is all that a strategy may observe or touch.
type Env struct {
	// Nodes are the servers: one, or as many independent ones as a quorum
	// strategy asks for (see Entry.Nodes). Their options carry the time-out of a
	// single command (ReadTimeout); retries inside the client must be off
	// (MaxRetries: -1), or a lost reply is retried behind the strategy's back.
	Nodes []redis.UniversalClient
	// ZooKeeper is the client's session with an ensemble, for the strategies that
	// lock there; otherwise nil.
	ZooKeeper ZooKeeper
	// Clock is the client's own clock. It may be wrong.
	Clock Clock
	// Together runs tasks side by side and returns when all have ended, for the
	// strategies that ask several servers at once. nil: one after the other.
	Parallel func(tasks ...func())
	// Tokens makes the values by which a client recognises its own lock.
	Tokens Tokens
	// Thread is the id that the process's runtime gives to the thread which uses
	// the strategy, as text. Another process may well have a thread of that id.
	Thread string
	// TTL is the lease to ask for, above 0, a whole number of milliseconds
	// (strategies that speak EX or EXPIRE need whole seconds). A strategy
	// without expiry ignores it.
	TTL time.Duration
}

// Clock is what strategies need of a clock. Those of clockwork satisfy it.
type Clock interface {
	// Now reads the clock of the client's machine.
	Now() time.Time
	// Sleep blocks for d.
	Sleep(d time.Duration)
	// AfterFunc runs f in a thread of its own after d, unless the timer is
	// stopped before.
	AfterFunc(d time.Duration, f func()) clockwork.Timer
}

// Tokens makes values that tell one client's lock from another's.
type Tokens interface {
	// Token returns a value that no other call, in whatever process, returns.
	Token() string
}
