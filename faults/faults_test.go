package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

const sec = time.Second

// pinger asks for ever; a second thread of it sleeps. Its second and third request
// leave two keys, of which the second has a time to live.
func pinger(c *simulator.Client) {
	c.Clock().AfterFunc(time.Hour, func() {})
	ctx := context.Background()
	_ = c.Redis(1).Ping(ctx).Err()
	_ = c.Redis(1).Set(ctx, "a", "x", 0).Err()
	_ = c.Redis(1).Set(ctx, "b", "x", sec).Err()
	for {
		_ = c.Redis(1).Ping(context.Background()).Err() // what becomes of it is the test's choice
	}
}

func idle(*simulator.Client) {}

// stage is a world with three clients. The first is asking, the second sleeps, the
// third's program has not begun. One server of two has a replica.
type stage struct {
	sim   *simulator.Simulator
	world simulator.World
}

func newStage(t *testing.T, budget string) *stage {
	t.Helper()
	return stageWith(t, budget, simulator.NodeConfig{Replicas: 1}, simulator.NodeConfig{})
}

func stageWith(t *testing.T, budget string, nodes ...simulator.NodeConfig) *stage {
	t.Helper()
	return begun(t, budget, 2, simulator.Config{Clients: []simulator.ClientConfig{{Program: pinger, List: 1}, {Program: sleeper}, {Program: idle}}, Nodes: nodes})
}

func sleeper(c *simulator.Client) { c.Clock().Sleep(time.Hour) }

// begun is a world with a budget of faults, in which the first clients have begun.
func begun(t *testing.T, budget string, clients int, config simulator.Config) *stage {
	t.Helper()
	var err error
	if config.Faults, err = faults.Budget(budget).Parse(); err != nil {
		t.Fatal(err)
	}
	sim, err := simulator.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	s := &stage{sim: sim, world: sim.NewWorld()}
	for c := range clients {
		s.step(t, simulator.Choice{Verb: simulator.Start, Client: int8(c + 1)})
	}
	return s
}

func (s *stage) step(t *testing.T, c simulator.Choice) []history.Event {
	t.Helper()
	events, err := s.sim.Step(&s.world, c)
	if err != nil {
		t.Fatalf("%s: %v", s.sim.Describe(c), err)
	}
	return events
}

// refused checks that c cannot happen, for a reason that has these words, and
// that it changes nothing.
func (s *stage) refused(t *testing.T, c simulator.Choice, why string) {
	t.Helper()
	w := s.world
	_, err := s.sim.Step(&w, c)
	var not *simulator.NotEnabledError
	if !errors.As(err, &not) || !strings.Contains(text.SayMessage("en", not.Why), why) {
		t.Errorf("%s: %v, want a refusal with %q", s.sim.Describe(c), err, why)
	}
	if w != s.world {
		t.Errorf("%s was refused and changed the world", s.sim.Describe(c))
	}
}

// choices are the faults that are enabled.
func (s *stage) choices() (cs []simulator.Choice) {
	for _, c := range s.sim.Enabled(&s.world, nil) {
		if c.Verb >= simulator.FaultVerb {
			cs = append(cs, c)
		}
	}
	return cs
}

// stocked lets the first client store its keys.
func stocked(t *testing.T, s *stage) {
	for range 3 {
		s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
		s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})
	}
}

