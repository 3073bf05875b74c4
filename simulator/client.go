package simulator

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/history"
)

// Client is what a program has of the world: connections, a clock, tokens, the
// protected resource, and a place to record what it is about to do. A program
// must observe nothing else, and keep nothing outside its own variables.
type Client struct{ p *process }

// ID is the client's number, from 1.
func (c *Client) ID() int { return c.p.id }

// Redis is the client's connection pool to server n, from 1. It belongs to the
// lab; do not close it.
func (c *Client) Redis(n int) *redis.Client {
	if c.p.sim.zoo != nil {
		panic("there is no Redis: the server is a ZooKeeper")
	}
	if nodes := len(c.p.sim.setup.Nodes); n < 1 || n > nodes {
		panic(fmt.Sprintf("there is no server %d: the setup has %d", n, nodes))
	}
	return c.p.conns.client(n)
}

// Clock is the client's own clock.
func (c *Client) Clock() Clock { return Clock{c.p} }

// Token returns a value that this run returns nowhere else: "c2.1" is the first
// one of client 2.
func (c *Client) Token() string { return c.p.nextToken() }

// Record writes e into the history, at the present time and in this client's
// name. The program records what it does itself: Acquire, Enter, Refuse,
// Leave, Release, Released, Done.
func (c *Client) Record(e history.Event) {
	l := c.p.live
	if l.dead {
		return
	}
	e.Client = c.p.id
	e.Thread = l.current
	l.notes = append(l.notes, e)
}
