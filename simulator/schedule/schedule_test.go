package schedule

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/history"
)

const (
	sec = time.Second
	ms  = time.Millisecond
)

// mustLab is a simulator with one server that has a replica.
func mustLab(t testing.TB, budget faults.Budget, programs ...func(*simulator.Client)) *simulator.Simulator {
	t.Helper()
	allowed, err := budget.Parse()
	if err != nil {
		t.Fatal(err)
	}
	s := simulator.Config{Nodes: []simulator.NodeConfig{{Replicas: 1}}, Faults: allowed, Timeout: sec}
	for _, p := range programs {
		s.Clients = append(s.Clients, simulator.ClientConfig{Program: p})
	}
	sim, err := simulator.New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

func mustPlay(t testing.TB, sim *simulator.Simulator, opt Conditions) *Run {
	t.Helper()
	run, err := NewPlayer(sim).Play(opt)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// user acquires a lock, works for work, and releases it, n times.
func user(entry lock.Entry, work time.Duration, n int) func(*simulator.Client) {
	return func(c *simulator.Client) {
		ctx := context.Background()
		env := lock.Env{Clock: c.Clock(), Tokens: c, TTL: 3 * sec}
		for range entry.Nodes {
			env.Nodes = append(env.Nodes, c.Redis(1))
		}
		l := entry.New(env)
		for range n {
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := l.Acquire(ctx, "lock")
			if err != nil {
				c.Record(history.Event{Kind: history.Refuse, Note: err.Error()})
				c.Clock().Sleep(500 * ms)
				continue
			}
			c.Record(history.Event{Kind: history.Enter})
			c.Clock().Sleep(work)
			c.Record(history.Event{Kind: history.Leave})
			_ = lease.Release(ctx) // what became of it stands in the history
		}
	}
}

// pinger sends n commands, one after the other.
func pinger(n int) func(*simulator.Client) {
	return func(c *simulator.Client) {
		for range n {
			_ = c.Redis(1).Ping(context.Background()).Err()
		}
	}
}

// eventful is a run in which much happens: three users, a pause, a failover,
// lost replies, and orphaned requests.
func eventful(t testing.TB, entry lock.Entry) (*simulator.Simulator, Conditions) {
	sim := mustLab(t, "crash=1,pause=1,failover=1,lose-reply=1", user(entry, 4*sec, 3), user(entry, sec, 4),
		user(entry, 2*sec, 3))
	begun := false
	return sim, Conditions{
		Seed: 5, Latency: 3 * ms, Lag: 200 * ms, Start: []time.Duration{0, 50 * ms, 100 * ms}, Horizon: 60 * sec,
		Script: func(s *Stage, e *history.Event) {
			switch {
			case e.Kind == history.Send && !begun:
				begun = true
				s.Inject(sec, faults.PauseOf(1, 5*sec))
				s.After(400*ms, func() { s.Freeze(2) })
				s.After(3*sec, func() { s.Thaw(2) })
			case e.Kind == history.Apply && e.Client == 3:
				s.Inject(0, faults.LoseReplyTo(3, 0))
			case e.Kind == history.Resume:
				s.Inject(100*ms, faults.FailoverOf(1))
			}
		},
	}
}

// TestReplay plays the choices of a timed run again.
func TestReplay(t *testing.T) {
	for _, entry := range algorithms.Milestones() {
		sim, opt := eventful(t, entry)
		run := mustPlay(t, sim, opt)
		for _, k := range []history.EventKind{history.Pause, history.Failover, history.LoseReply, history.Replicate,
			history.Timeout} {
			if !slices.ContainsFunc(run.Events, func(e history.Event) bool { return e.Kind == k }) {
				t.Errorf("%s: the run has no %v", entry.ID, k)
			}
		}
		fresh, _ := eventful(t, entry)
		for name, l := range map[string]*simulator.Simulator{"the same simulator": sim, "another simulator": fresh} {
			again, err := Replay(l, run.Choices)
			if err != nil {
				t.Fatalf("%s, %s: %v", entry.ID, name, err)
			}
			if !reflect.DeepEqual(again.Events, run.Events) || !slices.Equal(again.Choices, run.Choices) ||
				again.End != run.End || again.Horizon != run.Horizon {
				t.Errorf("%s: %s plays it otherwise", entry.ID, name)
			}
		}
	}
}

// TestReplayStopsAtTheFirstImpossibleChoice: the error says which choice it is.
func TestReplayStopsAtTheFirstImpossibleChoice(t *testing.T) {
	sim := mustLab(t, "", pinger(2))
	run := mustPlay(t, sim, Conditions{Latency: ms, Horizon: sec})
	bad := slices.Insert(slices.Clone(run.Choices), 2, simulator.Choice{Verb: simulator.Wake, Client: 1})
	got, err := Replay(sim, bad)
	var not *simulator.NotEnabledError
	if !errors.As(err, &not) ||
		!strings.HasPrefix(text.SayError("en", err), fmt.Sprintf("choice 3 of %d: ", len(bad))) {
		t.Errorf("error %v, want choice 3 not enabled", err)
	}
	if !slices.Equal(got.Choices, run.Choices[:2]) {
		t.Errorf("played %v", got.Choices)
	}
	// A run that was cut off has not reached its end.
	half, err := Replay(sim, run.Choices[:3])
	if err != nil || !half.Horizon {
		t.Errorf("half a run ends with %v, horizon %v", err, half.Horizon)
	}
	if whole, err := Replay(sim, run.Choices); err != nil || whole.Horizon {
		t.Errorf("a whole run ends with %v, horizon %v", err, whole.Horizon)
	}
}

// TestSameSeedSameRun: on the same simulator and on another one, with one processor and
// with two, and with a player that has played other runs before.
func TestSameSeedSameRun(t *testing.T) {
	entry, _ := algorithms.ByName("watchdog")
	sim, opt := eventful(t, entry)
	want := mustPlay(t, sim, opt)
	for _, procs := range []int{1, 2} {
		old := runtime.GOMAXPROCS(procs)
		fresh, opt := eventful(t, entry)
		got := mustPlay(t, fresh, opt)
		runtime.GOMAXPROCS(old)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("on %d processors the run is another", procs)
		}
	}
	p := NewPlayer(sim)
	other := opt
	other.Seed = 6
	run, err := p.Play(other)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(run.Events, want.Events) {
		t.Error("another seed gives the same run")
	}
	_, opt = eventful(t, entry)
	if run, err = p.Play(opt); err != nil || !reflect.DeepEqual(run, want) {
		t.Errorf("a player that has played before plays it otherwise (%v)", err)
	}
}

// arrivals are the times that the requests and replies of one client took.
func arrivals(t *testing.T, seed uint64, client int, programs ...func(*simulator.Client)) (took []time.Duration) {
	sent := map[int]time.Duration{}
	run := mustPlay(t, mustLab(t, "", programs...), Conditions{Seed: seed, Latency: ms, Horizon: 60 * sec})
	for _, e := range run.Events {
		if e.Client == client && e.Msg != 0 {
			if e.Kind != history.Send {
				took = append(took, e.At-sent[e.Msg])
			}
			sent[e.Msg] = e.At
		}
	}
	return took
}

// TestLatency: seed 0 takes exactly the given latency; other seeds sample around it, each
// differently, and the samples of a client do not depend on how many messages another
// sends.
func TestLatency(t *testing.T) {
	if exact := arrivals(t, 0, 1, pinger(50)); slices.Min(exact) != ms || slices.Max(exact) != ms {
		t.Fatalf("messages took %v, want 1ms each", exact)
	}
	one := arrivals(t, 1, 1, pinger(2000))
	var sum time.Duration
	for i, d := range one {
		if d < ms/2 || d > 10*ms || d%time.Microsecond != 0 {
			t.Fatalf("message %d took %v: want whole microseconds from 500µs to 10ms", i, d)
		}
		sum += d
	}
	if mean := sum / 4000; len(one) != 4000 || mean < 950*time.Microsecond || mean > 1050*time.Microsecond {
		t.Errorf("the mean of %d messages is %v, want about 1ms of 4000", len(one), mean)
	}
	few, many := arrivals(t, 1, 2, pinger(3), pinger(40)), arrivals(t, 1, 2, pinger(30), pinger(40))
	if !slices.Equal(few, many) {
		t.Error("what client 1 sends changes the latencies of client 2")
	}
	if slices.Equal(few, one[:80]) || slices.Equal(few, arrivals(t, 2, 2, pinger(3), pinger(40))) {
		t.Error("two clients, or two seeds, have the same latencies")
	}
}

// TestLateRequest: an orphaned request takes one more latency from the moment it was
// orphaned, also if an earlier one was lost at the same place.
func TestLateRequest(t *testing.T) {
	sleeper := func(c *simulator.Client) {
		pinger(1)(c)
		c.Clock().Sleep(20 * ms)
		pinger(1)(c)
	}
	sim := mustLab(t, "crash=1,restart=1", sleeper, sleeper)
	var late time.Duration
	run := mustPlay(t, sim, Conditions{Latency: 10 * ms, Horizon: 10 * sec, Start: []time.Duration{0, 20 * ms},
		Script: func(s *Stage, e *history.Event) {
			switch {
			case e.Kind == history.Send && e.Client == 1:
				s.Freeze(1)
				s.After(2*ms, func() { s.Thaw(1) })
				s.Inject(2*ms, faults.CrashOf(1))   // its request has 10 ms to go
				s.Inject(4*ms, faults.RestartOf(1)) // and goes down with the server
			case e.Kind == history.Send && e.Client == 2 && e.At < 25*ms:
				s.After(0, func() { s.Freeze(2) })
			case e.Kind == history.Timeout:
				s.After(3*ms, func() { s.Thaw(2) })
			case e.Kind == history.Apply && e.Client == 2 && late == 0:
				late = e.At
			}
		}})
	if len(run.NotInjected) > 0 {
		t.Error(run.NotInjected)
	}
	if want := 20*ms + sec + 3*ms + 10*ms; late != want {
		t.Errorf("the late request was executed at %v, want %v", late, want)
	}
}

// TestHorizon: a run that is not done ends exactly at the horizon.
func TestHorizon(t *testing.T) {
	sleeper := func(c *simulator.Client) { c.Clock().Sleep(10 * sec) }
	for horizon, want := range map[time.Duration]Run{
		3 * sec:  {End: 3 * sec, Horizon: true},
		10 * sec: {End: 10 * sec},
		20 * sec: {End: 10 * sec},
		0:        {Horizon: true},
	} {
		run := mustPlay(t, mustLab(t, "", sleeper), Conditions{Horizon: horizon})
		if run.End != want.End || run.Horizon != want.Horizon {
			t.Errorf("horizon %v: ends at %v, by the horizon: %v", horizon, run.End, run.Horizon)
		}
	}
	// A client that waits for what never comes does not stop the clock.
	forEver := func(s *Stage, e *history.Event) {
		if e.Kind == history.Sleep {
			s.Inject(0, faults.PauseOf(1, simulator.Never))
		}
	}
	run := mustPlay(t, mustLab(t, "pause=1", sleeper), Conditions{Horizon: sec, Script: forEver})
	if run.End != sec || !run.Horizon || len(run.NotInjected) != 0 {
		t.Errorf("ends at %v, by the horizon: %v, missed %v", run.End, run.Horizon, run.NotInjected)
	}
}

// TestEndless: code that asks again and again in no time, and a script that acts
// again and again, end in an error and not in a hang.
func TestEndless(t *testing.T) {
	var again func(s *Stage)
	again = func(s *Stage) { s.After(0, func() { again(s) }) }
	for name, test := range map[string]struct {
		program func(*simulator.Client)
		script  func(*Stage, *history.Event)
	}{
		"a program": {pinger(1 << 30), nil},
		"a script": {func(c *simulator.Client) { c.Clock().Sleep(sec) },
			func(s *Stage, _ *history.Event) { again(s) }},
	} {
		p := NewPlayer(mustLab(t, "", test.program))
		if p.stage.limit != maxTurns {
			t.Fatalf("a player stops after %d turns", p.stage.limit)
		}
		p.stage.limit = 5000
		run, err := p.Play(Conditions{Horizon: sec, Script: test.script})
		if !errors.Is(err, ErrEndless) || len(run.Choices) > 5000 {
			t.Errorf("%s without end: %v after %d choices", name, err, len(run.Choices))
		}
	}
}

// TestMissed: the run goes on without a fault that cannot be injected, and says why.
func TestMissed(t *testing.T) {
	sim := mustLab(t, "crash=1", pinger(3))
	plain := mustPlay(t, sim, Conditions{Latency: ms, Horizon: sec})
	run := mustPlay(t, sim, Conditions{Latency: ms, Horizon: sec, Script: func(s *Stage, e *history.Event) {
		if e.Kind == history.Send && e.Msg == 1 {
			s.Inject(0, faults.CrashOf(2))
			s.Inject(ms, faults.RestartOf(1))
		}
	}})
	if len(run.NotInjected) != 2 {
		t.Fatalf("missed %v, want two", run.NotInjected)
	}
	for i, want := range []string{"there is no such client", "no fault of this race"} {
		var not *simulator.NotEnabledError
		if !errors.As(run.NotInjected[i], &not) || !strings.Contains(text.SayMessage("en", not.Why), want) {
			t.Errorf("missed %v, want %q", run.NotInjected[i], want)
		}
	}
	if !reflect.DeepEqual(run.Events, plain.Events) {
		t.Error("a fault that was not injected changed the run")
	}
}
