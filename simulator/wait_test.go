package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/history"
)

// group is a stage with one server that has so many replicas.
func group(t *testing.T, replicas int, programs ...func(*simulator.Client)) *stage {
	s := simulator.Config{Nodes: []simulator.NodeConfig{{Replicas: replicas}}, Faults: budget(t)}
	for _, p := range programs {
		s.Clients = append(s.Clients, simulator.ClientConfig{Program: p})
	}
	return newStage(t, s)
}

// caughtUp is the choice by which replica r, from 0, of server 1 catches up.
func caughtUp(r int8) simulator.Choice {
	return simulator.Choice{Verb: simulator.Replicate, Node: 1, Thread: r}
}

func pass(d time.Duration) simulator.Choice { return simulator.Choice{Verb: simulator.Pass, D: d} }

// TestWait writes, waits for replicas, and lets them catch up at given times.
func TestWait(t *testing.T) {
	wait := func(need, ms int) func(*simulator.Client) {
		return func(c *simulator.Client) {
			do(c, 1, "SET", "lock", "x")
			do(c, 1, "WAIT", need, ms)
		}
	}
	type at = map[time.Duration]int8
	for _, test := range []struct {
		name     string
		replicas int
		program  func(*simulator.Client)
		catchUp  at
		want     string
	}{
		{"nobody is asked for", 2, wait(0, 1000), nil, "0s:OK 0s:0"},
		{"there is no replica", 0, wait(1, 1000), nil, "0s:OK 1s:0"},
		{"one of one, in time", 1, wait(1, 1000), at{sec / 2: 0}, "0s:OK 500ms:1"},
		{"one of two", 2, wait(1, 1000), at{sec / 2: 1}, "0s:OK 500ms:1"},
		{"both", 2, wait(2, 1000), at{sec / 4: 1, sec / 2: 0}, "0s:OK 500ms:2"},
		{"one of the two is too late", 2, wait(2, 1000), at{sec / 4: 1}, "0s:OK 1s:1"},
		{"more than there are", 1, wait(2, 1000), at{sec / 4: 0}, "0s:OK 1s:1"},
		{"for ever", 1, wait(1, 0), at{2 * sec: 0}, "0s:OK 2s:1"},
		{"for longer than the client's patience", 1, wait(1, 0), nil, "0s:OK 3s:read tcp: i/o timeout"},
		{"nothing was written before", 2, func(c *simulator.Client) { do(c, 1, "GET", "lock"); do(c, 1, "WAIT", 2, 1000) }, nil, "0s:<nil> 0s:2"},
		{"no number", 1, func(c *simulator.Client) { do(c, 1, "WAIT", "x", 1) }, nil, "0s:ERR value is not an integer or out of range"},
		{"no time", 1, func(c *simulator.Client) { do(c, 1, "WAIT", 1, "x") }, nil, "0s:ERR timeout is not an integer or out of range"},
		{"no positive time", 1, func(c *simulator.Client) { do(c, 1, "WAIT", 1, -1) }, nil, "0s:ERR timeout is negative"},
		{"no argument", 1, func(c *simulator.Client) { do(c, 1, "WAIT", 1) }, nil, "0s:ERR wrong number of arguments for 'wait' command"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := group(t, test.replicas, test.program)
			s.settleNoReplica()
			for s.world.Now() < 4*sec && !s.sim.Quiet(&s.world) {
				s.step(pass(sec / 4))
				if r, ok := test.catchUp[s.world.Now()]; ok {
					s.step(caughtUp(r))
				}
				s.settleNoReplica()
			}
			s.wantNotes(test.want)
		})
	}
}

// The rest of a pipeline is executed at once; its replies come with the reply of WAIT.
// That is how a lock's script and its WAIT use the same connection.
func TestWaitEndsAPipeline(t *testing.T) {
	s := group(t, 1, func(c *simulator.Client) {
		pipe := c.Redis(1).Pipeline()
		set := pipe.Do(context.Background(), "SET", "lock", "x", "NX")
		count := pipe.Do(context.Background(), "WAIT", 1, 1000)
		_, err := pipe.Exec(context.Background())
		note(c, set.Val(), " ", count.Val(), " ", err)
	})
	s.settleNoReplica()
	if n := s.count(history.Change); n != 1 {
		t.Errorf("%d changes before the replica has caught up, want the SET", n)
	}
	s.step(pass(sec/2), caughtUp(0))
	s.settle(sec)
	s.wantNotes("500ms:OK 1 <nil>")
	if last := s.told[len(s.told)-2]; last.Kind != history.Answer || last.Reply != "OK; 1" {
		t.Errorf("the answer is told as %v %q", last.Kind, last.Reply)
	}
}

