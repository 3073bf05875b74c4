package locktest

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"time"

	"locklab/simulator/bubble"
	"locklab/simulator/database"
	"locklab/simulator/history"
	"locklab/simulator/process"
)

// A Client is one process that uses the lock, for one attempt: code that may use the
// standard library's clock, timers, contexts, goroutines and any client library.
type Client struct {
	process  *bubble.Handle
	runner   *runner
	section  section
	first    int // of the servers, from 0: where its list of them begins
	probe    bool
	note     string // on a refusal of the probe
	failures int    // of the process, before the attempt
	entered  bool
	inside   bool
	worked   bool // the section has taken its time
	thrown   bool // the section has ended by an exception
	said     bool // see Says
}

// section has the actions of a holder.
type section struct {
	work  time.Duration // from the read to the write
	idle  bool          // work is an upper bound: the scheduler decides
	tail  time.Duration // after the write
	fails bool          // an exception after work: no write
}

// exception is the panic of a section that is to fail.
type exception struct{}

// Addr is the address of server n, from 1, for Dial: one at which no real server can listen. Bounds.Servers says how
// many there are. Code that speaks ZooKeeper's protocol has an ensemble at Addr(1).
func (c *Client) Addr(n int) string {
	servers := c.runner.bounds.Servers
	if n > servers {
		c.runner.wanted.Store(int32(n))
	}
	if n >= 1 && n <= servers {
		n = (n-1+c.first)%servers + 1
	}
	return c.process.Addr(n)
}

// Dial connects to one of the addresses of Addr. It is what redis.Options.Dialer of go-redis, redigo's DialContextFunc
// and rueidis's DialCtxFn want, and zk.WithDialer of go-zookeeper but for the context.
func (c *Client) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.runner.dialed.Store(true)
	conn, err := c.process.Dial(ctx, network, addr)
	if err != nil && ctx.Err() == nil {
		c.runner.missed.Store(&addr)
	}
	return conn, err
}

// Connector opens connections to server n, 1, which is Bounds.Database: sql.OpenDB(c.Connector(1)) takes the place of
// sql.Open with a driver. The errors of the server have a method SQLState, as those of PostgreSQL's drivers; of
// MariaDB and MySQL it is their number.
func (c *Client) Connector(n int) driver.Connector {
	d := c.runner.bounds.Database
	if d == nil {
		panic("Connector is called, and Bounds.Database is nil: " +
			"give there the database and its tables (a race has none)")
	}
	addr := c.Addr(n)
	dial := func(ctx context.Context) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) }
	return &database.Connector{Dialect: d.Dialect, Dial: dial}
}

// Context is cancelled when the process ends. A lock that waits inside, for ever, shows a DEADLOCK where it could
// never get in; with a deadline, context.WithTimeout(c.Context(), …), it gives up, and searches take fewer states.
func (c *Client) Context() context.Context { return c.process.Context() }

// ID is the client's number, from 1 to Bounds.Clients; in a race there may be more clients. The probe, a further
// process that requests the lock when all others have ended, has the number of the last of them, as one that is
// started again has. Code that depends on it is searched without symmetry, and is not proved for Any.
func (c *Client) ID() int {
	c.runner.numbered.Store(true)
	if c.probe {
		return c.process.ID() - 1
	}
	return c.process.ID()
}

// Token returns a value that no process of a run returns again. It names the client. Values that the code draws by
// chance are given such names: see the package.
func (c *Client) Token() string { return c.process.Token() }

// Critical is the critical section: to be called while the client believes that it has the lock, once an attempt. What
// follows releases the lock. In some races it panics, as business code does: what the client then does is its own.
func (c *Client) Critical(work func(r *Resource)) { c.CriticalWithToken(0, work) }

// CriticalWithToken is Critical of a lock that has given the client a fencing token, above 0. With Bounds.Fenced the
// resource refuses a token below the highest it has seen.
func (c *Client) CriticalWithToken(token uint64, work func(r *Resource)) {
	switch {
	case token == 0 && c.runner.bounds.Fenced:
		panic("Bounds.Fenced is set, and the code enters without a token: call Client.CriticalWithToken(token, work)")
	case c.inside:
		panic("Critical is called inside Critical: a client has the lock once")
	case c.entered:
		panic("Critical is called twice in one attempt: " +
			"let the code lock once and return, Bounds.Attempts has it called again")
	}
	c.entered, c.inside = true, true
	c.process.Record(history.Event{Kind: history.Enter, Token: token})
	work(&Resource{c: c, token: token})
	c.takeTime()
	c.inside = false
	c.process.Record(history.Event{Kind: history.Leave})
	c.process.Record(history.Event{Kind: history.Release})
}

// Says tells what the lock has said of itself: to be called after Critical, with whether the release has given back
// what the client had, once in an attempt and if the lock says so; after an error, where it does not know, Says is
// not called. LIE is looked for only of code that calls it.
func (c *Client) Says(held bool) {
	switch {
	case !c.entered || c.inside:
		panic("Says is called before the client has released: " +
			"call it after Critical, with what the release has returned")
	case c.said:
		panic("Says is called twice in one attempt: call it once, with what the release has returned")
	}
	c.said = true
	c.runner.says.Store(true)
	c.process.Record(history.Event{Kind: history.Released, OK: held, Claims: true})
}

// takeTime lets the time pass that the section takes, once.
func (c *Client) takeTime() {
	if c.probe || c.worked {
		return
	}
	c.worked = true
	op := process.Op{Kind: process.Sleep, D: c.section.work}
	if c.section.idle {
		op.Kind = process.Idle
	}
	c.process.Ask(op)
	if c.section.fails {
		c.thrown = true
		c.process.Record(history.Event{Kind: history.Leave, Note: history.Exception})
		panic(exception{})
	}
}

// Resource, which the lock protects, is a register across the network that counts its accepted writes.
type Resource struct {
	c      *Client
	token  uint64
	base   int
	read   bool
	failed bool
}

// Read returns the number of writes that the resource has accepted.
func (r *Resource) Read() int {
	r.read = true
	if r.c.probe {
		return 0
	}
	s := r.c.process.Ask(process.Op{Kind: process.Read, Node: history.Resource, Token: r.token})
	r.failed = s.Err("read") != nil
	r.base = int(s.Val)
	return r.base
}

// Write writes the resource, after the time that the client works: two fifths of Bounds.TTL, beside what the code
// sleeps. value is one more than was read: the write builds on that. A write after a read that had no answer does not
// happen. Without a Read, value is the number of a job that is to be done once, as the code has counted it before, in
// a row say: to do one again is STALE-WRITE, also when its first run is over.
func (r *Resource) Write(value int) {
	if !r.read && value > 0 {
		r.base = value - 1
		r.c.runner.unread.Store(true)
	}
	if !r.failed && !r.c.probe && value != r.base+1 {
		panic(fmt.Sprintf("Resource.Write(%d): write one more than Read has returned, so that a lost update shows, "+
			"or without Read the number of a job, from 1", value))
	}
	if r.c.probe {
		return
	}
	r.c.takeTime()
	if r.failed {
		return
	}
	s := r.c.process.Ask(process.Op{Kind: process.Write, Node: history.Resource, Base: int32(r.base), Token: r.token})
	_ = s // a refusal is recorded by the resource
	if !r.c.section.idle {
		r.c.process.Ask(process.Op{Kind: process.Sleep, D: r.c.section.tail})
	}
}
