package study_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// TestEnsembleDetails tests which client and how often, in these races.
func TestEnsembleDetails(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	entries := func(h *history.History) (order string) {
		for i := range h.Events {
			if e := &h.Events[i]; e.Kind == history.Enter && e.Note == "" {
				order += fmt.Sprint(e.Client)
			}
		}
		return order
	}
	refused := func(h *history.History, client int, err error) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool {
			return e.Kind == history.Refuse && e.Client == client && strings.Contains(e.Note, err.Error())
		})
	}
	for _, f := range []struct {
		lock, scenario, claim string
		holds                 func(o *race.Outcome) bool
	}{
		{"zk-herd", "watch-herd", "4 + 3 + 2 + 1 wakings, and one watch left behind by each of the four", func(o *race.Outcome) bool { return wakings(o.History) == 14 }},
		{"zk-recheck", "watch-herd", "one waking for each hand-over", func(o *race.Outcome) bool { return wakings(o.History) == 4 }},
		{"zk-naive", "watch-herd", "one waking for each hand-over", func(o *race.Outcome) bool { return wakings(o.History) == 4 }},
		{"zk-recheck", "watch-herd", "they are served in the order in which they came", func(o *race.Outcome) bool { return entries(o.History) == "12345" }},
		{"zk-herd", "in-line", "c1 waits for one turn and no more", func(o *race.Outcome) bool { return strings.HasPrefix(entries(o.History), "212") }},
		{"zk-recheck", "in-line", "c1 waits for one turn and no more", func(o *race.Outcome) bool { return strings.HasPrefix(entries(o.History), "212") }},
		{"zk-recheck", "lost-create", "nobody ever gets in, c1 least of all", func(o *race.Outcome) bool { return entries(o.History) == "" }},
		{"zk-naive", "lost-create", "the orphan does not keep everybody out: who is woken walks in", func(o *race.Outcome) bool { return strings.Contains(entries(o.History), "2") }},
		{"zk-protected", "lost-create", "c1 finds its own place, and is inside at its first attempt", func(o *race.Outcome) bool {
			return entries(o.History) == "12" && !refused(o.History, 1, lock.ErrNotAcquired)
		}},
		{"zk-recheck", "session-pause", "c1 is told when it asks, and does not write", func(o *race.Outcome) bool {
			return !slices.ContainsFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Write && e.Client == 1 })
		}},
		{"zk-protected", "session-ends", "c1 hears of it at its release", func(o *race.Outcome) bool {
			return slices.ContainsFunc(o.History.Events, func(e history.Event) bool {
				return e.Kind == history.Released && e.Client == 1 && !e.OK && e.Note == lock.ErrNotHeld.Error()
			})
		}},
		{"zk-semaphore", "session-ends", "three are inside where two may be", func(o *race.Outcome) bool { return strings.HasPrefix(entries(o.History), "123") }},
		{"zk-naive", "waiter-dies", "c3 walks in beside c1", func(o *race.Outcome) bool { return found(o, verdict.Overlap, 1, 3) }},
		{"zk-naive", "waiter-leaves", "c3 walks in beside c1, without any fault", func(o *race.Outcome) bool { return found(o, verdict.Overlap, 1, 3) && o.Scenario.Budget == nil }},
		{"zk-recheck", "waiter-dies", "c3 is woken, looks, and waits for c1", func(o *race.Outcome) bool { return strings.HasPrefix(entries(o.History), "13") }},
		{"zk-recheck", "numbers-end", "c1 is refused a place", func(o *race.Outcome) bool { return refused(o.History, 1, lock.ErrNodeExists) }},
		{"zk-protected", "numbers-end", "c1 sorts before the holder", func(o *race.Outcome) bool { return found(o, verdict.Overlap, 2, 1) }},
	} {
		sc, err := scenarios.ByName(f.scenario)
		if err != nil {
			t.Fatal(err)
		}
		o, err := race.Play(racetest.Lock(t, f.lock), sc, sc.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if !f.holds(o) {
			t.Errorf("%s in %s: not so: %s (%v, in order %s)", f.lock, f.scenario, f.claim, o.Judgement.Findings, entries(o.History))
		}
	}
}