// TestFaults injects each fault in turn, with a budget of two.
func TestFaults(t *testing.T) {
	type C = simulator.Choice
	answered := func(t *testing.T, s *stage) { s.step(t, C{Verb: simulator.Arrive, Client: 1}) }
	broken := func(s *stage) bool { // the asker's connection
		events, err := s.sim.Step(&s.world, C{Verb: simulator.Answer, Client: 1})
		return err == nil && events[0].Kind == history.Broken
	}
	dueAt := func(d time.Duration, left int) func(s *stage) bool {
		return func(s *stage) bool { return s.sim.NextDeadline(&s.world) == d && len(s.choices()) == left }
	}
	for _, test := range []struct {
		budget   string
		before   func(t *testing.T, s *stage)
		lists    []C // all that can be injected
		inject   C
		event    history.EventKind
		effect   func(s *stage) bool
		refusals map[C]string
	}{
		// c3 has nothing to lose yet
		{"crash=2", nil, []C{faults.CrashOf(1), faults.CrashOf(2)}, faults.CrashOf(1), history.Crash,
			func(s *stage) bool { return !s.world.Alive(1) && s.world.Alive(2) },
			map[C]string{faults.CrashOf(1): "the client is dead", faults.CrashOf(4): "no such client"}},
		{"pause=2@5s", nil, []C{faults.PauseOf(1, 0), faults.PauseUnsentOf(1), faults.PauseOf(2, 0)}, faults.PauseOf(2,
			3*sec), history.Pause,
			func(s *stage) bool { return s.world.Paused(2) && s.sim.NextDeadline(&s.world) == 3*sec },
			map[C]string{
				faults.PauseOf(2, 0): "paused already", faults.PauseOf(1, 6*sec): "no more than 5s",
				faults.PauseOf(1, -sec): "cannot be negative", faults.PauseOf(9, 0): "no such client",
			}},
		{"lose-request=2", nil, []C{faults.LoseRequestOf(1, 0)}, faults.LoseRequestOf(1, 0), history.LoseRequest, dueAt(3*sec,
			0),
			map[C]string{faults.LoseRequestOf(1, 0): "no such message", faults.LoseRequestOf(1, 99): "no such message",
				faults.LoseRequestOf(1, -1): "no such message"}},
		{"lose-reply=2", answered, []C{faults.LoseReplyTo(1, 0)}, faults.LoseReplyTo(1, 0), history.LoseReply, dueAt(3*sec,
			0),
			map[C]string{faults.LoseReplyTo(2, 1): "no such message", faults.LoseReplyTo(0, 0): "no such client"}},
		{"client-clock=2@5s", nil,
			[]C{faults.ClientClockOf(1, 5*sec), faults.ClientClockOf(1, -5*sec), faults.ClientClockOf(2, 5*sec),
				faults.ClientClockOf(2, -5*sec),
				faults.ClientClockOf(3, 5*sec), faults.ClientClockOf(3, -5*sec)}, faults.ClientClockOf(2, -2*sec),
			history.ClockStep,
			func(s *stage) bool {
				events, err := s.sim.Step(&s.world, C{Verb: simulator.Start, Client: 3})
				return err == nil && len(events) == 0 && s.sim.NextDeadline(&s.world) == 3*sec // timers and patience go on as they did
			},
			map[C]string{
				faults.ClientClockOf(1, 5*sec+1): "no more than 5s", faults.ClientClockOf(1, -5*sec-1): "no more than 5s",
				faults.ClientClockOf(1, math.MinInt64): "no more than 5s", faults.ClientClockOf(1, 0): "other than 0",
				faults.ClientClockOf(7, sec): "no such client",
			}},
		{"node-clock=2@5s", nil, []C{faults.NodeClockOf(1, 5*sec), faults.NodeClockOf(1, -5*sec), faults.NodeClockOf(2,
			5*sec), faults.NodeClockOf(2, -5*sec)},
			faults.NodeClockOf(2, 5*sec), history.ClockStep, func(s *stage) bool { return len(s.choices()) == 4 },
			map[C]string{faults.NodeClockOf(1, 6*sec): "no more than 5s", faults.NodeClockOf(1, 0): "other than 0",
				faults.NodeClockOf(3, sec): "no such server"}},
		{"restart=2", nil, []C{faults.RestartOf(1), faults.RestartOf(2)}, faults.RestartOf(1), history.Down, broken,
			map[C]string{faults.RestartOf(3): "no such server", faults.RestartOf(-1): "no such server"}},
		{"restart=2@5s", nil, []C{faults.RestartAfter(1, 5*sec), faults.RestartAfter(2, 5*sec)}, faults.RestartAfter(1,
			3*sec), history.Down,
			func(s *stage) bool {
				return s.world.Down(1) && s.sim.NextDeadline(&s.world) == 3*sec && slices.Equal(s.choices(), []C{faults.RestartAfter(2, 5*sec)})
			},
			map[C]string{faults.RestartAfter(1, sec): "down already", faults.RestartAfter(2, 6*sec): "no more than 5s",
				faults.RestartAfter(2, -sec): "less than no time"}},
		// server 2 has no replica
		{"failover=2", nil, []C{faults.FailoverOf(1)}, faults.FailoverOf(1), history.Failover, broken,
			map[C]string{faults.FailoverOf(2): "no such replica", faults.FailoverOf(3): "no such server"}},
		{"split=2", nil, []C{faults.SplitOf(1, 1, 0), faults.SplitOf(2, 1, 0), faults.SplitOf(3, 1, 0)}, faults.SplitOf(2, 1,
			0), history.Split,
			func(s *stage) bool { // one more can be cut off
				return broken(s) && slices.Equal(s.choices(), []C{faults.SplitOf(1, 1, 0), faults.SplitOf(3, 1, 0)})
			},
			map[C]string{
				faults.SplitOf(2, 1, 0): "cut off with the old master already", faults.SplitOf(1, 1, 1): "split already, by another replica",
				faults.SplitOf(1, 2, 0): "no such replica", faults.SplitOf(1, 3, 0): "no such server", faults.SplitOf(4, 1,
					0): "no such client",
				{Verb: faults.SplitOf(1, 1, 0).Verb, Client: 1, Node: 1, Thread: -1}: "split already",
			}},
		{"hang=2@5s", nil, []C{faults.HangOf(1, 5*sec), faults.HangOf(2, 5*sec)}, faults.HangOf(1, 2*sec), history.Hang,
			func(s *stage) bool { // the asker's request waits
				answered(t, s)
				return s.sim.NextDeadline(&s.world) == 2*sec && slices.Equal(s.choices(), []C{faults.HangOf(2, 5*sec)})
			},
			map[C]string{
				faults.HangOf(1, sec): "does not run", faults.HangOf(2, 6*sec): "no more than 5s", faults.HangOf(2, 0): "above 0",
				faults.HangOf(3, sec): "no such server",
			}},
		{"delay=2@5s", nil, []C{faults.DelayOf(1, 0, 5*sec)}, faults.DelayOf(1, 0, 2*sec), history.Delay, dueAt(2*sec, 0),
			map[C]string{
				faults.DelayOf(1, 0, sec): "held up already", faults.DelayOf(2, 0, sec): "no such message", faults.DelayOf(1, 0,
					0): "above 0",
				faults.DelayOf(1, -1, sec): "no such message", faults.DelayOf(1, 0, 6*sec): "no more than 5s", faults.DelayOf(9, 0, sec): "no such client",
			}},
		{"fail-call=2", nil, []C{faults.FailCallOf(1, 0)}, faults.FailCallOf(1, 0), history.Reject,
			func(s *stage) bool {
				events, err := s.sim.Step(&s.world, C{Verb: simulator.Answer, Client: 1})
				return err == nil && strings.HasPrefix(events[0].Reply, "(error) BUSY")
			},
			map[C]string{faults.FailCallOf(2, 0): "no request to a server", faults.FailCallOf(1, -1): "no request to a server",
				faults.FailCallOf(0, 0): "no such client"}},
		// the first key has no time to live
		{"evict=2", stocked, []C{faults.EvictOf(1, 1)}, faults.EvictOf(1, 1), history.External,
			func(s *stage) bool { return dueAt(3*sec, 0)(s) && s.world.Behind(1) },
			map[C]string{faults.EvictOf(1, 0): "no time to live", faults.EvictOf(1, 1): "no such key", faults.EvictOf(1,
				-1): "no such key", faults.EvictOf(3, 0): "no such server"}},
		{"flush=2", stocked, []C{faults.FlushOf(1)}, faults.FlushOf(1), history.External, // the other server is empty
			func(s *stage) bool { return dueAt(3*sec, 0)(s) && s.world.Behind(1) }, map[C]string{
				faults.FlushOf(3): "no such server"}},
		{"delete=2", stocked, []C{faults.DeleteOf(1, 0), faults.DeleteOf(1, 1)}, faults.DeleteOf(1, 0), history.External,
			func(s *stage) bool { return slices.Equal(s.choices(), []C{faults.DeleteOf(1, 0)}) && s.world.Behind(1) },
			map[C]string{faults.DeleteOf(1, 1): "no such key", faults.DeleteOf(1, -1): "no such key", faults.DeleteOf(9,
				0): "no such server"}},
	} {
		t.Run(test.budget, func(t *testing.T) {
			s := newStage(t, test.budget)
			if test.before != nil {
				test.before(t, s)
			}
			if got := s.choices(); !slices.Equal(got, test.lists) {
				t.Errorf("can inject: %v, want %v", got, test.lists)
			}
			name, _, _ := strings.Cut(test.budget, "=")
			if e, err := faults.ByName(name); err != nil || e.Verb != test.inject.Verb ||
				!strings.HasPrefix(s.sim.Describe(test.inject), name) {
				t.Errorf("%q finds %+v, %v, and its choice is called %q", name, e, err, s.sim.Describe(test.inject))
			}
			if events := s.step(t, test.inject); len(events) == 0 || events[0].Kind != test.event {
				t.Errorf("told %+v, want %v", events, test.event)
			}
			for c, why := range test.refusals {
				s.refused(t, c, why)
			}
			if left := s.world.Budget(0); left != 1 {
				t.Errorf("after one injection of two, and refusals, %d are left", left)
			}
			if !test.effect(s) {
				t.Error("it had no effect")
			}
			newStage(t, "").refused(t, test.inject, "no fault of this race")
		})
	}
}

