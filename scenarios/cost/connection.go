package cost

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/jonboulle/clockwork"

	"locklab/algorithms/lock"
	"locklab/simulator/redisnode"
)

var errSubscribed = errors.New("waiting: a read without a request")

// conn is a connection of a client.
type conn struct {
	redisnode.Endpoint
	process  *process
	out      []byte   // written, not sent
	in       string   // received, not read
	channels []string // to which it has subscribed
	listens  func()   // resumes a client that waits for a message
}

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("*2\r\n$5\r\nhello\r\n")) { // the handshake is not counted
		c.in += c.process.hello
		return len(b), nil
	}
	c.out = append(c.out, b...)
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	for c.in == "" {
		if err := c.receive(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.in)
	c.in = c.in[n:]
	return n, nil
}

// receive sends what was written and waits for the reply, or for a message.
func (c *conn) receive() error {
	if len(c.out) > 0 {
		commands, err := redisnode.ParseBatch(string(c.out))
		if err != nil {
			return err
		}
		c.out = nil
		c.process.ask(len(commands), func() {
			for _, args := range commands {
				c.in += c.execute(args)
			}
		})
		return nil
	}
	if len(c.channels) == 0 {
		return errSubscribed
	}
	over := false
	c.process.wait(func(resume func()) {
		once := sync.OnceFunc(resume)
		c.listens = once
		if !c.Deadline.IsZero() && c.Deadline.Before(epoch.AddDate(100, 0, 0)) {
			c.process.after(max(c.Deadline.Sub(epoch)-c.process.now, 0), func() {
				over = true // of no effect when a message has come before
				once()
			})
		}
	})
	c.listens = nil
	if over && c.in == "" {
		return os.ErrDeadlineExceeded
	}
	return nil
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
	b, command := c.process.simulation, strings.ToLower(args[0])
	if command != "subscribe" && command != "unsubscribe" {
		return b.dispatch(args)
	}
	if command == "unsubscribe" {
		b.unsubscribe(c)
	}
	for _, channel := range args[1:] {
		if command == "subscribe" {
			c.channels = append(c.channels, channel)
			b.subscribers[channel] = append(b.subscribers[channel], c)
		}
		reply += proto.Array(proto.String(command), proto.String(channel), proto.Int(len(c.channels)))
	}
	return reply
}

// Close ends the subscriptions, when the message has reached the server.
func (c *conn) Close() error {
	if len(c.channels) > 0 {
		c.process.after(c.process.trip(), func() { c.process.unsubscribe(c) })
	}
	return nil
}

var _ lock.Clock = clientClock{}

// clientClock is the clock of a client, which is right.
type clientClock struct{ *process }

func (c clientClock) Now() time.Time        { return epoch.Add(c.now) }
func (c clientClock) Sleep(d time.Duration) { c.sleep(d) }

// AfterFunc is for watchdogs: their timers must be stopped before they fire.
func (c clientClock) AfterFunc(d time.Duration, _ func()) clockwork.Timer {
	t := &timer{runs: true}
	c.after(d, func() {
		if t.runs {
			c.broken = fmt.Errorf("waiting: a timer of %v fires: nobody may hold the lock for so long", d)
		}
	})
	return t
}

type timer struct{ runs bool }

func (t *timer) Chan() <-chan time.Time   { return nil }
func (t *timer) Reset(time.Duration) bool { panic("waiting: no lock resets a timer") }
func (t *timer) Stop() bool {
	ran := t.runs
	t.runs = false
	return ran
}

// Token makes tokens of a client.
func (c *process) Token() string { return fmt.Sprintf("c%d.%x", c.id, c.rng.Uint64()) }
