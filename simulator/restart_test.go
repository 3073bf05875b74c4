package simulator_test

import (
	"fmt"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

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
