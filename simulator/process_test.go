package simulator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/history"
)

// note records what a test program observed.
func note(c *simulator.Client, v ...any) {
	c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(v...)})
}

// stage is a simulator with one world, driven choice by choice.
type stage struct {
	t     *testing.T
	sim   *simulator.Simulator
	world simulator.World
	told  []history.Event
}

func newStage(t *testing.T, s simulator.Config) *stage {
	if s.Nodes == nil {
		s.Nodes = []simulator.NodeConfig{{}}
	}
	st := &stage{t: t, sim: simulator.MustLab(t, s)}
	st.world = st.sim.NewWorld()
	return st
}

// solo is a stage with one client and every fault.
func solo(t *testing.T, program func(*simulator.Client)) *stage {
	return newStage(t, simulator.Config{Clients: []simulator.ClientConfig{{Program: program}}, Faults: budget(t)})
}

// step makes choices, each of which must be enabled.
func (s *stage) step(cs ...simulator.Choice) {
	s.t.Helper()
	for _, c := range cs {
		events, err := s.sim.Step(&s.world, c)
		if err != nil {
			s.t.Fatalf("%s: %v", s.sim.Describe(c), err)
		}
		s.told = append(s.told, events...)
	}
}

// notes are the notes of the programs, with the true time.
func (s *stage) notes() string {
	var out []string
	for _, e := range s.told {
		if e.Kind == history.Refuse {
			out = append(out, fmt.Sprintf("%v:%s", e.At, e.Note))
		}
	}
	return strings.Join(out, " ")
}

func (s *stage) wantNotes(want string) {
	s.t.Helper()
	if got := s.notes(); got != want {
		s.t.Errorf("the program told\n%s\nwant\n%s", got, want)
	}
}

// count is the number of events of kind k.
func (s *stage) count(k history.EventKind) (n int) {
	for _, e := range s.told {
		if e.Kind == k {
			n++
		}
	}
	return n
}

const sec = time.Second

func TestTimers(t *testing.T) {
	for _, test := range []struct {
		name    string
		program func(*simulator.Client)
		want    string
	}{
		{"stopped before", func(c *simulator.Client) {
			timer := c.Clock().AfterFunc(2*sec, func() { note(c, "fired") })
			c.Clock().Sleep(sec)
			note(c, timer.Stop(), timer.Stop())
			c.Clock().Sleep(2 * sec)
			note(c, "end")
		}, "1s:true false 3s:end"},
		{"stopped while its thread is under way", func(c *simulator.Client) {
			timer := c.Clock().AfterFunc(sec, func() { c.Clock().Sleep(2 * sec); note(c, "fired") })
			c.Clock().Sleep(2 * sec)
			note(c, timer.Stop())
		}, "2s:false 3s:fired"},
		{"stopped after another took its place", func(c *simulator.Client) {
			first := c.Clock().AfterFunc(sec, func() { note(c, "first") })
			c.Clock().Sleep(2 * sec)
			c.Clock().AfterFunc(sec, func() { note(c, "second") })
			note(c, first.Stop())
		}, "1s:first 2s:false 3s:second"},
		{"reset before, after, and after a stop", func(c *simulator.Client) {
			timer := c.Clock().AfterFunc(2*sec, func() { note(c, "fired") })
			c.Clock().Sleep(sec)
			note(c, timer.Reset(2*sec))
			c.Clock().Sleep(3 * sec)
			note(c, timer.Reset(sec))
			c.Clock().Sleep(2 * sec)
			note(c, timer.Stop(), timer.Reset(sec))
			c.Clock().Sleep(2 * sec)
		}, "1s:true 3s:fired 4s:false 5s:fired 6s:false false 7s:fired"},
		{"no length", func(c *simulator.Client) {
			c.Clock().AfterFunc(-sec, func() { note(c, "fired") })
			c.Clock().Sleep(0)
			note(c, "main")
		}, "0s:main 0s:fired"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solo(t, test.program)
			s.run(20 * sec)
			s.wantNotes(test.want)
			if !s.sim.Quiet(&s.world) {
				t.Error("somebody is still there")
			}
		})
	}
}

