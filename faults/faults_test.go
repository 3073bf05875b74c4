package faults_test

import (
	"testing"

	"locklab/faults"
	"locklab/reports/text"
)

// TestRewinds: only a fault that says so sets a server's clock back: searches rely on it.
func TestRewinds(t *testing.T) {
	s := newStage(t, "redis", "node-clock=2")
	silent := *faults.NodeClock
	silent.Rewinds = false
	for i := range s.sim.Config().Faults {
		s.sim.Config().Faults[i].Fault = &silent
	}
	s.step(t, faults.NodeClockOf(1, sec))
	if got := s.told(t, "node-clock n1 -1s"); got != "no: rewind" {
		t.Error(got)
	}
}

// TestEveryFault: whatever a fault offers can be done, spends its budget, and is told; and each fault is offered
// somewhere.
func TestEveryFault(t *testing.T) {
	for _, e := range faults.All() {
		offered := 0
		for _, at := range []struct{ stage, budget, before string }{
			{"redis", "", ""}, {"stocked", "", ""}, {"redis", "", "arrive c1"}, {"zookeeper", "", ""},
			{"lists", "", ""}, {"redis", ",crash=1", "crash c1"},
		} {
			if e == faults.Crash && at.budget != "" {
				continue
			}
			s := newStage(t, at.stage, e.Name+"=1@5s"+at.budget)
			if at.before != "" {
				s.told(t, at.before)
			}
			for _, c := range s.choices() {
				offered++
				after := *s
				if events := after.step(t, c); len(events) == 0 {
					t.Errorf("%s: nothing is told", s.sim.Describe(c))
				}
				if left := after.world.Budget(0); left != 0 {
					t.Errorf("%s: %d are left", s.sim.Describe(c), left)
				}
				if again := after.told(t, s.sim.Describe(c)); again != "no: budget.spent" {
					t.Errorf("%s once more: %s", s.sim.Describe(c), again)
				}
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
	pinned := []string{
		"crash", "pause", "lose-reply", "lose-request", "client-clock", "node-clock", "restart", "failover",
		"split", "hang", "delay", "fail-call", "evict", "flush", "delete", "expire-session", "pause-thread", "return",
		"server-list",
	}
	all := faults.All()
	if len(all) < len(pinned) {
		t.Errorf("%d faults are gone", len(pinned)-len(all))
	}
	for i, e := range all {
		if int(e.Verb) != 32+i || i < len(pinned) && e.Name != pinned[i] {
			t.Errorf("%s has verb %d and place %d: old traces would play another", e.Name, e.Verb, i)
		}
	}
}

// Every fault has a title in every language.
func TestTitles(t *testing.T) {
	for _, e := range faults.All() {
		for _, lang := range text.Languages() {
			if !text.In(lang).Has("title.fault." + e.Name) {
				t.Errorf("write the line %q below [%s] in reports/text/faults/%s.txt", "title.fault."+e.Name+" = …",
					lang, e.Name)
			}
		}
	}
}