// The old master of a server needs a number of its own, and there are eight.
func TestSplitOfManyServers(t *testing.T) {
	nodes := make([]simulator.NodeConfig, 5)
	for i := range nodes {
		nodes[i].Replicas = 1
	}
	s := stageWith(t, "split=1", nodes...)
	for _, c := range s.choices() {
		if c.Node > 3 {
			t.Errorf("%s can be injected", s.sim.Describe(c))
		}
	}
	s.step(t, faults.SplitOf(1, 3, 0))

	// that is a limit of the lab's, and no refusal: it could happen in the world
	s = stageWith(t, "split=1", nodes...)
	limit := (*simulator.LimitError)(nil)
	if _, err := s.sim.Step(&s.world, faults.SplitOf(1, 4, 0)); !errors.As(err, &limit) || !strings.Contains(text.SayMessage("en", limit.What), "none above that of server 8") {
		t.Errorf("a split of server 4 comes to %v, want a limit", err)
	}
	if _, err := s.sim.Parts().Faults(&s.world, nil); !errors.As(err, &limit) {
		t.Errorf("the choices are listed with %v, want a limit", err)
	}
}

// A server that does not run has no keys to take.
func TestStrangerFindsNobody(t *testing.T) {
	for budget, out := range map[string]simulator.Choice{"hang=1": faults.HangOf(1, sec), "restart=1": faults.RestartAfter(1, sec)} {
		s := newStage(t, budget+",evict=1,flush=1,delete=1")
		stocked(t, s)
		s.step(t, out)
		if got := s.choices(); len(got) != 0 {
			t.Errorf("after %s can inject: %v", budget, got)
		}
		s.refused(t, faults.EvictOf(1, 1), "does not run")
		s.refused(t, faults.FlushOf(1), "does not run")
	}
}

