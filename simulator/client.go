package simulator

import (
	"github.com/redis/go-redis/v9"

	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

// A Client is what a program has of the world: connections or a session, and with the methods of
// its Code a clock, tokens and a place to record what it is about to do; and the protected
// resource. A program must observe nothing else, and keep nothing outside its own variables.
//
// Rest, RestFor and WithDeadline need a Timing of the simulator. The program records what it does
// itself: Acquire, Enter, Refuse, Leave, Release, Released, Done.
type Client struct{ *process.Code }

// Clock is a client's own clock; see process.Clock.
type Clock = process.Clock

// Redis returns the client's connection pool to server n, from 1. It belongs to the
// simulator; do not close it.
func (c *Client) Redis(n int) *redis.Client {
	connections, ok := c.Library().(*redisnode.Connections)
	if !ok {
		panic("there is no Redis: the server is another one")
	}
	return connections.Client(n)
}

// ZooKeeper returns the client's session with the ensemble; nil if the server is none.
func (c *Client) ZooKeeper() *zookeeper.Session {
	session, _ := c.Library().(*zookeeper.Session)
	return session
}
