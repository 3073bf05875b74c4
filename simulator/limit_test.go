package simulator_test

import (
	"context"
	"errors"
	"fmt"
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
	"locklab/simulator/redisnode"
	"locklab/simulator/schedule"
	"locklab/simulator/zookeeper"
)

// TestLimits: where a simulator reaches one of its limits, a search ends as incomplete,
// with the reason, and a run ends with an error. Nothing is left out silently.
func TestLimits(t *testing.T) {
	many := func(n int, args ...any) func(*simulator.Client) {
		return func(c *simulator.Client) {
			for range n {
				do(c, 1, args...)
			}
		}
	}
	redises := func(n int, s simulator.NodeConfig) []simulator.NodeConfig {
		return slices.Repeat([]simulator.NodeConfig{s}, n)
	}
	for _, test := range []struct {
		name    string
		want    string
		budget  string
		nodes   []simulator.NodeConfig
		program func(*simulator.Client)
		freeze  bool // requests never arrive
		strike  simulator.Choice
		ids     int
	}{
		{name: "timers", want: "more than 4 timers at once", program: func(c *simulator.Client) {
			for range simulator.MaxThreads {
				c.Clock().AfterFunc(sec, func() {})
			}
		}},
		{name: "tasks", want: "6 tasks at once", program: func(c *simulator.Client) {
			c.Parallel(slices.Repeat([]func(){func() { do(c, 1, "PING") }}, 6)...)
		}},
		{name: "threads on one watch", want: "two threads wait for watches of one ZooKeeper session", nodes: []simulator.NodeConfig{{Session: 10 * sec}}, program: func(c *simulator.Client) {
			await := func() func() {
				_, w, _ := c.ZooKeeper().Watch(zookeeper.Request{Op: zookeeper.Exists, Path: "/a"})
				return func() { _, _ = w.Wait(sec) }
			}
			c.Parallel(await(), await(), func() { _, _ = c.ZooKeeper().Do(zookeeper.Request{Op: zookeeper.Create, Path: "/a"}) })
		}},
		{name: "keys that expire", want: "more than 4 keys with a time to live", program: func(c *simulator.Client) {
			for i := range redisnode.MaxKeys + 1 {
				c.Redis(1).Set(context.Background(), fmt.Sprint("k", i), 1, sec)
			}
		}},
		{name: "late requests", want: "more than 20 requests are under way", budget: "hang=1@10m", program: many(21, "INCR", "n"), freeze: true},
		{name: "messages for a subscriber", want: "more than 128 messages wait for one subscriber", program: func(c *simulator.Client) {
			s := c.Redis(1).Subscribe(context.Background(), "news")
			_, _ = s.Receive(context.Background())
			many(129, "PUBLISH", "news", "x")(c)
		}},
		{name: "readings of a clock", want: "reads its clock 10000 times on end", program: func(c *simulator.Client) {
			for {
				c.Clock().Now()
			}
		}},
		{name: "old masters", want: "of 5 would need a number", budget: "split=1", nodes: redises(5, simulator.NodeConfig{Replicas: 1}),
			program: many(3, "PING"), strike: faults.SplitOf(1, 4, 0)},
		{name: "entries of a table", want: "the lab has numbers for 30 ", program: func(c *simulator.Client) {
			for i := range 100 {
				do(c, 1, "SET", "k", i)
			}
		}, ids: 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			sim := func() *simulator.Simulator {
				setup := simulator.Config{Clients: []simulator.ClientConfig{{Program: test.program}}, Nodes: test.nodes}
				if setup.Nodes == nil {
					setup.Nodes = redises(1, simulator.NodeConfig{})
				}
				var err error
				if setup.Faults, err = faults.Budget(test.budget).Parse(); err != nil {
					t.Fatal(err)
				}
				l := simulator.MustLab(t, setup)
				simulator.SetMaxOrphans(l, 20) // or the search takes half a minute
				if test.ids > 0 {
					simulator.SetIDs(l, test.ids)
				}
				return l
			}
			limit := (*simulator.LimitError)(nil)
			r, err := explore.Exhaust(context.Background(), sim(), explore.Options{Case: history.History{Clients: 1, Nodes: max(len(test.nodes), 1), Key: "k"}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Complete || !strings.Contains(text.SayMessage("en", r.Limit), test.want) {
				t.Errorf("the search is complete: %v, and says %q; want %q", r.Complete, r.Limit, test.want)
			}

			_, err = schedule.NewPlayer(sim()).Play(schedule.Conditions{Latency: time.Millisecond, Horizon: time.Hour, Script: func(s *schedule.Stage, e *history.Event) {
				if e.Kind == history.Send && test.freeze {
					s.Freeze(1)
				}
				if e.Kind == history.Send && test.strike.Verb != 0 {
					s.Inject(0, test.strike)
				}
			}})
			if !errors.As(err, &limit) || !strings.Contains(text.SayMessage("en", limit.What), test.want) {
				t.Errorf("played: %v, want %q", err, test.want)
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
						t.Fatalf("seed %d, after %s: enabled is\n%v, without tables\n%v", seed, clever.Describe(c), a, b)
					}
				})
			}
			// Without these, the walks did not reach the cases in which tables could be
			// wrong.
			kinds := []history.EventKind{history.Failover, history.Replicate, history.ClockStep}
			if name == "ensemble" {
				kinds = []history.EventKind{history.SessionEnd, history.Fire, history.Reconnect, history.Broken, history.Expire}
			}
			for _, k := range append(kinds, history.Answer, history.Timeout, history.Crash, history.Pause) {
				if !seen[k] {
					t.Errorf("no walk has seen %v", k)
				}
			}
			if clever.Executions(1) >= dumb.Executions(1) {
				t.Errorf("c1's code was run %d times with tables, %d times without", clever.Executions(1), dumb.Executions(1))
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
						if _, err := l.Step(&old, runs[seed][0]); err == nil || !strings.Contains(err.Error(), "emptied") {
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
