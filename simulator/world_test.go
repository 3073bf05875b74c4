package simulator_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// TestWorldIsAValue copies a world, plays on, plays something else from the copy, and
// comes back: a step in one world changes no other. A link has what was played.
func TestWorldIsAValue(t *testing.T) {
	all := casts(t)
	all["ensemble"] = zoo()
	for name, setup := range all {
		t.Run(name, func(t *testing.T) {
			l, rng := simulator.MustLab(t, setup), rand.New(rand.NewPCG(7, 7))
			w := l.NewWorld()
			walk(rng, l, &w, 25, func(simulator.Choice, step) {})
			kept := w
			type branch struct {
				choices []simulator.Choice
				steps   []step
				end     simulator.World
			}
			branches := make([]branch, 4)
			for i := range branches {
				b := &branches[i]
				b.end = kept
				walk(rng, l, &b.end, 60, func(c simulator.Choice, s step) {
					b.choices, b.steps = append(b.choices, c),
						append(b.steps, s)
				})
			}
			for i, b := range branches {
				back := kept
				again(t, l, &back, b.choices, b.steps)
				if kept != w || back != b.end {
					t.Errorf("branch %d ends in another world when it is taken again, or has changed the one that "+
						"it began in", i)
				}
				trace := simulator.Trace{Lock: name, Settings: "锁=\x00", Choices: b.choices}
				read, err := simulator.ParseLink(" " + trace.Link() + "\n")
				if err != nil || !reflect.DeepEqual(read, trace) {
					t.Errorf("branch %d becomes %+v by its link: %v", i, read, err)
				}
			}
		})
	}
}

// TestWorldSize limits the size of a state, which a search pays for.
func TestWorldSize(t *testing.T) {
	size := unsafe.Sizeof(simulator.World{})
	t.Logf("a World has %d bytes", size)
	if size > 3456 {
		t.Errorf("a World has %d bytes: with more than 3456 it is of the next size class, and makes a search slow",
			size)
	}
}

// TestEnabledCanBeStepped makes every choice that is ever enabled, in the world in which
// it is. Only the code of a client could refuse it.
func TestEnabledCanBeStepped(t *testing.T) {
	effort.Unwatched(t, "one goroutine steps")
	for name, setup := range casts(t) {
		t.Run(name, func(t *testing.T) {
			l := simulator.MustLab(t, setup)
			verbs := map[simulator.Verb]bool{}
			for seed := range uint64(12) {
				w := l.NewWorld()
				var enabled []simulator.Choice
				walk(rand.New(rand.NewPCG(seed, 2)), l, &w, 120, func(simulator.Choice, step) {
					enabled = l.Enabled(&w, enabled[:0])
					for _, c := range enabled {
						v := w
						_, err := l.Step(&v, c)
						if err != nil && strings.Contains(text.SayError("en", err), "timers at once") {
							continue // no walk can be sure that threads end in time for new ones
						} else if err != nil {
							t.Fatalf("seed %d: %s is enabled: %v", seed, l.Describe(c), err)
						}
						if v == w {
							t.Fatalf("seed %d: %s did nothing", seed, l.Describe(c))
						}
						verbs[c.Verb] = true
					}
				})
			}
			for v := simulator.Pass; v <= simulator.Start; v++ {
				if !verbs[v] {
					t.Errorf("%v was never enabled", simulator.Choice{Verb: v})
				}
			}
		})
	}
}

