package simulator_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// TestHang: requests that reach a hung server are executed when it resumes, even if their
// client has given up by then; replies of requests that it executed before still arrive.
func TestHang(t *testing.T) {
	patient := func(c *simulator.Client) {
		do(c, 1, "INCR", "n")
		c.Clock().Sleep(sec)
		do(c, 1, "INCR", "n")
	}
	for _, test := range []struct {
		name string
		hang simulator.Choice
		want string
	}{
		{"shorter than the client's patience", faults.HangOf(1, 2*sec), "0s:1 2s:2"},
		{"longer", faults.HangOf(1, 6*sec), "0s:1 4s:read tcp: i/o timeout"},
		{"over before", faults.HangOf(1, sec/2), "0s:1 1s:2"},
	} {
		s := parted(t, simulator.NodeConfig{Replicas: 1}, patient)
		s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, simulator.Choice{Verb: simulator.Arrive, Client: 1}, test.hang)
		if slices.ContainsFunc(s.sim.Enabled(&s.world, nil), func(c simulator.Choice) bool { return c.Verb == simulator.Replicate }) {
			t.Errorf("%s: a replica can catch up with a server that stands still", test.name)
		}
		s.run(8 * sec)
		s.wantNotes(test.want)
		if n := s.count(history.Apply); n != 2 {
			t.Errorf("%s: %d requests were executed, want 2", test.name, n)
		}
		if s.world.Hung(1) {
			t.Errorf("%s: it hangs for ever", test.name)
		}
	}
}

// Leases end on a hung server, and it receives late requests when it resumes. The old
// master of a split does not hang with the new one.
func TestHangWhileTimePasses(t *testing.T) {
	s := parted(t, simulator.NodeConfig{Replicas: 1},
		func(c *simulator.Client) { do(c, 1, "SET", "k", "a", "PX", 1000); do(c, 1, "APPEND", "k", "b") },
		func(c *simulator.Client) { c.Clock().Sleep(sec); do(c, 1, "GET", "k") })
	s.settleNoReplica()
	s.step(caughtUp(0), faults.SplitOf(2, 1, 0), faults.HangOf(1, 2*sec))
	s.run(4 * sec)
	s.wantServer("0s n1 a, 0s n1 ab, 0s n1 REPLICATE, 0s n1 SPLIT, 1.001s n1 -, 1.001s n2 -")

	s = parted(t, simulator.NodeConfig{}, func(c *simulator.Client) { do(c, 1, "INCR", "n") })
	late := simulator.Choice{Verb: simulator.Orphaned, Client: 1}
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.CrashOf(1), faults.HangOf(1, sec), late)
	if _, err := s.sim.Step(&s.world, late); err == nil || s.sim.NextDeadline(&s.world) != sec {
		t.Errorf("a request was executed by a server that stands still, or its turn is not at 1s: %v, %v", err, s.sim.NextDeadline(&s.world))
	}
	s.step(pass(sec), late)
	s.wantServer("1s n1 1")
}

