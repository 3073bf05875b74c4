// Package client is what every user of a lock does on the simulator: it gives the lock its environment, acquires, works
// on the resource and releases, and records these steps in the history.
package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/history"
)

const (
	Key      = "lock"  // the key that clients lock, and the judges look at
	OtherKey = "other" // a second key on the same servers, which the judges ignore
)

// What a holder asks of its lease, as notes of history.Acquire and history.Enter.
const (
	Renewing = "renew"
	Checking = "check"
	Waiting  = "wait"
)

// Environment returns everything that a lock sees of the simulator: clock, tokens and
// connections to servers 1 to nodes, or to ZooKeeper.
func Environment(c *simulator.Client, ttl time.Duration, nodes int) lock.Env {
	thread := fmt.Sprintf("c%d.%d", c.ID(), c.Born())
	env := lock.Env{Clock: c.Clock(), Parallel: c.Parallel, Tokens: c, TTL: ttl, Thread: thread}
	if session := c.ZooKeeper(); session != nil {
		env.ZooKeeper = Session{requester{session}}
		return env
	}
	if pool, ok := c.Library().(*database.Pool); ok {
		env.DB = pool.DB()
		return env
	}
	for n := range nodes {
		env.Nodes = append(env.Nodes, redis.UniversalClient(c.Redis(n+1)))
	}
	env.Shards = c.Shards
	return env
}

// Acquire tries until it has the lock, and sleeps for retry after each refusal.
func Acquire(c *simulator.Client, l lock.Lock, retry time.Duration) lock.Lease {
	for {
		lease, err := Try(c, l)
		if err == nil {
			return lease
		}
		c.Clock().Sleep(retry)
	}
}

// Try makes one attempt, and records it and its result.
func Try(c *simulator.Client, l lock.Lock) (lock.Lease, error) {
	return try(context.Background(), c, l)
}

func try(ctx context.Context, c *simulator.Client, l lock.Lock) (lock.Lease, error) {
	c.Record(history.Event{Kind: history.Acquire})
	lease, err := l.Acquire(ctx, Key)
	switch {
	case err != nil && ctx.Err() != nil: // whatever the lock makes of it
		c.Record(history.Event{Kind: history.Refuse, Note: history.GaveUp})
		return nil, err
	case err != nil:
		c.Record(Refusal(err))
		return nil, err
	}
	c.Record(history.Event{Kind: history.Enter, Token: FencingToken(lease)})
	return lease, nil
}

// Refusal is the refusal of an attempt that ended with err.
func Refusal(err error) history.Event {
	return history.Event{Kind: history.Refuse, Claims: errors.Is(err, lock.ErrNotAcquired), Note: Note(err)}
}

// A Section is what a client does while it holds the lock, by its own clock.
type Section struct {
	Work  time.Duration // from the read of the resource to the write
	Tail  time.Duration // after the write
	Fails bool          // an exception after Work: no write
	Idle  bool          // Work is the longest: the scheduler says how long it takes
	Uses  Uses          // what the holder may do meanwhile
	Lock  lock.Lock     // the lock; only for Uses with Reenter
}

// Work is the critical section: read, work, write, and leave. An error of the resource
// ends it early, and so does the news that the lock is lost.
func Work(c *simulator.Client, lease lock.Lease, s Section) {
	base, err := c.Read(FencingToken(lease))
	holds := s.work(c, lease)
	if s.Fails {
		c.Record(history.Event{Kind: history.Leave, Note: history.Exception})
		return
	}
	if err == nil && holds {
		_ = c.Write(base, FencingToken(lease)) // a refusal is recorded by the resource
		if !s.Idle {
			c.Clock().Sleep(s.Tail)
		}
	}
	c.Record(history.Event{Kind: history.Leave})
}

// Release releases the lock and records the result. A success states something only if the lease is a Reporter;
// ErrNotHeld always does. If the outcome is unknown, because no answer came, the lock claims nothing.
func Release(c *simulator.Client, lease lock.Lease) error {
	c.Record(history.Event{Kind: history.Release})
	err := lease.Release(context.Background())
	_, claims := lease.(lock.Reporter)
	if err != nil {
		claims = errors.Is(err, lock.ErrNotHeld)
	}
	c.Record(history.Event{Kind: history.Released, Claims: claims, OK: err == nil, Note: Note(err)})
	return err
}

// FencingToken returns the fencing token of a lease; 0: it has none.
func FencingToken(lease lock.Lease) uint64 {
	if f, ok := lease.(lock.Fencer); ok {
		return f.FencingToken()
	}
	return 0
}

// Note returns an error as the note of an event.
func Note(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