// TestWhatIsNotEnabled tries every verb with every target, in many worlds. A choice that
// is refused changes nothing; one that is accepted is listed by Enabled, or differs from
// a listed one in a length.
func TestWhatIsNotEnabled(t *testing.T) {
	effort.Unwatched(t, "one goroutine steps")
	setup := casts(t)["timers"]
	l := simulator.MustLab(t, setup)
	numbers := []int8{math.MinInt8, -1, 0, 1, 2, 3, simulator.MaxThreads, simulator.MaxClients, simulator.MaxOrphans,
		math.MaxInt8}
	refused := map[simulator.Verb]int{}
	w := l.NewWorld()
	met := 0
	walk(rand.New(rand.NewPCG(3, 3)), l, &w, 60, func(simulator.Choice, step) {
		if met++; met%6 != 0 {
			return // enough worlds; there are thousands of choices to try in each
		}
		enabled := map[simulator.Choice]bool{}
		for _, c := range l.Enabled(&w, nil) {
			c.D = 0
			enabled[c] = true
		}
		for _, r := range l.OrphanedRequests(&w, nil) { // of equal ones the first stands for all
			enabled[r.Choice] = true
		}
		for verb := range simulator.Verb(simulator.FaultVerb + 12) {
			for _, n := range numbers {
				for _, m := range numbers {
					for _, c := range []simulator.Choice{
						{Verb: verb, Client: n, Thread: m}, {Verb: verb, Node: n, Thread: m},
						{Verb: verb, Node: n, D: -1}, {Verb: verb, Client: n, D: math.MinInt64},
					} {
						if tryChoice(t, l, w, c) {
							refused[verb]++
							continue
						}
						c.D = 0
						ordinary := verb < simulator.FaultVerb && verb != simulator.Pass
						if ordinary && !enabled[trimmed(c)] {
							t.Fatalf("%s happened and was not enabled", l.Describe(c))
						}
					}
				}
			}
		}
	})
	for verb := range simulator.Verb(simulator.FaultVerb + 12) {
		if refused[verb] == 0 {
			t.Errorf("verb %d was never refused", verb)
		}
	}
}

// trimmed is c without the fields that its verb does not look at.
func trimmed(c simulator.Choice) simulator.Choice {
	switch c.Verb {
	case simulator.Replicate:
		return simulator.Choice{Verb: c.Verb, Node: c.Node, Thread: c.Thread}
	case simulator.Heal:
		return simulator.Choice{Verb: c.Verb, Node: c.Node}
	case simulator.Resume:
		return simulator.Choice{Verb: c.Verb, Client: c.Client}
	}
	c.Node = 0
	return c
}

// tryChoice says whether c is refused in w, and checks the error.
func tryChoice(t *testing.T, l *simulator.Simulator, w simulator.World, c simulator.Choice) (refused bool) {
	t.Helper()
	v := w
	events, err := l.Step(&v, c)
	if err == nil {
		return false
	}
	var not *simulator.NotEnabledError
	if !errors.As(err, &not) {
		t.Fatalf("%s: %v is no NotEnabledError", l.Describe(c), err)
	}
	if v != w {
		t.Fatalf("%s was refused and changed the world", l.Describe(c))
	}
	if len(events) != 0 {
		t.Fatalf("%s was refused and told %v", l.Describe(c), events)
	}
	if not.At != w.Now() || not.Choice != l.Describe(c) || not.Why.IsZero() {
		t.Fatalf("%s was refused at %v with %+v", l.Describe(c), w.Now(), not)
	}
	return true
}

