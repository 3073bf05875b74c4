package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/simulator"
)

// within is a context with a deadline by the client's own clock.
type within struct {
	context.Context
	end time.Time
}

func (w within) Deadline() (time.Time, bool) { return w.end, true }

// receive waits for d, or without an end if d is 0, and notes what it received.
func receive(c *simulator.Client, s *redis.PubSub, d time.Duration) {
	ctx, bound := context.Background(), time.Duration(0)
	if d > 0 {
		ctx, bound = within{ctx, c.Clock().Now().Add(d)}, time.Hour
	}
	got, err := s.ReceiveTimeout(ctx, bound)
	var timeout interface{ Timeout() bool }
	switch m, ok := got.(*redis.Message); {
	case errors.As(err, &timeout) && timeout.Timeout():
		note(c, "nothing")
	case err != nil:
		note(c, "broken")
	case ok:
		note(c, m.Payload)
	default:
		note(c, got)
	}
}

// listener subscribes, listens in several ways, and publishes to others.
func listener(c *simulator.Client) {
	ctx, r := context.Background(), c.Redis(1)
	for i := range 3 {
		s := r.Subscribe(ctx, "news", "other")
		receive(c, s, time.Second)
		receive(c, s, time.Second)
		do(c, 1, "PUBLISH", "news", c.Token())
		do(c, 1, "SET", "a", i, "PX", 500)
		receive(c, s, 700*time.Millisecond)
		do(c, 1, "EVAL", `return redis.call("publish", KEYS[1], ARGV[1])`, 1, "other", i)
		c.Clock().Sleep(300 * time.Millisecond)
		receive(c, s, 900*time.Millisecond)
		_ = s.Unsubscribe(ctx, "other") // answered by the next line
		receive(c, s, time.Second)
		if i == 1 {
			receive(c, s, time.Second)
		}
		_ = s.Close() // nothing is left to do
	}
}

// reader is a client that subscribes at once and notes n messages.
func reader(n int, each time.Duration) func(*simulator.Client) {
	return func(c *simulator.Client) {
		s := c.Redis(1).Subscribe(context.Background(), "news")
		defer s.Close()
		receive(c, s, 0)
		for range n {
			receive(c, s, each)
		}
	}
}

// writer publishes a number every second, from the first second on.
func writer(n int) func(*simulator.Client) {
	return func(c *simulator.Client) {
		for i := range n {
			c.Clock().Sleep(sec)
			do(c, 1, "PUBLISH", "news", i+1)
		}
	}
}

func duo(t *testing.T, a, b func(*simulator.Client)) *stage {
	return newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: a}, {Program: b}},
		Nodes:   []simulator.NodeConfig{{Replicas: 1}}, Faults: budget(t),
	})
}

func TestMessages(t *testing.T) {
	const subscribed = "0s:subscribe: news"
	for _, test := range []struct {
		name         string
		reads, write func(*simulator.Client)
		want         string
	}{
		{"heard as they come", reader(2, 0), writer(2), subscribed + " 1s:1 1s:1 2s:2 2s:1"},
		{"the time is over first", reader(3, 1500*time.Millisecond), writer(1), subscribed + " 1s:1 1s:1 2.5s:nothing 4s:nothing"},
		{"kept while nobody reads", func(c *simulator.Client) {
			s := c.Redis(1).Subscribe(context.Background(), "news")
			receive(c, s, 0)
			c.Clock().Sleep(3 * sec)
			receive(c, s, sec)
			receive(c, s, sec)
			receive(c, s, sec)
		}, writer(2), subscribed + " 1s:1 2s:1 3s:1 3s:2 4s:nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := duo(t, test.reads, test.write)
			s.settle(20 * sec)
			s.wantNotes(test.want)
		})
	}
}

