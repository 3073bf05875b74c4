package redisnode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// Connections are the go-redis clients of one process, one a server. They outlive the executions of its code: a command
// that was under way when one was unwound fails its connection, and the client dials another.
type Connections struct {
	kind    *Kind
	p       *process.Code
	clients [node.MaxNodes]*redis.Client
	// numbers says of each number from 1 if a connection of this execution that watches keys or has subscribed has it.
	numbers []bool
}

// Library is the go-redis clients of process p.
func (k *Kind) Library(p *process.Code) process.Library { return &Connections{kind: k, p: p} }

// Client is the go-redis client for server n, from 1: as it comes, but with Kind.Retries of its own, which follow at
// once, without the niceties of a new connection, and without deadlines, which the simulator keeps in its own time.
func (c *Connections) Client(n int) *redis.Client {
	if nodes := len(c.kind.servers); n < 1 || n > nodes {
		panic(fmt.Sprintf("there is no server %d: the setup has %d", n, nodes))
	}
	if r := c.clients[n-1]; r != nil {
		return r
	}
	o := ClientOptions(n, func() net.Conn { return &conn{Wire: Wire{of: c, node: int8(n)}} })
	o.MaxRetries = cmp.Or(c.kind.Retries, -1) // 0 would be three
	r := redis.NewClient(o)
	r.AddHook(contextHook{c.p})
	c.clients[n-1] = r
	return r
}

// ClientOptions returns options of a go-redis client with the connections that dial makes to server n, without retries.
func ClientOptions(n int, dial func() net.Conn) *redis.Options {
	return &redis.Options{
		Addr:                     fmt.Sprintf("127.0.0.1:%d", n), // never dialed; a name would be looked up
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return dial(), nil },
		Protocol:                 2,
		DisableIdentity:          true,
		MaxRetries:               -1,
		MinRetryBackoff:          -1,
		MaxRetryBackoff:          -1,
		DialTimeout:              -1,
		ReadTimeout:              -2,
		WriteTimeout:             -2,
		ConnMaxIdleTime:          -1,
		ReadBufferSize:           bufferSize, // code that is run again often dials anew
		WriteBufferSize:          bufferSize,
		PoolSize:                 2 * process.MaxThreads, // a thread may use another beside one that watches
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// bufferSize is that of the buffers of a connection; larger requests and replies pass through them in pieces.
const bufferSize = 1 << 10

// contextHook notes in the process the context for which a command is sent.
type contextHook struct{ p *process.Code }

// DialHook implements redis.Hook.
func (h contextHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h contextHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		defer h.p.Heed(ctx)()
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h contextHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		defer h.p.Heed(ctx)()
		return next(ctx, cmds)
	}
}

// Start discards the numbers of connections.
func (c *Connections) Start(uint32) { c.numbers = nil }

// Stop drops the connection pools if a connection had a number: unwound code may not have given it back to its pool.
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

// number numbers a connection of which the server begins to keep something: the lowest number that is not in use. It is
// free again when the connection has received that the server keeps nothing any more. A connection that was lost before
// keeps its number, and what its server keeps of it: an orphaned request may still arrive there.
func (c *Connections) number() int {
	n := slices.Index(c.numbers, false)
	if n < 0 {
		n = len(c.numbers)
		c.numbers = append(c.numbers, false)
	}
	c.numbers[n] = true
	return n + 1
}

// connectionName is the name by which a server knows the n-th connection of client c of which it keeps something. start
// is above 0 for a process started in place of one that died, of which a server may still keep something.
func connectionName(c, n int, start int64) string {
	name := connectionPrefix(int8(c)) + fmt.Sprint(n)
	if start > 0 {
		name += fmt.Sprintf(".%d", start)
	}
	return name
}

func connectionPrefix(c int8) string { return fmt.Sprintf("c%d.", c) }

// name is the connectionName of a connection.
func (c *Wire) name() string { return connectionName(c.of.p.ID(), c.number, int64(c.of.p.Born())) }

// mapped is a batch in a translation.
func (b batch) mapped(t *translate.Translation) batch {
	to := batch{commands: translate.Value(b.commands, t), on: b.on}
	switch c, n, start := 0, 0, int64(0); {
	case b.on.name == "":
	case t.Names != nil:
		to.on.name = t.Text(b.on.name)
	case t.Count != nil:
		_, _ = fmt.Sscanf(b.on.name, "c%d.%d.%d", &c, &n, &start) // the first process has no number
		to.on.name = connectionName(c, n, t.Number(history.Tokens+history.Counter(c), start, false))
	}
	return to
}

// A connRef is the connection that a batch comes on.
type connRef struct {
	name  string // see connectionName; "": one of which the server keeps nothing
	known bool   // the server knows it: an earlier batch began to watch or to subscribe
}

// A Wire is the client's end of a connection that ends in the simulator, without the waiting. What the client writes is
// gathered until it waits for the server; that is one operation. It implements process.Wire.
type Wire struct {
	process.Plain
	of       *Connections
	node     int8
	raw      []byte   // written, no whole command; not used by coroutines
	out      []byte   // written, not yet sent
	number   int      // see Connections.number; 0: none
	channels []string // to which it has subscribed
	before   []string // the same, before what is under way
}

// hello is how a handshake with RESP2 begins.
var hello = []byte("*2\r\n$5\r\nhello\r\n")

// Listens reports whether the connection has subscribed to anything.
func (c *Wire) Listens() bool { return len(c.channels) > 0 }

