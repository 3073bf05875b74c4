package scenarios

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// TestEnsembleContract plays what the contract says of the locks on a ZooKeeper.
func TestEnsembleContract(t *testing.T) {
	t.Parallel()
	var company Company
	for _, sc := range All() {
		for _, e := range algorithms.OnZooKeeper() {
			want := Contracted(e, sc).Words
			if want == nil {
				continue
			}
			o, err := company.Play(e, sc, sc.Settings)
			if err != nil {
				t.Fatal(err)
			}
			if !sameWords(o.Verdicts, want) || !o.Reached || o.Missed != nil || o.NotApplicable == (Text{}) && !o.Judgement.Contended {
				t.Errorf("%s in %s: %v, reached %v, missed %v, the contract says %v", e.ID, sc.ID, o.Verdicts, o.Reached, o.Missed, want)
			}
		}
	}
}

// TestEnsembleDetails are facts of these races that say who, and how often.
func TestEnsembleDetails(t *testing.T) {
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
		holds                 func(o *Outcome) bool
	}{
		{"zk-herd", "watch-herd", "4 + 3 + 2 + 1 wakings, and one watch left behind by each of the four", func(o *Outcome) bool { return wakings(o.History) == 14 }},
		{"zk-recheck", "watch-herd", "one waking for each hand-over", func(o *Outcome) bool { return wakings(o.History) == 4 }},
		{"zk-naive", "watch-herd", "one waking for each hand-over", func(o *Outcome) bool { return wakings(o.History) == 4 }},
		{"zk-recheck", "watch-herd", "they are served in the order in which they came", func(o *Outcome) bool { return entries(o.History) == "12345" }},
		{"zk-herd", "in-line", "c1 waits for one turn and no more", func(o *Outcome) bool { return strings.HasPrefix(entries(o.History), "212") }},
		{"zk-recheck", "in-line", "c1 waits for one turn and no more", func(o *Outcome) bool { return strings.HasPrefix(entries(o.History), "212") }},
		{"zk-recheck", "lost-create", "nobody ever gets in, c1 least of all", func(o *Outcome) bool { return entries(o.History) == "" }},
		{"zk-naive", "lost-create", "the orphan does not keep everybody out: who is woken walks in", func(o *Outcome) bool { return strings.Contains(entries(o.History), "2") }},
		{"zk-protected", "lost-create", "c1 finds its own place, and is inside at its first attempt", func(o *Outcome) bool { return entries(o.History) == "12" && !refused(o.History, 1, algorithms.ErrNotAcquired) }},
		{"zk-recheck", "session-pause", "c1 is told when it asks, and does not write", func(o *Outcome) bool {
			return !slices.ContainsFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Write && e.Client == 1 })
		}},
		{"zk-protected", "session-ends", "c1 hears of it at its release", func(o *Outcome) bool {
			return slices.ContainsFunc(o.History.Events, func(e history.Event) bool {
				return e.Kind == history.Released && e.Client == 1 && !e.OK && e.Note == algorithms.ErrNotHeld.Error()
			})
		}},
		{"zk-semaphore", "session-ends", "three are inside where two may be", func(o *Outcome) bool { return strings.HasPrefix(entries(o.History), "123") }},
		{"zk-naive", "waiter-dies", "c3 walks in beside c1", func(o *Outcome) bool { return found(o, verdict.Overlap, 1, 3) }},
		{"zk-naive", "waiter-leaves", "c3 walks in beside c1, without any fault", func(o *Outcome) bool { return found(o, verdict.Overlap, 1, 3) && o.Scenario.Budget == nil }},
		{"zk-recheck", "waiter-dies", "c3 is woken, looks, and waits for c1", func(o *Outcome) bool { return strings.HasPrefix(entries(o.History), "13") }},
		{"zk-recheck", "numbers-end", "c1 is refused a place", func(o *Outcome) bool { return refused(o.History, 1, algorithms.ErrNodeExists) }},
		{"zk-protected", "numbers-end", "c1 sorts before the holder", func(o *Outcome) bool { return found(o, verdict.Overlap, 2, 1) }},
	} {
		sc, err := ByName(f.scenario)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Play(zooLock(t, f.lock), sc, sc.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if !f.holds(o) {
			t.Errorf("%s in %s: not so: %s (%v, in order %s)", f.lock, f.scenario, f.claim, o.Judgement.Findings, entries(o.History))
		}
	}
}

func found(o *Outcome, w verdict.Word, clients ...int) bool {
	return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
		return f.Verdict == w && slices.Equal(f.Clients, clients)
	})
}

// steps is the race of every step: c1 is inside, c2 stands in line and c3 behind
// it, and at one step of c2's the fault strikes it.
func steps(fault string, at func(e *history.Event) bool, c simulator.Choice, step int) Scenario {
	seen := 0
	return Scenario{
		ID:       "step",
		Settings: with(func(s *Settings) { s.Clients = 3 }),
		Budget:   always(fault),
		Cast:     threeInLine,
		Script: func(Settings, int) []Beat {
			seen = 0
			return []Beat{{Each: true, On: func(e *history.Event) bool {
				if !at(e) {
					return false
				}
				seen++
				return seen == step
			}, Do: strike(0, c)}}
		},
		Struck: func(*history.History) bool { return seen >= step },
	}
}

// TestEveryStep has the session of one who waits end at each of its steps, and each
// answer of the ensemble to it be lost, for each lock, and holds what comes of it
// against testdata/steps.golden.
func TestEveryStep(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	fmt.Fprint(&b, "# c1 is inside, c2 stands in line behind it, c3 behind c2. At each step of c2's until it\n# is outside again its session ends; and each answer that the ensemble gives it is lost.\n")
	for _, f := range []struct {
		fault string
		at    func(e *history.Event) bool
		c     simulator.Choice
	}{
		{"expire-session", func(e *history.Event) bool {
			return e.Client == 2 && slices.Contains([]history.Kind{history.Send, history.Apply, history.Answer, history.Enter, history.Leave}, e.Kind)
		}, faults.ExpireSessionOf(2)},
		{"lose-reply", func(e *history.Event) bool {
			return e.Kind == history.Apply && e.Client == 2 && e.Node > 0
		}, faults.LoseReplyTo(2, 0)},
	} {
		for _, e := range algorithms.OnZooKeeper() {
			fmt.Fprintf(&b, "\n[%s, %s]\n", e.ID, f.fault)
			last := ""
			for step := 1; ; step++ {
				sc := steps(f.fault+"=1", f.at, f.c, step)
				o, err := sc.play(e, sc.Settings)
				if err != nil {
					t.Fatal(err)
				}
				if !o.Reached {
					break
				}
				line := describeStep(o.History, f.at, step) + ":"
				for _, w := range o.Verdicts {
					line += " " + string(w)
				}
				_ = last
				fmt.Fprintf(&b, "%2d %s\n", step, line)
			}
		}
	}
	const file = "testdata/steps.golden"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is no longer what the program says: write it anew with go test ./scenarios -run EveryStep -update, and read the diff\n%s", file, b.Bytes())
	}
}

// describeStep says what c2 did at a step.
func describeStep(h *history.History, at func(e *history.Event) bool, step int) string {
	for i := range h.Events {
		e := &h.Events[i]
		if !at(e) {
			continue
		}
		if step--; step == 0 {
			return strings.TrimSpace(fmt.Sprintf("%v %s", e.Kind, strings.Join(e.Cmd, " ")))
		}
	}
	return ""
}

var _ = errors.Is
var _ = time.Second
var _ = schedule.NewPlayer