// A fault that breaks connections breaks those of subscribers too, whether they listen
// now or later, and the messages that were not yet received are lost.
func TestMessagesAndMisfortune(t *testing.T) {
	busy := func(c *simulator.Client) {
		s := c.Redis(1).Subscribe(context.Background(), "news")
		receive(c, s, sec)
		c.Clock().Sleep(3 * sec)
		receive(c, s, sec)
	}
	const subscribed = "0s:subscribe: news"
	for _, test := range []struct {
		name    string
		reads   func(*simulator.Client)
		at      time.Duration
		strikes []simulator.Choice
		want    string
	}{
		{"restart", reader(1, 0), 500 * time.Millisecond, []simulator.Choice{faults.RestartOf(1)}, subscribed + " 500ms:broken 1s:0"},
		{"restart while it does not listen", busy, 1500 * time.Millisecond, []simulator.Choice{faults.RestartOf(1)}, subscribed + " 1s:1 3s:broken"},
		{"failover", reader(1, 0), 500 * time.Millisecond, []simulator.Choice{faults.FailoverOf(1)}, subscribed + " 500ms:broken 1s:0"},
		{"a pause keeps what comes", reader(1, 0), 500 * time.Millisecond, []simulator.Choice{faults.PauseOf(1, sec)}, subscribed + " 1s:1 1.5s:1"},
		{"a pause beyond the time", reader(1, 800*time.Millisecond), 500 * time.Millisecond, []simulator.Choice{faults.PauseOf(1, 1200*time.Millisecond)}, subscribed + " 1s:1 1.7s:1"},
		{"a server that hangs tells nothing", reader(1, 800*time.Millisecond), 500 * time.Millisecond, []simulator.Choice{faults.HangOf(1, sec)}, subscribed + " 800ms:nothing 1.5s:0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := duo(t, test.reads, writer(1))
			s.settle(test.at)
			s.step(test.strikes...)
			s.settle(20 * sec)
			s.wantNotes(test.want)
		})
	}
}

// A fault of its reader alone does not lose a message on its way: it arrives, even after
// the deadline. Where a message is lost the connection has broken.
func TestMessageOnItsWay(t *testing.T) {
	const subscribed = "0s:subscribe: news"
	for _, test := range []struct {
		name   string
		befall simulator.Choice
		want   string
	}{
		{"heard", simulator.Choice{Verb: simulator.Answer, Client: 1}, subscribed + " 1s:1 1s:1 2s:nothing"},
		{"the time is over first", simulator.Choice{Verb: simulator.GiveUp, Client: 1}, subscribed + " 1s:nothing 1s:1 1s:1"},
		{"lost", faults.LoseReplyTo(1, 0), subscribed + " 1s:broken " + "1s:subscribe: news 1s:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := duo(t, reader(2, sec), writer(1))
			s.settle(999 * time.Millisecond)
			s.step(simulator.Choice{Verb: simulator.Pass, D: time.Millisecond}, simulator.Choice{Verb: simulator.Wake, Client: 2},
				simulator.Choice{Verb: simulator.Arrive, Client: 2}, simulator.Choice{Verb: simulator.Unblock, Client: 1}, test.befall)
			s.settle(20 * sec)
			s.wantNotes(test.want)
		})
	}
}

// A server that refuses SUBSCRIBE or WATCH treats the connection like any other.
func TestRefusedSubscription(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		name    string
		program func(*simulator.Client)
		want    string
	}{
		{"SUBSCRIBE", func(c *simulator.Client) {
			s := c.Redis(1).Subscribe(ctx, "news")
			_, err := s.Receive(ctx)
			note(c, err.Error()[:4])
			note(c, s.Close())
			reader(0, sec)(c)
			do(c, 1, "PUBLISH", "news", "x")
		}, "0s:BUSY 0s:<nil> 0s:subscribe: news 0s:0"},
		{"WATCH", func(c *simulator.Client) {
			pool := c.Redis(1).Conn()
			defer pool.Close()
			note(c, pool.Do(ctx, "WATCH", "a").Err().Error()[:4])
			note(c, pool.Do(ctx, "GET", "a").Err())
		}, "0s:BUSY 0s:redis: nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solo(t, test.program)
			s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.FailCallOf(1, 0))
			s.settle(20 * sec)
			s.wantNotes(test.want)
		})
	}
}

// A deadline by the machine's clock would differ from run to run, so it is refused.
func TestMachineClock(t *testing.T) {
	s := duo(t, func(c *simulator.Client) {
		s := c.Redis(1).Subscribe(context.Background(), "news")
		_, err := s.ReceiveTimeout(context.Background(), time.Minute)
		note(c, err)
		_, err = s.ReceiveTimeout(context.Background(), time.Minute)
		note(c, fmt.Sprint(err)[:len("simulator: a read deadline by the machine's clock")])
	}, func(*simulator.Client) {})
	s.settle(sec)
	s.wantNotes("0s:<nil> 0s:simulator: a read deadline by the machine's clock")
}
