package redisnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Connections are the go-redis clients of one process, one a server. They outlive
// the executions of its code: a command that was under way when one was unwound
// fails its connection, and the client dials another.
type Connections struct {
	kind    *Kind
	p       *process.Process
	clients [node.MaxNodes]*redis.Client
	// numbers says of each number, from 1, whether a connection of this execution
	// that watches keys or has subscribed goes by it.
	numbers []bool
}

// Library is the go-redis clients of process p.
func (k *Kind) Library(p *process.Process) process.Library { return &Connections{kind: k, p: p} }

// Client is the go-redis client for server n, from 1: as it comes, without its own
// retries (a lost reply must reach the lock, not be retried behind its back),
// without the niceties of a new connection, and without deadlines, which the
// simulator keeps in its own time.
func (c *Connections) Client(n int) *redis.Client {
	if nodes := len(c.kind.servers); n < 1 || n > nodes {
		panic(fmt.Sprintf("there is no server %d: the setup has %d", n, nodes))
	}
	if r := c.clients[n-1]; r != nil {
		return r
	}
	r := redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:1", // never dialed; a name would be looked up
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return &conn{of: c, node: int8(n)}, nil
		},
		Protocol:                 2,
		DisableIdentity:          true,
		MaxRetries:               -1,
		DialTimeout:              -1,
		ReadTimeout:              -2,
		WriteTimeout:             -2,
		ConnMaxIdleTime:          -1,
		PoolSize:                 2 * process.MaxThreads, // a thread may hold a connection that watches, and use another
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	c.clients[n-1] = r
	return r
}

// Start forgets the numbers of connections.
func (c *Connections) Start() { c.numbers = nil }

// Stop drops the connection pools if a connection had a number: code that was
// unwound meanwhile may not have given it back to its pool.
func (c *Connections) Stop() {
	if len(c.numbers) > 0 {
		c.Close()
		c.clients = [node.MaxNodes]*redis.Client{}
	}
}

// Idle says that no connection has had a number: all that are left are like new.
func (c *Connections) Idle() bool { return len(c.numbers) == 0 }

// Memory is nothing: what a server keeps of a connection stands in its keyspace.
func (c *Connections) Memory() uint32 { return 0 }

// Close closes the clients.
func (c *Connections) Close() {
	for _, r := range c.clients {
		if r != nil {
			r.Close()
		}
	}
}

// number numbers a connection of which the server begins to keep something: the
// lowest number that is not in use. It is free again when the connection has heard
// that the server keeps nothing any more. A connection that was lost before keeps
// its number, and what its server keeps of it: an orphaned request may still arrive
// there.
func (c *Connections) number() int {
	n := slices.Index(c.numbers, false)
	if n < 0 {
		n = len(c.numbers)
		c.numbers = append(c.numbers, false)
	}
	c.numbers[n] = true
	return n + 1
}

// connectionName is what a server calls the n-th connection of client c of which it
// keeps something.
func connectionName(c, n int) string { return fmt.Sprintf("c%d.%d", c, n) }

// A connRef is the connection that a batch comes on.
type connRef struct {
	name  string // see connectionName; "": one of which the server keeps nothing
	known bool   // the server knows it: an earlier batch began to watch or to subscribe
}

func (r connRef) renamed(to *node.Names) connRef { return connRef{to.Rename(r.name), r.known} }

// conn is a connection that ends in the simulator. What the client writes is
// gathered until it wants to read; that exchange is one operation of the thread
// that runs.
type conn struct {
	of       *Connections
	node     int8
	out      []byte    // written, not yet sent
	in       string    // received, not yet read
	number   int       // see Connections.number; 0: none
	channels []string  // to which it has subscribed
	deadline time.Time // of a message, by the client's clock; zero: none
}

var hello = []byte("*2\r\n$5\r\nhello\r\n")

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, hello) { // the handshake is no business of the lock
		c.in += c.of.kind.engine.hello
		return len(b), nil
	}
	c.out = append(c.out, b...)
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	if c.in == "" {
		if err := c.exchange(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.in)
	c.in = c.in[n:]
	return n, nil
}

