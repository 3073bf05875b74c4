package simulator_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/zookeeper"
)

// TestLimits: where a simulator reaches one of its limits, a search ends as incomplete,
// with the reason, and a run ends with an error. Nothing is left out silently.
func TestLimits(t *testing.T) {
	many := func(n int, command string) string { return strings.Repeat(command+"; ", n) }
	for _, test := range []struct {
		want    string
		nodes   []simulator.NodeConfig
		program func(*simulator.Client)
		budget  faults.Budget
		freeze  bool // requests never arrive
		strike  simulator.Choice
		ids     int
	}{
		{want: "more than 4 timers at once", program: func(c *simulator.Client) {
			for range simulator.MaxThreads {
				c.Clock().AfterFunc(sec, func() {})
			}
		}},
		{want: "6 tasks at once", program: func(c *simulator.Client) {
			c.Parallel(slices.Repeat([]func(){func() { do(c, 1, "PING") }}, 6)...)
		}},
		{want: "two threads wait for watches of one ZooKeeper session",
			nodes: one(simulator.NodeConfig{Session: 10 * sec}),
			program: func(c *simulator.Client) {
				await := func() func() {
					_, w, _ := c.ZooKeeper().Watch(zookeeper.Request{Op: zookeeper.Exists, Path: "/a"})
					return func() { _, _ = w.Wait(sec) }
				}
				create := func() { _, _ = c.ZooKeeper().Do(zookeeper.Request{Op: zookeeper.Create, Path: "/a"}) }
				c.Parallel(await(), await(), create)
			}},
		{want: "reads its clock 10000 times on end", program: func(c *simulator.Client) {
			for {
				c.Clock().Now()
			}
		}},
		{want: "more than 4 keys with a time to live",
			program: does("SET a x EX 1; SET b x EX 1; SET c x EX 1; SET d x EX 1; SET e x EX 1")},
		{want: "more than 20 requests are under way", program: does(many(21, "INCR n")), budget: "hang=1@10m",
			freeze: true},
		{want: "more than 128 messages wait for one subscriber",
			program: does("subscribe; hear; " + many(129, "PUBLISH news x"))},
		{want: "of 5 would need a number", program: does(many(3, "PING")), budget: "split=1",
			nodes: slices.Repeat(replicas(1), 5), strike: faults.SplitOf(1, 4, 0)},
		{want: "the lab has numbers for 30 ", program: does(many(100, "APPEND k x")), ids: 30},
	} {
		t.Run(test.want, func(t *testing.T) {
			allowed, err := test.budget.Parse()
			if err != nil {
				t.Fatal(err)
			}
			sim := func() *simulator.Simulator {
				clients := []simulator.ClientConfig{{Program: test.program}}
				s := newStage(t, simulator.Config{Clients: clients, Nodes: test.nodes, Faults: allowed})
				simulator.SetMaxOrphans(s.sim, 20) // or the search takes half a minute
				if test.ids > 0 {
					simulator.SetIDs(s.sim, test.ids)
				}
				return s.sim
			}
			about := history.History{Clients: 1, Nodes: max(len(test.nodes), 1), Key: "k"}
			r, err := explore.Exhaust(t.Context(), sim(), explore.Options{Case: about})
			if err != nil {
				t.Fatal(err)
			}
			if r.Complete || !strings.Contains(text.SayMessage("en", r.Limit), test.want) {
				t.Errorf("the search is complete: %v, and says %q", r.Complete, r.Limit)
			}
			script := func(s *schedule.Stage, e *history.Event) {
				if e.Kind == history.Send && test.freeze {
					s.Freeze(1)
				}
				if e.Kind == history.Send && test.strike.Verb != 0 {
					s.Inject(0, test.strike)
				}
			}
			_, err = schedule.NewPlayer(sim()).Play(schedule.Conditions{Latency: time.Millisecond, Horizon: time.Hour,
				Script: script})
			limit := (*simulator.LimitError)(nil)
			if !errors.As(err, &limit) || !strings.Contains(text.SayMessage("en", limit.What), test.want) {
				t.Errorf("played: %v", err)
			}
		})
	}
}