// A call that fails changes nothing, for each command of a pipeline.
func TestFailedPipeline(t *testing.T) {
	s := begun(t, "fail-call=1", 0, simulator.Config{Nodes: make([]simulator.NodeConfig, 1), Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) {
		pipe := c.Redis(1).Pipeline()
		pipe.Incr(context.Background(), "n")
		pipe.Incr(context.Background(), "n")
		cmds, _ := pipe.Exec(context.Background())
		for _, cmd := range cmds {
			c.Record(history.Event{Kind: history.Refuse, Note: cmd.Err().Error()[:4]})
		}
		c.Record(history.Event{Kind: history.Refuse, Note: c.Redis(1).Incr(context.Background(), "n").String()})
	}}}})
	ch := simulator.Choice{Client: 1}
	var notes []string
	for _, verb := range []simulator.Verb{simulator.Start, faults.FailCallOf(1, 0).Verb, simulator.Answer, simulator.Arrive, simulator.Answer} {
		ch.Verb = verb
		for _, e := range s.step(t, ch) {
			if e.Kind == history.Refuse {
				notes = append(notes, e.Note)
			}
		}
	}
	if want := []string{"BUSY", "BUSY", "incr n: 1"}; !slices.Equal(notes, want) {
		t.Errorf("told %q, want %q", notes, want)
	}
}