// exchange sends what has been written and waits for the answer.
func (c *conn) exchange() error {
	if len(c.out) == 0 {
		return c.receive()
	}
	c.of.p.Own()
	channels := c.channels
	id, err := c.request()
	c.out = c.out[:0]
	if err != nil {
		return err
	}
	s, ok := c.of.p.Ask(process.Op{Kind: process.Request, Node: c.node, Arg: id})
	if !ok {
		return net.ErrClosed
	}
	if err := c.lost(s); err != nil {
		return err
	}
	c.in = c.of.kind.replies[s.Val].resp
	b := &c.of.kind.batches[id]
	over := b.ends && len(b.watches) == 0 || b.subscribe && len(c.channels) == 0
	if strings.HasPrefix(c.in, "-") { // refused: all is as before
		c.channels, over = channels, !b.on.known
	}
	if c.number != 0 && over {
		c.of.numbers[c.number-1] = false
		c.number = 0
	}
	return nil
}

// request is what has been written. A connection that begins to watch or subscribes
// gets a name, by which the server knows it again.
func (c *conn) request() (uint32, error) {
	k, known := c.of.kind, c.number != 0
	if !known {
		id, err := k.internBatch(connRef{}, c.out)
		if err != nil || len(k.batches[id].watches) == 0 && !k.batches[id].subscribe {
			return id, err
		}
		c.number = c.of.number()
	}
	return k.internBatch(connRef{connectionName(c.of.p.ID(), c.number), known}, c.track(c.out))
}

// track keeps account of the channels to which the connection has subscribed, and
// sorts them in the request: go-redis keeps them in a map, and subscribes in random
// order when it has to dial anew.
func (c *conn) track(out []byte) []byte {
	commands, err := parseBatch(string(out))
	if err != nil {
		return out
	}
	for _, command := range commands {
		switch channels := command[1:]; strings.ToUpper(command[0]) {
		case "SUBSCRIBE":
			slices.Sort(channels)
			c.channels = slices.Concat(c.channels, channels)
		case "UNSUBSCRIBE":
			slices.Sort(channels)
			c.channels = slices.DeleteFunc(slices.Clone(c.channels), func(have string) bool {
				return len(channels) == 0 || slices.Contains(channels, have)
			})
		}
	}
	return writeBatch(commands)
}

var errMachineClock = errors.New("simulator: a read deadline by the machine's clock, which is nobody's in the lab: give the context a deadline by the client's own")

// receive waits for a message to which the connection has subscribed.
func (c *conn) receive() error {
	if len(c.channels) == 0 {
		return errors.New("simulator: a read without a request: only a subscribed connection receives messages")
	}
	p, d := c.of.p, clock.Never
	switch {
	case c.deadline.IsZero():
	case c.deadline.Location() != time.UTC: // all simulated times are in UTC, and none of the machine's
		return errMachineClock
	default:
		d = max(c.deadline.Sub(p.Clock().Now()), 0) // by the client's own clock
	}
	id, err := c.of.kind.internBatch(connRef{connectionName(p.ID(), c.number), true}, takeWire)
	if err != nil {
		return err
	}
	s, ok := p.Ask(process.Op{Kind: process.Listen, Node: c.node, Arg: id, D: d})
	if !ok {
		return net.ErrClosed
	}
	c.in = c.of.kind.replies[s.Val].resp // also when the time is over: see process.Observation.Val
	return c.lost(s)
}

// lost is the error of an observation that is no reply. A connection that is gone
// has no subscriptions any more.
func (c *conn) lost(s process.Observation) error {
	if s.Kind == process.Broken {
		c.channels = nil
	}
	return s.Err("read")
}

// Close tells the server, if the connection has subscribed.
func (c *conn) Close() error {
	if len(c.channels) == 0 || !c.of.p.Running() {
		return nil
	}
	c.out = append(c.out[:0], proto.Strings("UNSUBSCRIBE")...)
	return c.exchange()
}

// SetReadDeadline bounds how long the connection waits for a message. Requests are
// bounded by Config.Timeout of the simulator.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *conn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