// TestDelay delays a request or a reply, for less and for more than the client's
// time-out.
func TestDelay(t *testing.T) {
	client := func(c *simulator.Client) {
		do(c, 1, "INCR", "n")
		c.Clock().Sleep(10 * sec)
	}
	start, arrive := simulator.Choice{Verb: simulator.Start, Client: 1}, simulator.Choice{Verb: simulator.Arrive, Client: 1}
	for _, test := range []struct {
		name    string
		choices []simulator.Choice
		server  string
		want    string
	}{
		{"a request", []simulator.Choice{start, faults.DelayOf(1, 0, 2*sec)}, "2s n1 1", "2s:1"},
		{"a request, for longer than anybody waits", []simulator.Choice{start, faults.DelayOf(1, 0, 5*sec)}, "5s n1 1", "3s:read tcp: i/o timeout"},
		{"a reply", []simulator.Choice{start, arrive, faults.DelayOf(1, 0, 2*sec)}, "0s n1 1", "2s:1"},
		{"a reply, for longer", []simulator.Choice{start, arrive, faults.DelayOf(1, 0, 5*sec)}, "0s n1 1", "3s:read tcp: i/o timeout"},
		{"both ways", []simulator.Choice{start, faults.DelayOf(1, 0, sec), pass(sec), arrive, faults.DelayOf(1, 0, sec)}, "1s n1 1", "2s:1"},
		{"a request of somebody who dies", []simulator.Choice{start, faults.DelayOf(1, 0, 2*sec), faults.CrashOf(1)}, "2s n1 1", ""},
		{"a reply that is lost after all", []simulator.Choice{start, arrive, faults.DelayOf(1, 0, sec), faults.LoseReplyTo(1, 0)}, "0s n1 1", "3s:read tcp: i/o timeout"},
		{"a connection that breaks", []simulator.Choice{start, faults.DelayOf(1, 0, 2*sec), faults.RestartOf(1)}, "", "0s:read tcp: connection reset by peer"},
	} {
		s := parted(t, simulator.NodeConfig{}, client)
		s.step(test.choices...)
		s.run(8 * sec)
		notes := s.notes()
		if notes != test.want {
			t.Errorf("%s: the program told %q, want %q", test.name, notes, test.want)
		}
		if got := s.server(); got != test.server {
			t.Errorf("%s: the server's data: %q, want %q", test.name, got, test.server)
		}
	}
}

// A delayed write reaches the resource after a later one.
func TestDelayedWrite(t *testing.T) {
	write := func(c *simulator.Client) { _ = c.Write(0, uint64(c.ID())) }
	s := parted(t, simulator.NodeConfig{}, write, write)
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.DelayOf(1, 0, sec), simulator.Choice{Verb: simulator.Start, Client: 2}, simulator.Choice{Verb: simulator.Arrive, Client: 2}, pass(sec), simulator.Choice{Verb: simulator.Arrive, Client: 1})
	var order []int
	for _, e := range s.told {
		switch e.Kind {
		case history.Write:
			order = append(order, e.Client)
		case history.Delay:
			if e.Note != "request" || e.D != sec || e.Node != history.Resource || e.Msg == 0 {
				t.Errorf("told %+v", e)
			}
		}
	}
	if !slices.Equal(order, []int{2, 1}) {
		t.Errorf("the resource was written by %v, want 2 and then 1", order)
	}
}

// fsync is the choice by which the disk of server 1, which has so many replicas,
// catches up.
func fsync(replicas int8) simulator.Choice {
	return simulator.Choice{Verb: simulator.Replicate, Node: 1, Thread: replicas}
}

