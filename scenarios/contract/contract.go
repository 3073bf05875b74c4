// Package contract says what every lock must come to in every race and in every
// search (contract.txt, proofs.txt), and verifies it by playing and searching.
//
// A line is an [Expectation]; [Verify] gives a [Result] for each. What follows from others is not written: see [Parse].
package contract

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

//go:embed contract.txt
var contractText string

//go:embed proofs.txt
var proofsText string

// ownContract is the program's own contract.
type ownContract struct {
	expectations []Expectation
	cells        map[cell]*Expectation // those about a race
}

// A cell is one lock in one race, by their IDs.
type cell struct{ lock, raceID string }

// own parses the program's own contract. A mistake in it is one of ours, and the tests find it. It may leave locks and
// races out: the author of one wants to see what it does before writing down what it must do. TestContractIsComplete
// demands that it covers everything that is listed.
var own = sync.OnceValue(func() *ownContract {
	c := &ownContract{cells: map[cell]*Expectation{}}
	for _, f := range []struct{ name, text string }{
		{"scenarios/contract/contract.txt", contractText},
		{"scenarios/contract/proofs.txt", proofsText},
	} {
		p, err := parse(f.name, f.text)
		if err != nil {
			panic(err)
		}
		c.expectations = append(c.expectations, p.expectations...)
	}
	for i := range c.expectations {
		if e := &c.expectations[i]; !e.IsSearch() {
			c.cells[cell{e.Lock.ID, e.Race.ID}] = e
		}
	}
	return c
})

// Own is the program's own contract: every lock in every race, written or derived, and the searches. Locks and races
// that it does not cover are left out, see [Uncovered]. The caller may change the slice.
func Own() []Expectation { return slices.Clone(own().expectations) }

// Covers reports whether the own contract has a line under [locks] for a lock: what becomes of it in each race is
// derived from there. It reads no other line, since that takes a third of a second.
func Covers(entry lock.Entry) bool { return listed()[entry.ID] }

var listed = sync.OnceValue(func() map[string]bool {
	ids, inside := map[string]bool{}, false
	for line := range strings.Lines(contractText) {
		if strings.HasPrefix(line, "[") {
			inside = strings.TrimSpace(line) == "[locks]"
			continue
		}
		if id, _, _ := strings.Cut(strings.TrimSpace(line), " "); inside {
			ids[id] = true
		}
	}
	return ids
})

// CellOf returns what the own contract expects of a lock in a race with the race's own settings: the verdicts, the
// reason, and whether they are written or derived. It has no verdicts where the contract says nothing.
func CellOf(entry lock.Entry, sc race.Race) Expectation {
	if e := own().cells[cell{entry.ID, sc.ID}]; e != nil {
		return *e
	}
	return Expectation{Lock: entry, Race: sc}
}

// Why is the own contract's reason for a lock's verdict in a race; empty where it holds or the race does not apply.
func Why(entry lock.Entry, sc race.Race) race.Reason { return CellOf(entry, sc).Why }

// Expected returns what the own contract says of a run; nil if its settings are not the
// race's own (the seed may differ), or if the contract does not cover it.
func Expected(o *race.Outcome) []verdict.Word {
	s := o.Settings
	s.Seed = o.Race.Settings.Seed
	if _, err := scenarios.ByName(o.Race.ID); err != nil || s != o.Race.Settings {
		return nil
	}
	e := CellOf(o.Lock, o.Race)
	return e.Words()
}

// AsExpected reports whether a run is as the own contract expects it; true where the contract expects nothing.
func AsExpected(o *race.Outcome) bool {
	want := Expected(o)
	return want == nil || o.Triggered && sameWords(o.Verdicts, want)
}

// Uncontracted reports whether the own contract says nothing of a lock in a race: then no outcome is as expected, and
// none differs. For all but the listed races, such as a search, it reports whether the contract does not know the lock.
func Uncontracted(entry lock.Entry, sc race.Race) bool {
	if _, err := scenarios.ByName(sc.ID); err != nil {
		return len(Uncovered(entry)) == len(scenarios.All())
	}
	return CellOf(entry, sc).Expected == nil
}

// Uncovered are the races in which the own contract says nothing of a lock: all for a lock that it does not know.
func Uncovered(entry lock.Entry) []race.Race {
	return lists.Pick(scenarios.All(), func(sc race.Race) bool { return CellOf(entry, sc).Expected == nil })
}