// A pause without a length can end at any time, and ends by itself at the
// longest that the budget allows. Without a bound it needs somebody to end it.
func TestOffered(t *testing.T) {
	keys := func(c *simulator.Client) { // one more than a choice can name, and one that ends after three seconds
		pairs := []any{}
		for i := range 16 {
			pairs = append(pairs, fmt.Sprintf("k%02d", i), "x")
		}
		_ = c.Redis(1).MSet(context.Background(), pairs...).Err()
		_ = c.Redis(1).Set(context.Background(), "z", "x", 3*sec).Err()
		c.Clock().Sleep(time.Hour)
	}
	type C = simulator.Choice
	// A jump to the end of a key is offered with the key gone, and with it still there.
	jump, stays := faults.NodeClockOf(1, 3*sec), faults.NodeClockOf(1, 3*sec)
	stays.Thread = simulator.Pending
	jumps := []C{jump, stays, faults.NodeClockOf(1, -3*sec), faults.NodeClockOf(1, 6*sec), faults.NodeClockOf(1, -6*sec)}
	for _, test := range []struct {
		rule, budget string
		fault        *simulator.Fault
		before       []C
		lists        []C
	}{
		{"without a length", "delay=1", faults.Delay, nil, nil},
		{"without a length", "hang=1", faults.Hang, nil, nil},
		{"held up already", "delay=1@5s,fail-call=1", faults.FailCall, []C{faults.DelayOf(1, 0, 5*sec)}, nil},
		{"of the dead", "crash=1,split=1", faults.Split, []C{faults.CrashOf(1)}, []C{faults.SplitOf(2, 1, 0)}},
		{"after a thread", "pause-thread=1@5s,pause=1", faults.Pause, []C{faults.PauseThreadOf(1, 0, 0)},
			[]C{faults.PauseOf(2, 0)}},
		{"to an end", "node-clock=1@6s", faults.NodeClock, nil, jumps},
	} {
		config := simulator.Config{Nodes: []simulator.NodeConfig{{Replicas: 1}},
			Clients: []simulator.ClientConfig{{Program: keys, List: 1}, {Program: sleeper}}}
		if test.fault == faults.NodeClock {
			config.Timing = &simulator.Timing{Step: 3 * sec}
		}
		s := begun(t, test.budget, 2, config)
		if test.fault == faults.NodeClock || test.fault == faults.Pause {
			for range 2 {
				s.step(t, C{Verb: simulator.Arrive, Client: 1})
				s.step(t, C{Verb: simulator.Answer, Client: 1})
			}
		}
		for _, c := range test.before {
			s.step(t, c)
		}
		got := slices.DeleteFunc(s.choices(), func(c C) bool { return c.Verb != test.fault.Verb })
		if !slices.Equal(got, test.lists) {
			t.Errorf("%s %s: can inject %v, want %v", test.fault.Name, test.rule, got, test.lists)
		}
	}
	s := begun(t, "delete=1,pause=2@5s", 2, simulator.Config{Nodes: make([]simulator.NodeConfig, 1),
		Clients: []simulator.ClientConfig{{Program: keys}, {Program: sleeper}}})
	for range 2 {
		s.step(t, C{Verb: simulator.Arrive, Client: 1})
		s.step(t, C{Verb: simulator.Answer, Client: 1})
	}
	deletes := slices.DeleteFunc(s.choices(), func(c C) bool { return c.Verb != faults.Delete.Verb })
	if len(deletes) != 16 || deletes[15] != faults.DeleteOf(1, 15) {
		t.Errorf("of 17 keys can delete %v", deletes)
	}
	s.refused(t, faults.DeleteOf(1, 16), "no such key")
	s.refused(t, faults.PauseComputingOf(2, 0), "needs a length above 0")
	s.step(t, faults.PauseComputingOf(2, sec))
}