// TestRestartAfter: while a server is down, connections to it break, and its keys stay as
// they were; when it is back it has what it kept, and what has expired meanwhile is gone.
func TestRestartAfter(t *testing.T) {
	asker := func(c *simulator.Client) {
		do(c, 1, "SET", "short", "x", "PX", 2500)
		do(c, 1, "SET", "long", "x", "PX", 9000)
		for range 4 {
			c.Clock().Sleep(sec)
			do(c, 1, "EXISTS", "short", "long")
		}
	}
	const broken = "read tcp: connection reset by peer"
	for aof, want := range map[simulator.AOF]string{
		simulator.Always:      "0s:OK 0s:OK 1s:" + broken + " 2s:" + broken + " 3s:" + broken + " 4s:1",
		simulator.NoAOF:       "0s:OK 0s:OK 1s:" + broken + " 2s:" + broken + " 3s:" + broken + " 4s:0",
		simulator.EverySecond: "0s:OK 0s:OK 1s:" + broken + " 2s:" + broken + " 3s:" + broken + " 4s:0",
	} {
		s := parted(t, simulator.NodeConfig{Replicas: 1, AOF: aof}, asker)
		s.run(sec / 2)
		s.step(faults.RestartAfter(1, 3*sec))
		if !s.world.Down(1) {
			t.Error("it is not down")
		}
		if s.world.Behind(1) {
			enabled := s.sim.Enabled(&s.world, nil)
			for _, c := range enabled {
				if c.Verb == simulator.Replicate {
					t.Errorf("%s while it is down", s.sim.Describe(c))
				}
			}
		}
		s.told = s.told[:len(s.told)-1]
		notes := s.told
		s.run(3400 * time.Millisecond)
		if n := s.count(history.Up) + s.count(history.Expire); n != 0 {
			t.Errorf("%v: it did %d things while it was down", aof, n)
		}
		s.run(5 * sec)
		s.wantNotes(want)
		if s.world.Down(1) || s.count(history.Up) != 1 {
			t.Errorf("it came back %d times", s.count(history.Up))
		}
		for _, e := range s.told[len(notes):] {
			if (e.Kind == history.Up || e.Kind == history.Expire) && e.At != 3500*time.Millisecond {
				t.Errorf("%v at %v, want 3.5s", e.Kind, e.At)
			}
		}
		if n := s.count(history.Expire); (n == 1) != (aof == simulator.Always) {
			t.Errorf("AOF %d: %d keys expired", aof, n)
		}
	}
}

// A server that is down can be replaced; it cannot crash again, or be split.
func TestDownAndFailover(t *testing.T) {
	asker := func(c *simulator.Client) {
		do(c, 1, "SET", "k", "x")
		c.Clock().Sleep(sec)
		do(c, 1, "GET", "k")
	}
	s := parted(t, simulator.NodeConfig{Replicas: 2}, asker)
	s.settleNoReplica()
	s.step(caughtUp(1), faults.RestartAfter(1, time.Hour))
	for _, c := range []simulator.Choice{faults.RestartOf(1), faults.SplitOf(1, 1, 0), caughtUp(1)} {
		if _, err := s.sim.Step(&s.world, c); err == nil {
			t.Errorf("%s happened to a server that is down", s.sim.Describe(c))
		}
	}
	s.step(faults.FailoverTo(1, 1))
	if s.world.Down(1) {
		t.Error("it is down after a failover")
	}
	s.run(2 * sec)
	s.wantNotes("0s:OK 1s:x")
	if n := s.count(history.Up); n != 0 {
		t.Errorf("the old master came back %d times", n)
	}
}

// A late request to a server that is down is lost.
func TestOrphanedRequestToWhoIsDown(t *testing.T) {
	s := parted(t, simulator.NodeConfig{AOF: simulator.Always}, func(c *simulator.Client) { do(c, 1, "INCR", "n") })
	s.step(faults.RestartAfter(1, sec), simulator.Choice{Verb: simulator.Start, Client: 1}, faults.CrashOf(1), simulator.Choice{Verb: simulator.Orphaned, Client: 1}, pass(sec))
	if n := s.count(history.Apply); n != 0 {
		t.Errorf("%d requests were executed", n)
	}
}

// The disk of a new master has the data of the new master.
func TestDiskOfANewMaster(t *testing.T) {
	for _, strike := range []simulator.Choice{faults.FailoverOf(1), faults.SplitOf(2, 1, 0)} {
		s := parted(t, simulator.NodeConfig{Replicas: 1, AOF: simulator.EverySecond},
			func(c *simulator.Client) { do(c, 1, "SET", "k", "x"); c.Clock().Sleep(time.Hour) }, func(*simulator.Client) {})
		s.settleNoReplica()
		s.step(fsync(1), strike) // the replica has heard of nothing
		s.told = nil
		s.step(faults.RestartOf(1))
		if got := s.changes(); len(got) != 0 {
			t.Errorf("after %s and a crash: %s", s.sim.Describe(strike), fmt.Sprint(got))
		}
	}
}
