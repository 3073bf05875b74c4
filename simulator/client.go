package simulator

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/history"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

// A Client is what a program has of the world: connections or a session, a clock,
// tokens, the protected resource, and a place to record what it is about to do. A
// program must observe nothing else, and keep nothing outside its own variables.
type Client struct{ p *process.Process }

// Clock is a client's own clock; see process.Clock.
type Clock = process.Clock

// ID is the client's number, from 1.
func (c *Client) ID() int { return c.p.ID() }

// Redis is the client's connection pool to server n, from 1. It belongs to the
// simulator; do not close it.
func (c *Client) Redis(n int) *redis.Client {
	connections, ok := c.Library().(*redisnode.Connections)
	if !ok {
		panic("there is no Redis: the server is a ZooKeeper")
	}
	return connections.Client(n)
}

// ZooKeeper is the client's session with the ensemble; nil if the server is none.
func (c *Client) ZooKeeper() *zookeeper.Session {
	session, _ := c.Library().(*zookeeper.Session)
	return session
}

// Library is the library by which the client talks to its servers, of whichever kind they are.
func (c *Client) Library() process.Library { return c.p.Library() }

// Clock is the client's own clock.
func (c *Client) Clock() Clock { return c.p.Clock() }

// Token returns a value that this run returns nowhere else: "c2.1" is the first
// one of client 2.
func (c *Client) Token() string { return c.p.NextToken() }

// Stage is the stage at which the program began: 0, or that of a Rest.
func (c *Client) Stage() int { return c.p.Stage() }

// Rest waits for as long as the scheduler likes, and forgets all but what it keeps in its
// memory; see process.Process.Rest. The simulator needs a Timing.
func (c *Client) Rest(stage int, d time.Duration, kept process.Memory) { c.p.Rest(stage, d, kept) }

// RestFor waits for d, and forgets; see process.Process.RestFor.
func (c *Client) RestFor(stage int, d time.Duration, kept process.Memory) {
	c.p.RestFor(stage, d, kept)
}

// Anew runs f as at the very first start of the program; see process.Process.Anew.
func (c *Client) Anew(f func()) { c.p.Anew(f) }

// Born tells the client's process from those that crashed before it; see process.Process.Born.
func (c *Client) Born() uint64 { return c.p.Born() }

// Uses is how often the program has asked for something so far; see process.Process.Uses.
func (c *Client) Uses() int { return c.p.Uses() }

// WithDeadline returns a context whose deadline comes when the scheduler likes; see
// process.Process.WithDeadline. The simulator needs a Timing.
func (c *Client) WithDeadline() (ctx context.Context, stop func()) { return c.p.WithDeadline() }

// Parallel runs tasks side by side; see process.Process.Parallel.
func (c *Client) Parallel(tasks ...func()) { c.p.Parallel(tasks...) }

// Record writes e into the history, at the present time and in this client's
// name. The program records what it does itself: Acquire, Enter, Refuse,
// Leave, Release, Released, Done.
func (c *Client) Record(e history.Event) { c.p.Record(e) }