func TestOpenPause(t *testing.T) {
	resume := simulator.Choice{Verb: simulator.Resume, Client: 2}
	for budget, want := range map[string]time.Duration{"pause=1@5s": 5 * sec, "pause=1": time.Hour} {
		s := newStage(t, budget+",crash=1")
		s.step(t, faults.CrashOf(1))
		s.step(t, faults.PauseOf(2, 0))
		if !slices.Contains(s.sim.Enabled(&s.world, nil), resume) {
			t.Errorf("%s: the pause cannot end", budget)
		}
		next := s.sim.NextDeadline(&s.world)
		if budget == "pause=1" {
			if next != simulator.Never {
				t.Errorf("%s: something is due at %v", budget, next)
			}
			s.step(t, resume)
			next = s.sim.NextDeadline(&s.world)
		}
		if next != want {
			t.Errorf("%s: next is due at %v, want %v", budget, next, want)
		}
	}
}

// Only a fault that says so sets a server's clock back: searches rely on it.
func TestRewinds(t *testing.T) {
	s := newStage(t, "node-clock=2")
	silent := *faults.NodeClock
	silent.Rewinds = false
	for i := range s.sim.Config().Faults {
		s.sim.Config().Faults[i].Fault = &silent
	}
	s.step(t, faults.NodeClockOf(1, time.Second))
	s.refused(t, faults.NodeClockOf(1, -time.Second), "does not say that it sets clocks of servers back")
}

// TestEveryFault: whatever a fault offers can be done, spends its budget, and is told;
// and each fault is offered somewhere.
func TestEveryFault(t *testing.T) {
	answered := func(t *testing.T, s *stage) { s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1}) }
	for _, e := range faults.All() {
		budget, offered := e.Name+"=1@5s", 0
		for _, before := range []func(t *testing.T) *stage{
			func(t *testing.T) *stage { return newStage(t, budget) },
			func(t *testing.T) *stage { s := newStage(t, budget); stocked(t, s); return s },
			func(t *testing.T) *stage { s := newStage(t, budget); answered(t, s); return s },
			func(t *testing.T) *stage { return newZoo(t, budget) },
			func(t *testing.T) *stage {
				if e == faults.Crash {
					return newStage(t, budget)
				}
				s := newStage(t, budget+",crash=1")
				s.step(t, faults.CrashOf(1))
				return s
			},
		} {
			s := before(t)
			for _, c := range s.choices() {
				offered++
				after := *s
				if events := after.step(t, c); len(events) == 0 {
					t.Errorf("%s: nothing is told", s.sim.Describe(c))
				}
				if left := after.world.Budget(0); left != 0 {
					t.Errorf("%s: %d are left", s.sim.Describe(c), left)
				}
				after.refused(t, c, "budget of this fault is spent")
			}
		}
		if offered == 0 {
			t.Errorf("%s is offered nowhere: give this test a stage for it", e.Name)
		}
	}
}