// TestBadPrograms: whatever client code does wrong, Step returns an error that names the
// client, and the world before the step can be used again.
func TestBadPrograms(t *testing.T) {
	for _, test := range []struct {
		name, want string
		program    func(*simulator.Client)
	}{
		{"panics", "c1 panicked: boom", func(c *simulator.Client) { do(c, 1, "PING"); panic("boom") }},
		{"panics in a timer", "c1 panicked: boom", func(c *simulator.Client) {
			c.Clock().AfterFunc(sec, func() { panic("boom") })
			c.Clock().Sleep(10 * sec)
		}},
		{"panics in one of several tasks", "c1 panicked: boom", func(c *simulator.Client) {
			c.Parallel(func() { c.Clock().Sleep(sec) }, func() { do(c, 1, "PING"); panic("boom") })
		}},
		{"no such server", "c1 panicked: there is no server 2: the setup has 1",
			func(c *simulator.Client) { do(c, 2, "SET", "a", 1) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solo(t, test.program)
			for range 2 { // the second time its code stands nowhere and is run anew
				w := s.sim.NewWorld()
				var err error
				for range 10 {
					if _, err = s.sim.Step(&w, s.sim.Enabled(&w, nil)[0]); err != nil {
						break
					}
				}
				if err == nil || !strings.Contains(text.SayError("en", err), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
			}
		})
	}
}

// counter is state outside the simulator, which code of a client must not read.
var counter int

// TestNondeterminism runs code twice on the same observations. If it does two different
// things, the error names the client and both.
func TestNondeterminism(t *testing.T) {
	for _, test := range []struct {
		name    string
		observe func() any
		tell    func(c *simulator.Client, v any)
		want    string
	}{
		{"a counter of the package, sent", func() any { counter++; return counter },
			func(c *simulator.Client, v any) { do(c, 1, "SET", "a", v) }, `["SET" "a" "`},
		{"the wall clock, slept on", func() any { return time.Now().UnixNano() },
			func(c *simulator.Client, v any) { c.Clock().Sleep(time.Duration(v.(int64))) }, "sleep "},
		{"a counter, only recorded", func() any { counter++; return counter },
			func(c *simulator.Client, v any) { note(c, v) }, `record refuse "`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solo(t, func(c *simulator.Client) {
				do(c, 1, "PING")
				test.tell(c, test.observe())
				do(c, 1, "LAST")
			})
			// The same way up to the last command, and there another answer: to find
			// out what the code does with it, the code must be run again.
			var err error
			for w := s.sim.NewWorld(); !s.sim.Quiet(&w) && err == nil; {
				_, err = s.sim.Step(&w, s.sim.Enabled(&w, nil)[0])
			}
			w := s.sim.NewWorld()
			for asked := ""; asked != "LAST" && err == nil; {
				var events []history.Event
				events, err = s.sim.Step(&w, s.sim.Enabled(&w, nil)[0])
				for _, e := range events {
					if e.Kind == history.Send {
						asked = e.Cmd[0]
					}
				}
			}
			if err != nil {
				t.Fatalf("before the code was run again: %v", err)
			}
			_, errBreak := s.sim.Step(&w, faults.RestartOf(1))
			_, err = s.sim.Step(&w, simulator.Choice{Verb: simulator.Answer, Client: 1})
			if errBreak != nil {
				t.Fatal(errBreak)
			}
			var not *simulator.NondeterministicError
			if !errors.As(err, &not) {
				t.Fatalf("got %v, want a NondeterministicError", err)
			}
			if not.Client != 1 || !strings.Contains(not.Was, test.want) || !strings.Contains(not.Is, test.want) ||
				not.Was == not.Is {
				t.Errorf("got %+v, want two different %q", not, test.want)
			}
		})
	}
}
