// Package client is what users of a lock do: its environment, an attempt, the critical
// section, the release. Programs of simulated clients are made of it.
package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Key is what all clients lock.
const Key = "lock"

// Environment is all that a lock sees of the simulator.
func Environment(c *simulator.Client, ttl time.Duration, nodes int) lock.Env {
	env := lock.Env{Clock: c.Clock(), Parallel: c.Parallel, Tokens: c, TTL: ttl, Thread: fmt.Sprintf("c%d.0", c.ID())}
	if session := c.ZooKeeper(); session != nil {
		env.ZooKeeper = Session{session}
		return env
	}
	for n := range nodes {
		env.Nodes = append(env.Nodes, redis.UniversalClient(c.Redis(n+1)))
	}
	return env
}

// Acquire tries until it has the lock, and sleeps for retry between two attempts.
func Acquire(c *simulator.Client, strategy lock.Strategy, retry time.Duration) lock.Lease {
	for {
		lease, err := Try(c, strategy)
		if err == nil {
			return lease
		}
		c.Clock().Sleep(retry)
	}
}

// Try is one attempt.
func Try(c *simulator.Client, strategy lock.Strategy) (lock.Lease, error) {
	c.Record(history.Event{Kind: history.Acquire})
	lease, err := strategy.Acquire(context.Background(), Key)
	if err != nil {
		c.Record(history.Event{Kind: history.Refuse, Note: Note(err)})
		return nil, err
	}
	c.Record(history.Event{Kind: history.Enter, Token: FencingToken(lease)})
	return lease, nil
}

// What a client that has the lock may ask of its lease, as the history notes it.
const (
	Renewing = "renew"
	Checking = "check"
	Waiting  = "wait"
)

// Work is the critical section. Errors of the resource end it early: there is
// nothing left to do.
func Work(c *simulator.Client, lease lock.Lease, s Section) {
	base, err := c.Read(FencingToken(lease))
	c.Clock().Sleep(s.Work)
	if s.Fails {
		c.Record(history.Event{Kind: history.Leave, Note: history.Exception})
		return
	}
	if err == nil {
		_ = c.Write(base, FencingToken(lease)) // a refusal is the resource's to record
		c.Clock().Sleep(s.Tail)
	}
	c.Record(history.Event{Kind: history.Leave})
}

// Release releases the lock and records what it says.
func Release(c *simulator.Client, lease lock.Lease) error {
	c.Record(history.Event{Kind: history.Release})
	err := lease.Release(context.Background())
	_, claims := lease.(lock.Reporter)
	e := history.Event{Kind: history.Released, Claims: claims, OK: err == nil, Note: Note(err)}
	if err != nil && !errors.Is(err, lock.ErrNotHeld) {
		e.Claims = false // the outcome is open
	}
	c.Record(e)
	return err
}

// FencingToken is that of a lease; 0: it has none.
func FencingToken(lease lock.Lease) uint64 {
	if f, ok := lease.(lock.Fencer); ok {
		return f.FencingToken()
	}
	return 0
}

// Note is an error as histories note it; "": none.
func Note(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// OtherKey is a second key on the same servers. The judges look at the first only.
const OtherKey = "other"

// A Section is what a client does while it holds the lock, by its own clock.
type Section struct {
	Work  time.Duration // from the read of the resource to the write
	Tail  time.Duration // after the write
	Fails bool          // an exception after Work ends its business: no write, no release
}