// TestVerbs pins the numbers that stand in saved traces: each fault has that of its
// place in the list, and those that there are keep theirs.
func TestVerbs(t *testing.T) {
	pinned := []string{"crash", "pause", "lose-reply", "lose-request", "client-clock", "node-clock", "restart", "failover", "split", "hang", "delay", "fail-call", "evict", "flush", "delete", "expire-session", "pause-thread", "return", "server-list"}
	all := faults.All()
	for i, e := range all {
		if int(e.Verb) != 32+i {
			t.Errorf("%s has verb %d and place %d: give it %d", e.Name, e.Verb, i, 32+i)
		}
	}
	for i, name := range pinned {
		if i >= len(all) || all[i].Name != name {
			t.Errorf("the fault with verb %d is no longer %s: old traces would play another", 32+i, name)
		}
	}
}

// Every fault has a title in every language.
func TestTitles(t *testing.T) {
	for _, e := range faults.All() {
		for _, lang := range text.Languages() {
			if !text.In(lang).Has("title.fault." + e.Name) {
				t.Errorf("write the line %q below [%s] in reports/text/faults/%s.txt", "title.fault."+e.Name+" = …", lang, e.Name)
			}
		}
	}
}

// A client's code sees its new list when it reads the list the next time, and no other client does. The
// last server of a list stays, a client without a list gets none, and a process that is started in
// place of another one has the list of that.
func TestServerList(t *testing.T) {
	var read [3][]int // what each client has read last
	reads := func(c *simulator.Client) {
		for {
			read[c.ID()-1] = c.Shards()
			c.Clock().Sleep(sec)
		}
	}
	s := begun(t, "server-list=9,crash=1,return=1", 0, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: reads, List: 2}, {Program: reads, List: 2}, {Program: reads}}, Nodes: make([]simulator.NodeConfig, 3),
	})
	check := func(want ...[]int) {
		t.Helper()
		if !slices.EqualFunc(read[:], want, slices.Equal) {
			t.Errorf("the clients have read %v, want %v", read, want)
		}
	}
	wake := func() {
		s.step(t, simulator.Choice{Verb: simulator.Pass, D: sec})
		for c := range int8(3) {
			s.step(t, simulator.Choice{Verb: simulator.Wake, Client: c + 1})
		}
	}
	if !slices.Contains(s.choices(), faults.ServerListOf(2, 3)) {
		t.Error("the list of a client that has not begun cannot change")
	}
	for c := range int8(3) {
		s.step(t, simulator.Choice{Verb: simulator.Start, Client: c + 1})
	}
	check([]int{0, 1}, []int{0, 1}, nil)
	for _, c := range []struct {
		server int
		note   string
	}{{3, "added"}, {1, "removed"}, {2, "removed"}} {
		events := s.step(t, faults.ServerListOf(2, c.server))
		if e := events[0]; len(events) != 1 || e.Name() != "server-list" || e.Client != 2 || e.Node != c.server || e.Note != c.note {
			t.Errorf("server %d: %+v", c.server, events)
		}
	}
	check([]int{0, 1}, []int{0, 1}, nil) // nothing has been read since
	wake()
	check([]int{0, 1}, []int{2}, nil)
	s.refused(t, faults.ServerListOf(2, 3), "only server")
	s.refused(t, faults.ServerListOf(2, 4), "only server")
	s.refused(t, faults.ServerListOf(3, 1), "no list")
	s.refused(t, faults.ServerListOf(4, 1), "no such client")
	s.step(t, faults.CrashOf(2))
	s.refused(t, faults.ServerListOf(2, 1), "dead")
	if slices.Contains(s.choices(), faults.ServerListOf(2, 1)) {
		t.Error("the list of a dead client can change")
	}
	s.step(t, simulator.Choice{Verb: faults.Return.Verb, Client: 2})
	read[1] = nil
	s.step(t, simulator.Choice{Verb: simulator.Start, Client: 2})
	check([]int{0, 1}, []int{2}, nil)
	for _, c := range s.choices() {
		if c.Verb == faults.ServerList.Verb && (c.Client == 3 || c == faults.ServerListOf(2, 3)) {
			t.Errorf("%s is offered", s.sim.Describe(c))
		}
	}
}

