package cost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/jonboulle/clockwork"

	"locklab/algorithms/lock"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

var errEndless = errors.New("waiting: a client waits for what it has not asked for, or not without end")

// conn is a connection of a client with the miniredis.
type conn struct {
	redisnode.Endpoint
	process  *process
	out      []byte   // written, not sent
	in       string   // received, not read
	channels []string // to which it has subscribed
	listens  func()   // resumes a client that waits for a message
}

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("*2\r\n$5\r\nhello\r\n")) { // the handshake takes no time
		c.in += c.process.dispatch([]string{"HELLO", "2"})
		return len(b), nil
	}
	c.out = append(c.out, b...)
	return len(b), nil
}

// Read sends what was written and waits for the reply, or for a message.
func (c *conn) Read(b []byte) (int, error) {
	if c.in == "" && len(c.out) > 0 {
		commands, err := redisnode.ParseBatch(string(c.out))
		if err != nil {
			return 0, err
		}
		c.out = nil
		c.process.ask(len(commands), func() {
			for _, args := range commands {
				c.in += c.execute(args)
			}
		})
	}
	for c.in == "" {
		if len(c.channels) == 0 {
			return 0, errEndless
		}
		if c.listen(); c.in == "" {
			return 0, os.ErrDeadlineExceeded
		}
	}
	n := copy(b, c.in)
	c.in = c.in[n:]
	return n, nil
}

// listen waits for a message until the deadline, if there is one.
func (c *conn) listen() {
	c.process.wait(func(resume func()) {
		c.listens = sync.OnceFunc(resume)
		if !c.Deadline.IsZero() && c.Deadline.Before(epoch.AddDate(100, 0, 0)) {
			c.process.after(max(c.Deadline.Sub(epoch)-c.process.now, 0), c.listens)
		}
	})
	c.listens = nil
}

// push receives a message.
func (c *conn) push(text string) {
	if len(c.channels) == 0 {
		return // it is gone
	}
	c.in += text
	c.process.woken++
	if c.listens != nil {
		c.listens()
	}
}

// execute runs a command at the server.
func (c *conn) execute(args []string) (reply string) {
	switch command := strings.ToLower(args[0]); command {
	case "subscribe":
		for _, channel := range args[1:] {
			c.channels = append(c.channels, channel)
			c.process.subscribers[channel] = append(c.process.subscribers[channel], c)
			reply += proto.Array(proto.String(command), proto.String(channel), proto.Int(len(c.channels)))
		}
	case "unsubscribe":
		c.unsubscribe()
		for _, channel := range args[1:] {
			reply += proto.Array(proto.String(command), proto.String(channel), proto.Int(0))
		}
	default:
		return c.process.dispatch(args)
	}
	return reply
}

// unsubscribe ends all subscriptions.
func (c *conn) unsubscribe() {
	for _, channel := range c.channels {
		others := slices.DeleteFunc(c.process.subscribers[channel], func(o *conn) bool { return o == c })
		c.process.subscribers[channel] = others
	}
	c.channels = nil
}

// Close ends the subscriptions, when the message has reached the server.
func (c *conn) Close() error {
	if len(c.channels) > 0 {
		c.process.after(c.process.trip(), c.unsubscribe)
	}
	return nil
}

// clientClock is the clock of a client, which is right.
type clientClock struct{ *process }

func (c clientClock) Now() time.Time        { return epoch.Add(c.now) }
func (c clientClock) Sleep(d time.Duration) { c.sleep(d) }

// AfterFunc is for watchdogs. Their timers never fire, since no client works for so long.
func (c clientClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return clockwork.NewFakeClock().AfterFunc(d, f)
}

// Token makes tokens of a client.
func (c *process) Token() string { return fmt.Sprintf("c%d.%x", c.id, c.random.Uint64()) }

// A session is that of one client with the ensemble. It does not end.
type session struct {
	process *process
	id      zookeeper.SessionID
	fired   []zookeeper.Event
	waits   func() // resumes a client that waits for a watch
}

func newSession(c *process) *session {
	s := &session{process: c}
	c.ensemble, s.id = c.ensemble.Connect()
	c.sessions[s.id] = s
	return s
}

func (s *session) Do(_ context.Context, r zookeeper.Request) (reply zookeeper.Reply, err error) {
	c := s.process
	c.ask(1, func() {
		var fired []zookeeper.Event
		c.ensemble, reply, fired = c.ensemble.Apply(s.id, r)
		for _, e := range fired {
			to := c.sessions[e.Session]
			c.after(to.process.trip(), func() { to.notify(e) })
		}
	})
	if reply.Code != zookeeper.OK {
		err = reply.Code
	}
	return reply, err
}

func (s *session) notify(e zookeeper.Event) {
	s.fired = append(s.fired, e)
	s.process.woken++
	if s.waits != nil {
		s.waits()
	}
}

func (s *session) Watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, lock.Watch, error) {
	s.fired = slices.DeleteFunc(s.fired, func(e zookeeper.Event) bool { return e.Path == r.Path })
	r.Watch = true
	reply, err := s.Do(ctx, r)
	return reply, watch{s, r}, err
}

type watch struct {
	session *session
	of      zookeeper.Request
}

// Wait waits without end: no client of this simulation gives up.
func (w watch) Wait(_ context.Context, patience time.Duration) (bool, error) {
	if patience < time.Hour {
		return false, errEndless
	}
	s, children := w.session, w.of.Op == zookeeper.GetChildren
	is := func(e zookeeper.Event) bool {
		ofChildren := e.Type == zookeeper.NodeChildrenChanged
		return e.Path == w.of.Path && (e.Type == zookeeper.NodeDeleted || ofChildren == children)
	}
	for !slices.ContainsFunc(s.fired, is) {
		s.process.wait(func(resume func()) { s.waits = resume })
		s.waits = nil
	}
	return true, nil
}
