package simulator

import (
	"bytes"
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// connections are a process's go-redis clients, one a server. They outlive
// the process's incarnations: a command that was under way when one was
// unwound fails its connection, and the client dials another.
type connections struct {
	p       *process
	clients [MaxNodes]*redis.Client
}

func newConnections(p *process) *connections { return &connections{p: p} }

// client is the go-redis client for server n (from 1): as it comes, without
// its own retries (a lost reply must reach the strategy, not be retried behind
// its back), without the niceties of a new connection, and without deadlines,
// which the lab keeps in its own time.
func (c *connections) client(n int) *redis.Client {
	if r := c.clients[n-1]; r != nil {
		return r
	}
	r := redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:1", // never dialed; a name would be looked up
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return &conn{p: c.p, node: int8(n)}, nil
		},
		Protocol:                 2,
		DisableIdentity:          true,
		MaxRetries:               -1,
		DialTimeout:              -1,
		ReadTimeout:              -2,
		WriteTimeout:             -2,
		ConnMaxIdleTime:          -1,
		PoolSize:                 2 * MaxThreads, // a thread may hold a connection that watches, and use another
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	c.clients[n-1] = r
	return r
}

func (c *connections) close() {
	for _, r := range c.clients {
		if r != nil {
			r.Close()
		}
	}
}

// conn is a connection that ends in the lab. What the client writes is
// gathered until it wants to read; that exchange is one operation of the
// thread that runs.
type conn struct {
	p    *process
	node int8
	out  []byte // written, not yet sent
	in   string // received, not yet read
	// watcher is its number among the connections of the incarnation that watch
	// keys or listen, from 1; 0: it does not.
	watcher  int
	channels []string  // that it listens to
	deadline time.Time // of a message, by the client's clock; zero: none
}

var hello = []byte("*2\r\n$5\r\nhello\r\n")

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, hello) { // the handshake is no business of the strategy
		c.in += c.p.sim.table.engine.hello
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

func (c *conn) exchange() error {
	if len(c.out) == 0 {
		return c.hear()
	}
	c.p.own()
	channels := c.channels
	id, err := c.request()
	c.out = c.out[:0]
	if err != nil {
		return err
	}
	s, ok := c.p.ask(op{kind: opCommand, node: c.node, batch: id})
	if !ok {
		return net.ErrClosed
	}
	if err := c.lost(s); err != nil {
		return err
	}
	c.in = c.p.sim.table.replies[s.val].resp
	b := &c.p.sim.table.batches[id]
	over := b.ends && len(b.watches) == 0 || b.about && len(c.channels) == 0
	if strings.HasPrefix(c.in, "-") { // refused: all is as before
		c.channels, over = channels, !b.link.made
	}
	if c.watcher != 0 && over {
		c.p.live.watchers[c.watcher-1] = false
		c.watcher = 0
	}
	return nil
}

// request is what has been written. A connection that begins to watch or to listen
// gets a name, by which the server knows it again.
func (c *conn) request() (uint32, error) {
	t, made := c.p.sim.table, c.watcher != 0
	if !made {
		id, err := t.internBatch(link{}, c.out)
		if err != nil || len(t.batches[id].watches) == 0 && !t.batches[id].about {
			return id, err
		}
		c.watcher = c.p.live.watcher()
	}
	return t.internBatch(link{watcherName(c.p.id, c.watcher), made}, c.subscribe(c.out))
}

// err is how an observation that is no reply looks to code that reads a socket.
func (s observation) err(what string) error {
	switch s.kind {
	case timedOut:
		return &net.OpError{Op: what, Net: "tcp", Err: os.ErrDeadlineExceeded}
	case broken:
		return &net.OpError{Op: what, Net: "tcp", Err: syscall.ECONNRESET}
	}
	return nil
}

func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *conn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