// newZoo is a world with an ensemble, of which the first client asks, the second
// sleeps, and the third's program has not begun.
func newZoo(t *testing.T, budget string) *stage {
	t.Helper()
	asks := func(c *simulator.Client) {
		for {
			_, _ = c.ZooKeeper().Do(zookeeper.Request{Op: zookeeper.Create, Path: "/n-", Mode: zookeeper.Ephemeral | zookeeper.Sequential})
		}
	}
	return begun(t, budget, 2, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: asks}, {Program: sleeper}, {Program: idle}}, Nodes: []simulator.NodeConfig{{Session: 9 * sec}},
	})
}

func kinds(events []history.Event) (kinds []history.EventKind) {
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestExpireSession(t *testing.T) {
	s := newZoo(t, "expire-session=2")
	want := []simulator.Choice{faults.ExpireSessionOf(1), faults.ExpireSessionOf(2)}
	if got := s.choices(); !slices.Equal(got, want) {
		t.Errorf("can inject: %v, want %v", got, want)
	}
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
	if got := kinds(s.step(t, faults.ExpireSessionOf(1))); !slices.Equal(got, []history.EventKind{history.SessionEnd, history.Expire}) {
		t.Errorf("told %v", got)
	}
	s.refused(t, faults.ExpireSessionOf(1), "the client has no session")
	s.refused(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1}, "still to hear") // the reply was before the end
	s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})
	s.refused(t, simulator.Choice{Verb: simulator.Arrive, Client: 1}, "no request is on the way") // it waits for a connection
	if e := s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})[0]; e.Kind != history.Reconnect || e.Note != "the session has ended" {
		t.Errorf("told %+v", e)
	}
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
	s.step(t, faults.ExpireSessionOf(1)) // it has another one
	newStage(t, "expire-session=1").refused(t, faults.ExpireSessionOf(1), "the client has no session")
}

// What would befall one server of an ensemble is not offered, and is refused.
func TestEnsembleIsWhole(t *testing.T) {
	s := newZoo(t, "node-clock=1@1s,restart=1,failover=1,split=1,hang=1,fail-call=1,evict=1,flush=1,delete=1")
	if got := s.choices(); len(got) != 0 {
		t.Errorf("can inject: %v", got)
	}
	for _, c := range []simulator.Choice{faults.NodeClockOf(1, sec), faults.RestartOf(1), faults.FailoverTo(1, 0), faults.HangOf(1, sec), faults.FlushOf(1)} {
		s.refused(t, c, "the server is a ZooKeeper")
	}
}

// A message that is lost takes the connection with it, and the request is run
// before the client connects again, or never.
func TestLostMessages(t *testing.T) {
	s := newZoo(t, "lose-request=1,lose-reply=1,delay=1")
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
	s.step(t, faults.LoseReplyTo(1, 0))
	if got := kinds(s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})); got[0] != history.Broken {
		t.Errorf("told %v", got)
	}
	s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})
	s.step(t, faults.LoseRequestOf(1, 0))
	s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})
	s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})

	s.step(t, faults.DelayOf(1, 0, time.Hour))
	s.step(t, simulator.Choice{Verb: simulator.Pass, D: 6 * sec}) // two thirds of the session
	if got := kinds(s.step(t, simulator.Choice{Verb: simulator.GiveUp, Client: 1})); got[0] != history.Timeout {
		t.Errorf("told %v", got)
	}
	s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})
	late := simulator.Choice{Verb: simulator.Orphaned, Client: 1}
	s.refused(t, late, "no such request is on the way")
}
