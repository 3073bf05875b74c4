package simulator_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
)

// rebuilt splits a world into parts and assembles it at another time.
func rebuilt(l *simulator.Simulator, w *simulator.World, now time.Duration) simulator.World {
	v := l.Parts().World(now)
	for c := range l.Config().Clients {
		part := l.Parts().Client(w, c+1)
		v.SetClientPart(c+1, &part)
	}
	for n := range l.Config().Nodes {
		part := l.Parts().Node(w, n+1)
		l.Parts().SetNode(&v, n+1, &part)
	}
	rest := l.Parts().Rest(w)
	l.Parts().SetRest(&v, &rest)
	return v
}

// told is a step without what parts omit on purpose: the numbers of messages, the time,
// and what clocks show that nobody reads.
func told(l *simulator.Simulator, s step, now time.Duration) step {
	for i := range s.events {
		e := &s.events[i]
		e.Msg, e.At = 0, e.At-now
		if !l.Traits().ReadsClock {
			e.Skew = 0
		}
		if e.Until != 0 && e.Until != history.Forever {
			e.Until -= now
		}
	}
	return s
}

// TestParts: the parts of a world contain all of it. The assembled world has the same
// futures, and, if no code reads a clock, at any time of day.
func TestParts(t *testing.T) {
	effort.Unwatched(t, "one goroutine steps")
	const seeds, choices = 8, 160
	for name, setup := range casts(t) {
		for _, elsewhen := range []bool{false, true} {
			setup, how := setup, "now"
			if elsewhen {
				setup, how = rightClocks(setup), "elsewhen"
			}
			t.Run(name+" "+how, func(t *testing.T) {
				l := simulator.MustLab(t, setup)
				seen := map[simulator.Verb]bool{}
				for seed := range uint64(seeds) {
					rng := rand.New(rand.NewPCG(seed, 4))
					w := l.NewWorld()
					var a, b []simulator.Choice
					walk(rng, l, &w, choices, func(simulator.Choice, step) {
						if rng.IntN(4) > 0 || elsewhen && l.Traits().ReadsClock {
							return
						}
						now := w.Now()
						if elsewhen {
							now = time.Hour
						}
						v := rebuilt(l, &w, now)
						a, b = l.Enabled(&w, a[:0]), l.Enabled(&v, b[:0])
						there := func(c simulator.Choice) simulator.Choice { return inPart(t, l, &w, c) }
						if !slices.Equal(sorted(a, there), b) {
							t.Fatalf("seed %d: enabled is\n%v, put together again\n%v", seed, a, b)
						}
						for _, c := range a {
							seen[c.Verb] = true
							x, y := w, v
							got, want := told(l, take(l, &y, there(c)), now), told(l, take(l, &x, c), w.Now())
							if !reflect.DeepEqual(got, want) {
								t.Fatalf("seed %d, %s: put together again it comes to\n%+v, and else to\n%+v",
									seed, l.Describe(c), got, want)
							}
							if elsewhen && l.Traits().ReadsClock {
								return
							}
							if now := x.Now(); rebuilt(l, &x, now) != rebuilt(l, &y, now) {
								t.Fatalf("seed %d, %s: put together again it leads to\n%+v\nand else to\n%+v",
									seed, l.Describe(c), rebuilt(l, &y, 0), rebuilt(l, &x, 0))
							}
						}
					})
				}
				if !elsewhen && !seen[simulator.Replicate] {
					t.Error("no walk had a replica to catch up")
				}
			})
		}
	}
}

// inPart is a choice of w in w put together again, where late requests stand in
// an order of their own.
func inPart(t *testing.T, l *simulator.Simulator, w *simulator.World, c simulator.Choice) simulator.Choice {
	if c.Verb == simulator.Orphaned {
		place, err := l.Parts().PlaceInPart(w, int(c.Thread))
		if err != nil {
			t.Fatal(err)
		}
		c.Thread = int8(place)
	}
	return c
}

// sorted is a list of choices, seen otherwise, with late requests in order of their
// places.
func sorted(list []simulator.Choice, as func(simulator.Choice) simulator.Choice) (out []simulator.Choice) {
	for _, c := range list {
		out = append(out, as(c))
	}
	slices.SortStableFunc(out, func(a, b simulator.Choice) int {
		if a.Verb == simulator.Orphaned && b.Verb == simulator.Orphaned {
			return int(a.Thread - b.Thread)
		}
		return 0 // they stand in one row, between others
	})
	return out
}

// rightClocks is the same cast, where all clocks go alike.
func rightClocks(s simulator.Config) simulator.Config {
	s.Clients, s.Nodes = slices.Clone(s.Clients), slices.Clone(s.Nodes)
	for i := range s.Clients {
		s.Clients[i].Offset, s.Clients[i].PPM = 0, 0
	}
	for i := range s.Nodes {
		s.Nodes[i].Offset, s.Nodes[i].PPM = 0, 0
	}
	return s
}
