package simulator_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
)

// TestNoMemo compares the tables with the simple implementation: after the same choices
// both show the same world.
func TestNoMemo(t *testing.T) {
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
