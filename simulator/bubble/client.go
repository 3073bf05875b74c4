package bubble

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"

	"locklab/simulator/history"
	"locklab/simulator/internal/routine"
	"locklab/simulator/process"
)

// A Handle is what a program in a bubble has of the lab. Its goroutines may share it.
type Handle struct {
	x      *execution
	ctx    context.Context
	cancel context.CancelFunc
}

func newClient(x *execution) *Handle {
	c := &Handle{x: x}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// ID is the client's number, from 1.
func (c *Handle) ID() int { return c.x.h.ID }

// Context is cancelled when the process ends.
func (c *Handle) Context() context.Context { return c.ctx }

// Token returns a value that no process of the run returns again: "c2.1" is the first
// one of client 2.
func (c *Handle) Token() string {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.x.tokens++
	return "c" + strconv.Itoa(c.x.h.ID) + "." + strconv.Itoa(c.x.tokens)
}

// Failures returns the number of requests of the program that have had no answer so far.
func (c *Handle) Failures() int {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	return c.x.unanswered
}

// Record adds e to what the program does.
func (c *Handle) Record(e history.Event) {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dead {
		return
	}
	switch e.Kind {
	case history.Acquire:
		if e.Note == "" && !x.inside {
			x.lease = x.lease%255 + 1
		}
	case history.Enter:
		x.inside = true
	case history.Leave:
		x.inside = false
	}
	e.Client, e.Lease = x.h.ID, int(x.lease)
	x.notes = append(x.notes, e)
	x.act()
}

// Ask waits for an operation that is no request to a server.
func (c *Handle) Ask(o process.Op) process.Observation {
	x := c.x
	w := &wait{op: o, done: make(chan process.Observation, 1)}
	x.mu.Lock()
	if x.dead {
		x.mu.Unlock()
		return stopped(x)
	}
	w.code = x.callers()
	if o.Kind != process.Sleep {
		w.op.Lease = x.lease
	}
	x.asks = append(x.asks, w)
	x.act()
	x.mu.Unlock()
	if s, ok := <-w.done; ok {
		return s
	}
	return stopped(x)
}

// Rest is Ask of a program between two calls of what it runs: it ends where the execution is being stopped.
func (c *Handle) Rest(o process.Op) {
	if c.Ask(o); c.x.stopping() {
		runtime.Goexit()
	}
}

// Addr is the address of server n, from 1, for Dial.
func (c *Handle) Addr(n int) string {
	if n < 1 || n > c.x.h.Servers {
		panic(fmt.Sprintf("there is no server %d: the setup has %d", n, c.x.h.Servers))
	}
	return net.JoinHostPort("127.0.0."+strconv.Itoa(n), strconv.Itoa(c.x.h.port()))
}

// Dial opens a connection to one of the addresses of Addr.
func (c *Handle) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil && !c.x.stopping() {
		return nil, err
	}
	server := 0
	for n := 1; n <= c.x.h.Servers; n++ {
		if c.Addr(n) == addr {
			server = n
		}
	}
	if server == 0 {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("there is no server at %s: dial the Addr of a server, %s is the first", addr, c.Addr(1))}
	}
	return c.x.dial(server)
}

// end gives an observation to what waits for it. It runs in the agent.
func (w *wait) end(s process.Observation, in []byte, err error) {
	if w.conn != nil {
		w.conn.received(w, in, err)
		return
	}
	w.done <- s
}

// callers are the watched lines of the code that runs, the innermost first.
func (x *execution) callers() (lines []string) {
	if x.h.Watch == nil {
		return nil
	}
	return slices.Compact(routine.Lines(func(_, file string) bool { return x.h.Watch(file) }))
}