// TestNoMemo compares the tables with the simple implementation: after the same choices
// both show the same world.
func TestNoMemo(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine steps")
	const seeds, choices = 15, 160
	all := casts(t)
	all["ensemble"] = zoo()
	for name, setup := range all {
		t.Run(name, func(t *testing.T) {
			seen := map[history.EventKind]bool{}
			dumb := simulator.MustLab(t, setup)
			simulator.NoMemo(dumb)
			clever := simulator.MustLab(t, setup)
			for seed := range uint64(seeds) {
				rng := rand.New(rand.NewPCG(seed, 0))
				w, v := clever.NewWorld(), dumb.NewWorld()
				var a, b []simulator.Choice
				walk(rng, clever, &w, choices, func(c simulator.Choice, s step) {
					for _, e := range s.events {
						seen[e.Kind] = true
					}
					again(t, dumb, &v, []simulator.Choice{c}, []step{s})
					a, b = clever.Enabled(&w, a[:0]), dumb.Enabled(&v, b[:0])
					if !slices.Equal(a, b) {
						t.Fatalf("seed %d, after %s: enabled is\n%v, without tables\n%v",
							seed, clever.Describe(c), a, b)
					}
				})
			}
			// Without these, the walks did not reach the cases in which tables could be
			// wrong.
			kinds := []history.EventKind{history.Failover, history.Replicate, history.ClockStep}
			if name == "ensemble" {
				kinds = []history.EventKind{history.SessionEnd, history.Fire, history.Reconnect, history.Broken,
					history.Expire}
			}
			for _, k := range append(kinds, history.Answer, history.Timeout, history.Crash, history.Pause) {
				if !seen[k] {
					t.Errorf("no walk has seen %v", k)
				}
			}
			if clever.Executions(1) >= dumb.Executions(1) {
				t.Errorf("c1's code was run %d times with tables, %d times without",
					clever.Executions(1), dumb.Executions(1))
			}
		})
	}
}

// TestWarmAndClearedTables plays the same choices with tables that contain the run, that
// contain other runs, and that were cleared in between.
func TestWarmAndClearedTables(t *testing.T) {
	const seeds, choices = 6, 300
	for name, setup := range casts(t) {
		t.Run(name, func(t *testing.T) {
			l := simulator.MustLab(t, setup)
			var runs [seeds][]simulator.Choice
			var steps [seeds][]step
			for seed := range runs {
				runs[seed], steps[seed] = run(rand.New(rand.NewPCG(uint64(seed), 1)), l, choices)
			}
			size, w := l.Size(), l.NewWorld()
			for _, how := range []string{"warm", "cleared"} {
				if how == "cleared" {
					simulator.SetLimit(l, 0)
				}
				for seed := range runs {
					ran := l.Executions(1) + l.Executions(2)
					old := w
					if w = l.NewWorld(); how == "cleared" {
						_, err := l.Step(&old, runs[seed][0])
						if err == nil || !strings.Contains(err.Error(), "emptied") {
							t.Errorf("seed %d: a step in a world of tables that were cleared: %v", seed, err)
						}
					}
					again(t, l, &w, runs[seed], steps[seed])
					switch cleared := how == "cleared"; {
					case !cleared && l.Size() != size:
						t.Errorf("seed %d: warm tables grew from %d to %d entries", seed, size, l.Size())
					case !cleared && l.Executions(1)+l.Executions(2) != ran:
						t.Errorf("seed %d: code ran although the tables know all", seed)
					case cleared && l.Size() >= size:
						t.Errorf("seed %d: %d entries of %d are left", seed, l.Size(), size)
					}
				}
			}
		})
	}
}