// wakings is the number of watches of other clients that fire from c1's release on.
func wakings(h *history.History) (n int) {
	released := false
	for i := range h.Events {
		e := &h.Events[i]
		released = released || race.Event(history.Release, 1)(e)
		if released && race.EventOfOther(history.Fire, 1)(e) {
			n++
		}
	}
	return n
}

func found(o *race.Outcome, w verdict.Word, clients ...int) bool {
	return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
		return f.Verdict == w && slices.Equal(f.Clients, clients)
	})
}

// atStep injects a fault into c2 some time after it has sent its n-th request: c1 is
// inside, c2 waits behind it, and c3 behind c2.
func atStep(n int, after time.Duration, fault string, c simulator.Choice) race.Scenario {
	return race.Scenario{
		ID:       "step",
		Settings: racetest.Scenario("waiter-dies").Settings,
		Budget:   race.FixedBudget(fault),
		Clients:  racetest.Scenario("waiter-dies").Clients,
		Script: func(race.Settings, int) []race.Trigger {
			sent := 0
			return []race.Trigger{{Each: true, On: func(e *history.Event) bool {
				if race.Event(history.Send, 2)(e) {
					sent++
					return sent == n
				}
				return false
			}, Do: race.Inject(after, c)}}
		},
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryStep ends the session of a waiter at each of its steps, and loses the answer
// to each of its requests, for each lock. It compares the outcome with
// testdata/steps.golden.
func TestEveryStep(t *testing.T) {
	effort.Unwatched(t, "one goroutine plays")
	t.Parallel()
	half := racetest.Scenario("waiter-dies").Settings.Latency / 2
	ends, loses := faults.ExpireSessionOf(2), faults.LoseReplyTo(2, 0)
	var b bytes.Buffer
	for _, line := range []string{
		"c1 is inside, c2 stands in line behind it, and c3 behind c2. A line is a request of c2's.",
		"Its session ends while the request is on the way; while the answer is; a fifth of a",
		"second later; or that answer is lost. A dot is HOLDS.",
	} {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for _, e := range algorithms.OnZooKeeper() {
		fmt.Fprintf(&b, "\n%-62s | %-23s | %-23s | %-23s | %s\n", e.ID, "on the way", "answer on the way", "later", "answer lost")
		play := func(sc race.Scenario) *race.Outcome {
			o := racetest.PlayAnyway(t, e, sc, sc.Settings)
			if o.NotInjected != nil {
				t.Fatal(e.ID, o.NotInjected)
			}
			return o
		}
		n := 0
		for _, r := range play(atStep(0, 0, "", ends)).History.Events {
			if !race.Event(history.Send, 2)(&r) {
				continue
			}
			n++
			cells := []string{strings.Join(r.Cmd, " ")}
			for _, after := range []time.Duration{0, 3 * half, 200 * time.Millisecond} {
				cells = append(cells, brief(play(atStep(n, after, "expire-session=1", ends))))
			}
			if r.Node == history.Resource {
				cells[0] = "(the resource)"
				cells = append(cells, "-")
			} else {
				cells = append(cells, brief(play(atStep(n, 3*half, "lose-reply=1", loses))))
			}
			fmt.Fprintf(&b, "%-62s | %-23s | %-23s | %-23s | %s\n", cells[0], cells[1], cells[2], cells[3], cells[4])
		}
	}
	const file = "testdata/steps.golden"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is no longer what the program says; if it should not be, write it anew with: go test ./scenarios/study -run EveryStep -update\n%s", file, b.Bytes())
	}
}

// brief writes the verdicts of a cell.
func brief(o *race.Outcome) string {
	var words []string
	for _, w := range o.Verdicts {
		words = append(words, strings.ReplaceAll(string(w), "HOLDS", "."))
	}
	return strings.Join(words, " ")
}

// TestSeveralHolders tests two different locks on the same ensemble. No scenario shows
// that, since all clients of a scenario use the same lock.
func TestSeveralHolders(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	read, write := racetest.Lock(t, "zk-read"), racetest.Lock(t, "zk-write")
	protected, semaphore, multi := racetest.Lock(t, "zk-protected"), racetest.Lock(t, "zk-semaphore"), racetest.Lock(t, "zk-multi")
	s := race.StandardWith(func(s *race.Settings) { s.Clients = 3 })
	inLine := []race.ClientSpec{
		{Work: s.Retry, Patience: s.TTL},
		{Start: s.Retry / 2, Work: s.Retry, Patience: s.TTL},
		{Start: s.Retry * 3 / 5, Work: s.Retry, Patience: s.TTL},
	}
	// who has a lock of the two that the multi-lock wants, until after that gave up
	hasOther := race.ClientSpec{Work: s.TTL / 2, Run: func(a *race.ClientRun) {
		lease, err := a.Lock.Acquire(t.Context(), client.Key+"/2")
		if err != nil {
			t.Error(err)
			return
		}
		a.Clock().Sleep(a.Spec.Work)
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	for _, f := range []struct {
		rule  string
		locks []lock.Entry
		cast  []race.ClientSpec
		want  string // the entries and leaves of clients, in order
	}{
		{"readers wait for the writer, and come in together", []lock.Entry{write, read, read}, inLine, "+1 -1 +2 +3 -2 -3"},
		{"a writer waits for the readers, and a reader that came after it for the writer", []lock.Entry{read, write, read}, inLine, "+1 -1 +2 -2 +3 -3"},
		{"a writer waits for all readers before it", []lock.Entry{read, read, write}, inLine, "+1 +2 -1 -2 +3 -3"},
		{"the third of a semaphore with two permits waits for the first that comes back", []lock.Entry{semaphore, semaphore, semaphore}, inLine, "+1 +2 -1 +3 -2 -3"},
		{"a multi-lock takes all or none: while one is another's, whoever wants the other alone gets it", []lock.Entry{protected, multi, protected}, []race.ClientSpec{
			hasOther,
			{Start: s.Retry / 10, Work: s.Retry, Patience: s.Retry},
			{Start: s.Retry / 5, Work: s.Retry / 10, Run: func(a *race.ClientRun) {
				lease, err := race.PatientLock{Queuer: a.Unwrapped.(lock.Queuer), Patience: s.Retry * 2}.Acquire(t.Context(), client.Key+"/1")
				if err != nil {
					t.Error("the first of two is kept by who did not get the second:", err)
					return
				}
				a.Record(history.Event{Kind: history.Enter})
				a.Record(history.Event{Kind: history.Leave})
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}},
		}, "+3 -3 +2 -2"},
	} {
		h := mixed(t, s, f.locks, f.cast)
		var order []string
		for i := range h.Events {
			switch e := &h.Events[i]; e.Kind {
			case history.Enter:
				order = append(order, fmt.Sprint("+", e.Client))
			case history.Leave:
				order = append(order, fmt.Sprint("-", e.Client))
			}
		}
		if got := strings.Join(order, " "); got != f.want {
			t.Errorf("%s: %s, want %s", f.rule, got, f.want)
		}
		if j := verdict.Judge(h); len(j.Safety()) > 0 {
			t.Errorf("%s: %v", f.rule, j.Findings)
		}
	}
}

// mixed plays clients on the same ensemble, each with a lock of its own.
func mixed(t *testing.T, s race.Settings, locks []lock.Entry, cast []race.ClientSpec) *history.History {
	t.Helper()
	setup := simulator.Config{Nodes: client.Servers(locks[0], s.TTL, simulator.NodeConfig{}, 1)}
	opt := schedule.Conditions{Latency: s.Latency, Horizon: s.Horizon}
	h := &history.History{Clients: len(cast), Nodes: 1, Key: client.Key, ZooKeeper: true, TTL: s.TTL}
	for i, r := range cast {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: race.Program(locks[i], s, r, 1, false)})
		opt.Start = append(opt.Start, r.Start)
		h.Holders = append(h.Holders, max(1, locks[i].Holders))
		if locks[i].Holders == lock.AnyNumber {
			h.Holders[i] = history.AnyNumber
		}
	}
	sim, err := simulator.New(setup)
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	run, err := schedule.Play(sim, opt)
	if err != nil {
		t.Fatal(err)
	}
	h.End, h.Horizon, h.Events = run.End, run.Horizon, slices.Clone(run.Events)
	return h
}