// The WAIT of a client that has sent nothing else does not wait for writes of other clients.
// After any command it does, also after one that wrote nothing.
func TestWaitForOthers(t *testing.T) {
	s := group(t, 1,
		func(c *simulator.Client) { do(c, 1, "SET", "a", "x") },
		func(c *simulator.Client) {
			do(c, 1, "WAIT", 1, 1000)
			do(c, 1, "SET", "a", "y", "NX")
			do(c, 1, "WAIT", 1, 1000)
		})
	s.settleNoReplica()
	s.wantNotes("0s:OK 0s:1 0s:<nil>")
	s.step(pass(sec/2), caughtUp(0))
	s.settleNoReplica()
	s.wantNotes("0s:OK 0s:1 0s:<nil> 500ms:1")
}

// When a server crashes, clients that wait at it get no reply, and the writes that they
// waited for are lost. The next WAIT waits for the replicas of the server in its place.
func TestWaitBreaks(t *testing.T) {
	for strike, last := range map[simulator.Choice]string{faults.FailoverTo(1, 0): "x", faults.FailoverTo(1, 1): "<nil>", faults.RestartOf(1): "<nil>"} {
		s := group(t, 2, func(c *simulator.Client) {
			do(c, 1, "SET", "lock", "x")
			do(c, 1, "WAIT", 2, 0)
			do(c, 1, "GET", "lock")
			do(c, 1, "WAIT", 2, 0)
		})
		s.settleNoReplica()
		s.step(caughtUp(0), strike)
		s.settleNoReplica()
		want := "0s:OK 0s:read tcp: connection reset by peer 0s:" + last
		s.wantNotes(want)
		for _, c := range s.sim.Enabled(&s.world, nil) {
			if c.Verb == simulator.Replicate {
				s.step(c)
			}
		}
		s.settleNoReplica()
		s.wantNotes(want + " 0s:2")
	}
}

// A client that has crashed or given up gets no reply, and a WAIT that arrives after that
// does nothing; the rest of its pipeline is executed.
func TestWaitOfNobody(t *testing.T) {
	program := func(c *simulator.Client) {
		pipe := c.Redis(1).Pipeline()
		pipe.Do(context.Background(), "INCR", "n")
		pipe.Do(context.Background(), "WAIT", 1, 0)
		_, _ = pipe.Exec(context.Background()) // nobody lives to look at it
	}
	s := group(t, 1, program, program)
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, simulator.Choice{Verb: simulator.Arrive, Client: 1}, faults.CrashOf(1), caughtUp(0))
	if n := s.count(history.Apply); n != 1 {
		t.Errorf("%d requests were answered, want the INCR", n)
	}
	s = group(t, 1, program)
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.CrashOf(1), simulator.Choice{Verb: simulator.Orphaned, Client: 1})
	if n := s.count(history.Apply); n != 1 {
		t.Errorf("%d requests were executed, want the INCR", n)
	}
}

// A script cannot WAIT; the error names the command.
func TestWaitInAScript(t *testing.T) {
	s := group(t, 1, func(c *simulator.Client) { do(c, 1, "EVAL", `return redis.call("wait", 1, 10)`, 0) })
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1})
	if _, err := s.sim.Step(&s.world, simulator.Choice{Verb: simulator.Arrive, Client: 1}); err == nil || !strings.Contains(text.SayError("en", err), "WAIT") {
		t.Errorf("error %v, want one that names WAIT", err)
	}
}

// WAIT continues while its client is paused; its time-out is on the server's clock.
func TestWaitRunsOnTheServersClock(t *testing.T) {
	s := newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) { do(c, 1, "SET", "a", 1); do(c, 1, "WAIT", 1, 1000) }}},
		Nodes:   []simulator.NodeConfig{{Replicas: 1, PPM: 250_000}}, Faults: budget(t),
	})
	s.settleNoReplica()
	s.step(faults.PauseOf(1, sec), pass(800*time.Millisecond), simulator.Choice{Verb: simulator.Unblock, Client: 1})
	s.settleNoReplica()
	s.step(pass(200 * time.Millisecond))
	s.settleNoReplica()
	s.wantNotes("0s:OK 1s:0")
}

// The number of replicas of a server is limited; the setup reports an error.
func TestReplicaLimits(t *testing.T) {
	idle := []simulator.ClientConfig{{Program: func(*simulator.Client) {}}}
	for want, nodes := range map[string][]simulator.NodeConfig{
		"server 2 has 3 replicas: give 0 to 2": {{}, {Replicas: 3}},
		"server 1 has -1 replicas":             {{Replicas: -1}},
		"server 1 has AOF 3":                   {{AOF: 3}},
	} {
		if _, err := simulator.New(simulator.Config{Clients: idle, Nodes: nodes}); err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	all := slices.Repeat([]simulator.NodeConfig{{Replicas: simulator.MaxReplicas, AOF: simulator.EverySecond}}, simulator.MaxNodes)
	simulator.MustLab(t, simulator.Config{Clients: idle, Nodes: all})
}

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
