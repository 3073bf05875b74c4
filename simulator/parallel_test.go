package simulator_test

import (
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
)

// joiner asks two servers at once, reads its clock in both tasks, and starts parallel
// requests again inside one of them.
func joiner(c *simulator.Client) {
	for i := range 3 {
		c.Parallel(
			func() { do(c, 1, "INCR", "n"); c.Clock().Now() },
			func() {
				c.Clock().Now()
				c.Parallel(
					func() { do(c, 2, "INCR", "n") },
					func() { do(c, 1, "PTTL", "n"); c.Clock().Sleep(time.Duration(i) * 100 * time.Millisecond) })
			},
			func() { c.Clock().Now(); do(c, 2, "SET", "a", c.Token(), "PX", 900) })
		do(c, 1, "GET", "n")
	}
}

func TestParallel(t *testing.T) {
	sleep := func(c *simulator.Client, s time.Duration) func() {
		return func() { c.Clock().Sleep(s * sec); note(c, int(s)) }
	}
	for _, test := range []struct {
		name    string
		program func(*simulator.Client)
		want    string
	}{
		{"the caller's is the first to end", func(c *simulator.Client) { c.Parallel(sleep(c, 1), sleep(c, 3), sleep(c, 2)) }, "1s:1 2s:2 3s:3 3s:joined"},
		{"the caller's is the last to end", func(c *simulator.Client) { c.Parallel(sleep(c, 3), sleep(c, 1)) }, "1s:1 3s:3 3s:joined"},
		{"all end at one time", func(c *simulator.Client) { c.Parallel(sleep(c, 2), sleep(c, 2), sleep(c, 2)) }, "2s:2 2s:2 2s:2 2s:joined"},
		{"none asks for anything", func(c *simulator.Client) {
			c.Parallel(func() { note(c, "a") }, func() { note(c, "b") })
		}, "0s:a 0s:b 0s:joined"},
		{"one task", func(c *simulator.Client) { c.Parallel(sleep(c, 1)) }, "1s:1 1s:joined"},
		{"no task", func(c *simulator.Client) { c.Parallel() }, "0s:joined"},
		{"one after the other", func(c *simulator.Client) {
			for range 3 {
				c.Parallel(sleep(c, 1), sleep(c, 2), sleep(c, 1), sleep(c, 1), sleep(c, 1))
			}
		}, "1s:1 1s:1 1s:1 1s:1 2s:2 3s:1 3s:1 3s:1 3s:1 4s:2 5s:1 5s:1 5s:1 5s:1 6s:2 6s:joined"},
		{"one within the other", func(c *simulator.Client) {
			c.Parallel(sleep(c, 1), func() { c.Parallel(sleep(c, 4), sleep(c, 2)); note(c, "inner") }, sleep(c, 3))
		}, "1s:1 2s:2 3s:3 4s:4 4s:inner 4s:joined"},
		{"all read the clock", func(c *simulator.Client) {
			now := func() { note(c, c.Clock().Now().Sub(simulator.Epoch)) }
			c.Parallel(now, now, func() { c.Clock().Sleep(sec); now() })
		}, "0s:0s 0s:0s 1s:1s 1s:joined"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solo(t, func(c *simulator.Client) { test.program(c); note(c, "joined") })
			s.settle(20 * sec)
			s.wantNotes(test.want)
			if !s.sim.Quiet(&s.world) {
				t.Error("something is left")
			}
		})
	}
}

// A crash ends the tasks with their caller; requests that they have sent may still
// arrive.
func TestParallelCrashes(t *testing.T) {
	s := newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: joiner}}, Nodes: make([]simulator.NodeConfig, 2), Faults: budget(t),
	})
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.CrashOf(1))
	late := 0
	for _, c := range s.sim.Enabled(&s.world, nil) {
		if c.Verb == simulator.Orphaned {
			late++
		}
	}
	if late != 4 || !s.sim.Quiet(&s.world) {
		t.Errorf("%d requests of the dead are under way, want 4", late)
	}
}