// TestRefusals checks the text of the errors.
func TestRefusals(t *testing.T) {
	sleeper := func(c *simulator.Client) { do(c, 1, "PING"); c.Clock().Sleep(time.Second) }
	l := simulator.MustLab(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: sleeper}, {Program: sleeper}},
		Nodes:   []simulator.NodeConfig{{}}, Faults: budget(t),
	})
	w := l.NewWorld()
	mustStep := func(cs ...simulator.Choice) {
		t.Helper()
		for _, c := range cs {
			if _, err := l.Step(&w, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	type C = simulator.Choice
	refuse := func(c C, why string) {
		t.Helper()
		v := w
		_, err := l.Step(&v, c)
		var not *simulator.NotEnabledError
		if !errors.As(err, &not) || !strings.Contains(text.SayMessage("en", not.Why), why) {
			t.Errorf("%s: %v, want a refusal with %q", l.Describe(c), err, why)
		}
	}
	refuse(C{}, "no fault of this race")
	refuse(C{Verb: simulator.Pass}, "moves forward only")
	refuse(C{Verb: simulator.Pass, D: simulator.EndOfTime + 1}, "a world lasts")
	refuse(C{Verb: simulator.Arrive, Client: 1}, "no request is on the way")
	mustStep(C{Verb: simulator.Start, Client: 1})
	refuse(C{Verb: simulator.Start, Client: 1}, "has started")
	refuse(C{Verb: simulator.Start, Client: 9}, "no such client or thread")
	refuse(C{Verb: simulator.Answer, Client: 1}, "no reply is on the way")
	refuse(C{Verb: simulator.GiveUp, Client: 1}, "timed out")
	refuse(C{Verb: simulator.Wake, Client: 1}, "not time to wake")
	refuse(C{Verb: simulator.Pass, D: time.Hour}, "something is due before")
	refuse(C{Verb: simulator.Resume, Client: 1}, "no pause of this client ends now")
	refuse(C{Verb: simulator.Resume, Client: 3}, "no such client")
	refuse(C{Verb: simulator.Orphaned, Client: 1}, "no such request")
	refuse(C{Verb: simulator.Replicate, Node: 1}, "no such replica of this server is behind")
	mustStep(C{Verb: simulator.Pass, D: 800 * time.Millisecond}, faults.PauseOf(1, 0))
	refuse(C{Verb: simulator.Answer, Client: 1}, "the client is paused")
	mustStep(faults.CrashOf(1))
	refuse(C{Verb: simulator.Start, Client: 1}, "the client is dead")
	mustStep(C{Verb: simulator.Start, Client: 2}, C{Verb: simulator.Arrive, Client: 2},
		C{Verb: simulator.Answer, Client: 2}, C{Verb: simulator.Pass, D: time.Second})
	refuse(C{Verb: simulator.Pass, D: 1}, "something is due first")
}

// FuzzStep makes random choices in a world: the first byte selects one of locks, of
// subscribers, or of an ensemble. None may panic, and a refused choice leaves the world
// unchanged.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 9, 1, 0, 0, 0, 2, 1, 0, 0, 0, 3, 1, 0, 0, 0, 1, 0, 0, 0, 200})
	f.Add([]byte{0, 32, 1, 0, 0, 0, 33, 2, 0, 0, 3, 36, 1, 0, 0, 255, 37, 0, 0, 1, 129, 38, 0, 0, 1, 0, 39, 0, 0, 1, 0})
	f.Add([]byte{0, 7, 1, 255, 0, 0, 8, 0, 0, 128, 0, 5, 1, 3, 0, 0})
	f.Add([]byte{1, 9, 1, 0, 0, 0, 10, 1, 0, 0, 0, 5, 1, 0, 0, 0, 34, 1, 0, 0, 0, 43, 1, 0, 0, 0})
	f.Add([]byte{2, 9, 1, 0, 0, 0, 47, 1, 0, 0, 0, 13, 1, 0, 0, 0, 12, 1, 0, 0, 0, 12, 15, 15, 0, 0})
	var sims []*simulator.Simulator
	for _, setup := range []simulator.Config{casts(f)["watchdog"], {
		Clients: []simulator.ClientConfig{{Program: listener}, {Program: listener}},
		Nodes:   []simulator.NodeConfig{{Replicas: 1}}, Faults: budget(f),
	}, zoo()} {
		sims = append(sims, simulator.MustLab(f, setup))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		l := sims[int(b[0])%len(sims)]
		b = b[1:]
		w := l.NewWorld()
		for ; len(b) >= 5; b = b[5:] {
			c := simulator.Choice{Verb: simulator.Verb(b[0]), Client: int8(b[1]), Thread: int8(b[2]), Node: int8(b[3])}
			// from a nanosecond to centuries, either way
			if size := int8(b[4]); size > 0 {
				c.D = 1 << (size % 64)
			} else {
				c.D = -1 << (-int(size) % 64)
			}
			if tryChoice(t, l, w, c) {
				if enabled := l.Enabled(&w, nil); len(enabled) > 0 {
					c = enabled[int(b[4])%len(enabled)]
				}
			}
			before := w.Now()
			if _, err := l.Step(&w, c); err != nil && !errors.As(err, new(*simulator.NotEnabledError)) {
				t.Fatalf("%s: %v", l.Describe(c), err)
			}
			if w.Now() < before || w.Now() > simulator.EndOfTime {
				t.Fatalf("%s: time went from %v to %v", l.Describe(c), before, w.Now())
			}
		}
	})
}
