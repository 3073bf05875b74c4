package bubble

import (
	"errors"
	"net"
	"os"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
)

// conn is a connection of the code. What the code writes is gathered until all of it waits, and is then one request.
// Its fields belong to the mu of its Handle.
type conn struct {
	of       *Handle
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
	code     []string  // where in the code the last write was
	err      error     // what was written makes no sense
}

// dial opens a connection to a server.
func (c *Handle) dial(server int) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead { // the connection fails when it is used: see stopping
		c.fail()
	}
	one := &conn{of: c, wire: c.open(server), server: server, lease: c.lease, ready: make(chan struct{}, 1)}
	c.conns = append(c.conns, one)
	return one
}

// refused is the error of a connection of code that is being stopped. mu is held.
func (c *conn) refused() error {
	c.of.fail()
	return &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}
}

// Write implements net.Conn. It never waits.
func (c *conn) Write(b []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	switch {
	case c.of.dead:
		if c.bye = c.wire.Bye(b); c.bye != nil {
			return len(b), nil
		}
		return 0, c.refused()
	case c.closed:
		return 0, net.ErrClosed
	case c.broken != nil:
		return 0, c.broken
	}
	answers, err := c.wire.Write(b)
	switch {
	case err != nil:
		c.err = err
		c.of.act()
	case len(answers) > 0:
		c.in = append(c.in, answers...)
		c.wake()
	case c.wire.Unsent():
		c.written, c.code = true, c.of.callers()
		c.of.act()
	}
	return len(b), nil
}

// Read implements net.Conn. It waits for what the server sends.
func (c *conn) Read(b []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for {
		switch {
		case len(c.bye) > 0:
			return take(b, &c.bye), nil
		case c.of.dead:
			return 0, c.refused()
		case len(c.in) > 0:
			return take(b, &c.in), nil
		case c.closed:
			return 0, net.ErrClosed
		case c.broken != nil:
			return 0, c.broken
		case c.expired:
			return 0, process.Observation{Kind: process.TimedOut}.Err("read")
		}
		if !c.reading {
			c.reading = true
			c.of.act()
		}
		c.of.mu.Unlock()
		<-c.ready
		c.of.mu.Lock()
		c.reading = false
	}
}

// take moves what fits from what was received to b.
func take(b []byte, from *[]byte) int {
	n := copy(b, *from)
	*from = (*from)[n:]
	return n
}

// wake lets a goroutine that waits in Read look again.
func (c *conn) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// ask enters what the connection waits for, while all of the code waits. now is the bubble's clock.
func (c *conn) ask(now time.Time) error {
	switch {
	case c.err != nil:
		return c.err
	case c.wait != nil && (c.wait.op.Kind != process.Listen || !c.written && !c.closed):
		return nil
	case !c.written && !c.reading:
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
		o.D = max(c.deadline.Sub(now), time.Nanosecond)
	}
	c.wait = &wait{op: o, conn: c, code: c.code}
	return nil
}

// received ends what the connection waits for. It runs in the agent.
func (c *conn) received(w *wait, in []byte, err error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
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
		c.of.unanswered++
	}
	c.wake()
}

// Close implements net.Conn. It ends a subscription at the server; no goroutine waits any more for a request in flight.
func (c *conn) Close() error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	c.leave()
	if c.wire.Close() {
		c.written = true
		c.of.act()
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
		c.of.unanswered++
	}
	c.wait = nil
	c.of.act()
}

// SetReadDeadline implements net.Conn. It bounds the next request's time; a past time ends a read at once.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.deadline, c.expired = t, false
	// The caller runs in a bubble, so that time.Now is this client's clock.
	if c.reading && !t.IsZero() && !t.After(time.Now()) {
		c.expired = true
		c.leave()
		c.of.act()
		c.wake()
	}
	return nil
}

func (c *conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 100), Port: 1} }
func (c *conn) RemoteAddr() net.Addr             { return c.of.h.addr(c.server) }
