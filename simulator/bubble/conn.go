package bubble

import (
	"errors"
	"net"
	"os"
	"runtime"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
)

// conn is a connection of the code. What it writes is gathered until all of the code
// waits, and is then one request. Its fields belong to x.mu.
type conn struct {
	x        *execution
	wire     process.Wire
	server   int
	lease    uint8  // the attempt in which it was made: what goes over it belongs to that
	in       []byte // received, not yet read
	bye      []byte // the same, of an execution that is being stopped
	broken   error  // the connection is gone
	ready    chan struct{}
	reading  bool // a goroutine waits in Read
	written  bool // something was written since the last request
	closed   bool
	deadline time.Time // for reads; zero: none
	expired  bool      // the deadline is over, until there is another one
	wait     *wait     // for the server; nil: for nothing
	code     []string
	err      error // what it has written makes no sense
}

// dial opens a connection to a server.
func (x *execution) dial(server int) (net.Conn, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dead { // libraries log that they cannot dial; the connection fails when it is used
		if x.failures++; x.failures > maxFailures {
			runtime.Goexit()
		}
	}
	c := &conn{x: x, wire: x.open(server), server: server, lease: x.lease, ready: make(chan struct{}, 1)}
	x.conns = append(x.conns, c)
	return c, nil
}

// stopping reports whether the execution is being stopped. Its connections can then still be
// made: who cannot dial tries again without end.
func (x *execution) stopping() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.dead
}

// stopped ends a goroutine of code that is being stopped, or lets it go on: see Leaks.
func stopped(x *execution) process.Observation {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failures++; !x.h.goesOn() || x.failures > maxFailures {
		runtime.Goexit()
	}
	return process.Observation{Kind: process.Slept}
}

// refused is the error of a connection of code that is being stopped. Code that does
// not give up is ended.
func (x *execution) refused() error {
	if x.failures++; x.failures > maxFailures {
		runtime.Goexit() // what is deferred unlocks x.mu
	}
	return &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}
}

// maxFailures is the number of times that code that is being stopped may try again.
const maxFailures = 200

func (c *conn) Write(b []byte) (int, error) {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.dead:
		if c.bye = c.wire.Bye(b); c.bye != nil {
			return len(b), nil
		}
		return 0, x.refused()
	case c.closed:
		return 0, net.ErrClosed
	case c.broken != nil:
		return 0, c.broken
	}
	answers, err := c.wire.Write(b)
	if err != nil {
		c.err = err
		x.act()
		return len(b), nil
	}
	if len(answers) > 0 {
		c.in = append(c.in, answers...)
		c.wake()
	} else if c.wire.Unsent() {
		c.written = true
		c.code = x.callers()
		x.act()
	}
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		switch {
		case len(c.bye) > 0:
			n := copy(b, c.bye)
			c.bye = c.bye[n:]
			return n, nil
		case x.dead:
			return 0, x.refused()
		case len(c.in) > 0:
			n := copy(b, c.in)
			c.in = c.in[n:]
			return n, nil
		case c.closed:
			return 0, net.ErrClosed
		case c.broken != nil:
			return 0, c.broken
		case c.expired:
			return 0, process.Observation{Kind: process.TimedOut}.Err("read")
		}
		if !c.reading {
			c.reading = true
			x.act()
		}
		x.mu.Unlock()
		<-c.ready
		x.mu.Lock()
		c.reading = false
	}
}

func (c *conn) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// ask finds out what the connection waits for, while all of the code waits.
func (c *conn) ask() error {
	if c.err != nil {
		return c.err
	}
	if c.wait != nil && (c.wait.op.Kind != process.Listen || !c.written && !c.closed) {
		return nil
	}
	if !c.written && !c.reading {
		return nil
	}
	o, ok, err := c.wire.Asks()
	if err != nil {
		return err
	}
	c.written = false
	if !ok {
		return nil
	}
	o.D = clock.Never
	if o.Kind == process.Request {
		o.Lease = c.lease
		if c.wire.Pings() {
			o.D = 0 // the lab's usual time, in place of the library's
		}
	}
	if !c.deadline.IsZero() && !c.wire.Pings() {
		o.D = max(c.deadline.Sub(c.x.start)-c.x.elapsed, time.Nanosecond)
	}
	c.wait = &wait{op: o, conn: c, code: c.code}
	return nil
}

// heard ends what the connection waits for. It runs in the agent.
func (c *conn) received(w *wait, in []byte, err error) {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	if c.wait != w {
		return
	}
	c.wait = nil
	c.in = append(c.in, in...)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.expired = true
	case err != nil:
		c.broken = err
	}
	if err != nil && !c.closed { // no call waits for the answer to a farewell
		c.x.unanswered++
	}
	c.wake()
}

// fail wakes the reader, when the execution is being stopped. It runs in the agent.
func (c *conn) fail() {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.wake()
}

// Close tells the server, if the connection has subscribed. No goroutine waits for a request
// that is under way any more.
func (c *conn) Close() error {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	c.leave()
	if c.wire.Close() {
		c.written = true
		x.act()
	}
	c.wake()
	return nil
}

// leave ends a wait, for which no answer then comes.
func (c *conn) leave() {
	if c.wait == nil {
		return
	}
	if c.wait.op.Kind == process.Request {
		c.x.unanswered++
	}
	c.wait = nil
	c.x.act()
}

// SetReadDeadline bounds how long the next request may take. A time that is over ends a
// read at once.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.deadline, c.expired = t, false
	// The caller runs in a bubble, so that time.Now is this client's clock.
	if c.reading && !t.IsZero() && !t.After(time.Now()) {
		c.expired = true
		c.leave()
		c.x.act()
		c.wake()
	}
	return nil
}

func (c *conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 100), Port: 1} }
func (c *conn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(c.server)), Port: c.x.h.port()}
}
