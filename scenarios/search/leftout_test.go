package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// keep changes a search so that its states have again what is left out of them.
var keep = map[string]func(o *explore.Options){
	"symmetry":     func(o *explore.Options) { o.Symmetric = 0 },
	"histories":    func(o *explore.Options) { o.Plain.Histories = true },
	"rests":        func(o *explore.Options) { o.Plain.Histories, o.Plain.Rests = true, true },
	"parts":        func(o *explore.Options) { o.Plain.Parts = true },
	"transactions": func(o *explore.Options) { o.Plain.Transactions = true },
	"clocks":       func(o *explore.Options) { o.Plain.Clocks = true },
	"all":          func(o *explore.Options) { o.Plain = explore.Plainest },
}

// A level says when a question is asked: always, for a push, or where tests are exhaustive.
type level int

const (
	always level = iota
	pushed
	exhaustive
)

func (l level) asked() bool {
	return l == always || effort.Exhaustive() || l == pushed && effort.Pushed()
}

// leftOut are searches that leave something out. A search that keeps it, and has more states than these, is compared as
// far as it goes.
var leftOut = []struct {
	kept, locks, bounds, budgets string
	states                       int
	asked                        level
}{
	{"symmetry", "zk-protected", "timing=any", "crash=1", 40_000, always},
	{"symmetry", "every", "timing=any", "crash=1", 30_000, exhaustive},
	{"symmetry", "ensemble", "timing=any", "expire-session=1 lose-reply=1 delay=1@3s pause=1", 40_000, exhaustive},
	{"histories", "set-ifeq", "timing=any", "crash=1", 20_000, always},
	{"histories", "every", "timing=any", "crash=1", 20_000, exhaustive},
	{"rests", "token watchdog", "attempts=2", "crash=1", 400_000, always},
	// Where a time-out comes, or a copy is read, before the budget is spent and after it.
	{"parts", "token", "timing=any", "delay=1@3s lose-reply=1 failover=1", 400_000, always},
	{"parts", "token-wait", "timing=any", "failover=1 crash=1", 400_000, always},
	{"parts", "setnx", "timing=any", "split=1 delay=1@5s+crash=1", 400_000, always},
	{"parts", "token", "timing=any", "lose-request=1 hang=1@5s restart=1@1s pause=1@3s split=1", 400_000, exhaustive},
	{"parts", "setnx-expire", "timing=any", "failover=1 restart=1@10s failover=1+node-clock=1@10s", 400_000,
		exhaustive},
	{"parts", "token-wait", "timing=any", "split=1 restart=1@1s delay=1@3s", 400_000, exhaustive},
	{"parts", "zk-recheck", "timing=any", "expire-session=1 lose-reply=1 delay=1@3s", 400_000, exhaustive},
	{"parts", "every", "timing=any", "crash=1", 30_000, exhaustive},
	// An ensemble numbers creations only, and not every transaction as a real one does.
	{"transactions", "zk-recheck", "", "none crash=1 expire-session=1 lose-reply=1 pause=1", 400_000, always},
	{"transactions", "ensemble", "", "none crash=1 expire-session=1 lose-reply=1 pause=1", 400_000, exhaustive},
	{"clocks", "redlock spin", "", "pause=1", 60_000, always},
	{"clocks", "every", "", "pause=1 crash=1 client-clock=1@10s delay=1@3s", 60_000, exhaustive},
	{"clocks", "every", "timing=any idle=true", "crash=1", 100_000, exhaustive},
	{"clocks", "stamped", "timing=any idle=true", "crash=1", 1_000_000, pushed},
	{"clocks", "stamped", "timing=any idle=true", "lose-reply=1 client-clock=1@3s return=1", 1_000_000, exhaustive},
	{"all", "database", "timing=any", "none crash=1", 200_000, always},
	{"all", "database", "timing=any", "pause=1 lose-reply=1 expire-session=1 restart=1 failover=1", 200_000,
		exhaustive},
}

// TestLeftOut: what a search leaves out of its states changes nothing that it finds, and there are fewer of them.
func TestLeftOut(t *testing.T) {
	for _, q := range leftOut {
		if !q.asked.asked() {
			continue
		}
		t.Run(strings.Join([]string{q.kept, q.locks, q.bounds, q.budgets}, "/"), func(t *testing.T) {
			t.Parallel()
			fewer := false
			for _, entry := range locks(t, strings.Fields(q.locks)...) {
				for budget := range strings.FieldsSeq(q.budgets) {
					b := within(t, entry, q.bounds+" budget="+budget)
					fewer = withAndWithout(t, entry, b, q.states, keep[q.kept]) || fewer
				}
			}
			if !fewer {
				t.Error("no search has fewer states")
			}
		})
	}
}

// withAndWithout compares a search with one that keeps what it leaves out; true: this one has more states.
func withAndWithout(t *testing.T, entry lock.Entry, b search.Bounds, states int, keep func(*explore.Options)) bool {
	t.Helper()
	if b.Check(entry) != nil {
		return false // a fault that this lock has no use for
	}
	// Where a clock is read there is no end, and the search is cut.
	cut := func(o *explore.Options) { o.MaxStates, o.Unending = states, false }
	kept := searchedUpTo(t, entry, b, func(o *explore.Options) { cut(o); keep(o) })
	r := searchedUpTo(t, entry, b, cut)
	name := fmt.Sprint(entry.ID, ", ", b.Faults())
	t.Logf("%s: %d states, with what is left out %d, complete %t", name, r.States, kept.States, kept.Complete)
	switch {
	case !kept.Complete && !r.Complete:
	case !kept.Complete:
		for _, found := range kept.Pars() {
			if !slices.Contains(r.Pars(), found) {
				t.Errorf("%s: %s is not found, but %v", name, found, r.Pars())
			}
		}
	case !r.Complete || r.States > kept.States || listed(prices(r)) != listed(prices(kept)):
		t.Errorf("%s: found are\n%s\nin %d states, with what is left out\n%s\nin %d", name, listed(prices(r)), r.States,
			listed(prices(kept)), kept.States)
	}
	return r.Complete && r.States < kept.States
}