// Asks returns the operation that sends what has been written; if that is nothing, and the connection
// has subscribed, one that waits for a message. An operation to listen has no bound.
func (c *Wire) Asks() (o process.Op, ok bool, err error) {
	switch {
	case len(c.out) > 0:
		c.before = c.channels
		id, err := c.request()
		c.out = c.out[:0]
		return process.Op{Kind: process.Request, Node: c.node, Arg: id}, err == nil, err
	case len(c.channels) > 0:
		id, err := c.of.kind.Executor.internBatch(connRef{c.name(), true}, takeWire)
		return process.Op{Kind: process.Listen, Node: c.node, Arg: id, D: clock.Never}, err == nil, err
	}
	return process.Op{}, false, nil
}

// request numbers what was written. A connection that watches or subscribes gets a name, by which the server knows it.
func (c *Wire) request() (uint32, error) {
	x, known := c.of.kind.Executor, c.number != 0
	if !known {
		id, err := x.internBatch(connRef{}, c.out)
		if err != nil || len(x.batches.At(id).watches) == 0 && !x.batches.At(id).subscribe {
			return id, err
		}
		c.number = c.of.number()
	}
	return x.internBatch(connRef{c.name(), known}, c.track(c.out))
}

// track keeps account of the channels to which the connection has subscribed, and sorts them in the request: go-redis
// keeps them in a map, and subscribes in random order when it has to dial anew.
func (c *Wire) track(out []byte) []byte {
	commands, err := ParseBatch(string(out))
	if err != nil {
		return out
	}
	for _, command := range commands {
		switch strings.ToUpper(command[0]) {
		case "SUBSCRIBE", "UNSUBSCRIBE":
			slices.Sort(command[1:])
			c.channels = connection{channels: c.channels}.after(command, &strings.Builder{}).channels
		}
	}
	return writeBatch(commands)
}

// Received returns what the client reads when s ends operation o. A connection that is gone has no subscriptions.
func (c *Wire) Received(o process.Op, s process.Observation) (in []byte, err error) {
	text, err := c.received(o, s)
	return []byte(text), err
}

func (c *Wire) received(o process.Op, s process.Observation) (in string, err error) {
	if s.Kind == process.Broken {
		c.channels = nil
	}
	if o.Kind == process.Listen { // a message also when the time is over: see process.Observation.Val
		return c.of.kind.Executor.replies.At(uint32(s.Val)).resp, s.Err("read")
	}
	if err := s.Err("read"); err != nil {
		return "", err
	}
	in = c.of.kind.Executor.replies.At(uint32(s.Val)).resp
	b := c.of.kind.Executor.batches.At(o.Arg)
	over := b.ends && len(b.watches) == 0 || b.subscribe && len(c.channels) == 0
	if strings.HasPrefix(in, "-") { // refused: all is as before
		c.channels, over = c.before, !b.on.known
	}
	if c.number != 0 && over {
		c.of.numbers[c.number-1] = false
		c.number = 0
	}
	return in, nil
}

// conn is the connection of a coroutine: it waits by an operation of the thread that runs.
type conn struct {
	Wire
	Endpoint
	in string // received, not yet read
}

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, hello) { // the handshake is no business of the lock
		c.in += c.of.kind.Executor.engine.hello
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

var errMachineClock = errors.New("simulator: a read deadline by the machine's clock, " +
	"which is nobody's in the lab: give the context a deadline by the client's own")

// endOfTime is later than any clock of a world.
var endOfTime = clock.Epoch.Add(2 * clock.EndOfTime)

// unwound is the last answer that code gets when it is unwound, whatever it has asked for.
const unwound = "-ERR the process has ended\r\n"

// exchange sends what was written and waits for the answer, or a message that the connection subscribed to.
func (c *conn) exchange() error {
	if len(c.out) > 0 {
		c.of.p.Own()
	}
	o, ok, err := c.Asks()
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New("simulator: a read without a request: only a subscribed connection receives messages")
	case o.Kind == process.Request || c.Deadline.IsZero():
	case c.Deadline.Location() != time.UTC: // all simulated times are in UTC, and none of the machine's
		return errMachineClock
	case c.Deadline.After(endOfTime): // no clock reaches it
	default:
		o.D = max(c.Deadline.Sub(c.of.p.Clock().Now()), 0) // by the client's own clock
	}
	s, ok := c.of.p.Ask(o)
	switch {
	case !ok && c.number == 0: // as good as new: its pool keeps it
		c.in = unwound
		return nil
	case !ok:
		return net.ErrClosed
	}
	c.in, err = c.received(o, s)
	return err
}

// Close tells the server, if the connection has subscribed.
func (c *conn) Close() error {
	if !c.of.p.Running() || !c.Wire.Close() {
		return nil
	}
	return c.exchange()
}

// An Endpoint has the methods of a net.Conn that say nothing of its bytes. A connection without a network embeds it.
type Endpoint struct {
	Deadline time.Time // of a message, by the client's clock; zero: none
}

// SetReadDeadline bounds how long the connection waits for a message. The simulator's Config.Timeout bounds requests.
func (e *Endpoint) SetReadDeadline(t time.Time) error {
	e.Deadline = t
	return nil
}

func (e *Endpoint) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (e *Endpoint) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (e *Endpoint) SetDeadline(time.Time) error      { return nil }
func (e *Endpoint) SetWriteDeadline(time.Time) error { return nil }
