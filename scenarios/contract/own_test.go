package contract_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/verdict"
)

// TestContractIsComplete: the contract covers every listed lock in every race, each
// written line is needed, and each line with a failure gives its reason.
func TestContractIsComplete(t *testing.T) {
	missing := map[string]bool{} // races
	for _, e := range algorithms.All() {
		profile, ok := contract.ProfileOf(e)
		if covered := len(contract.Uncovered(e)) < len(scenarios.All()); contract.Covers(e) != covered {
			t.Errorf("%s: Covers is %t", e.ID, !covered)
		}
		if !ok {
			t.Errorf("contract.txt does not cover %s: write under [locks] the line that TestProfiles prints, "+
				"and then the lines that TestContract prints", e.ID)
			continue
		}
		for _, sc := range contract.Uncovered(e) {
			missing[sc.ID] = true
		}
		if contract.Uncontracted(e, race.Race{ID: search.SearchID}) {
			t.Errorf("a search of %s counts as uncontracted", e.ID)
		}
		for _, sc := range scenarios.All() {
			c := contract.CellOf(e, sc)
			if c.Expected == nil || c.Derived {
				continue
			}
			if w := c.Words(); slices.Equal(w, []verdict.Word{verdict.Holds}) || sc.WhyNotApplicable(profile) != "" {
				t.Errorf("%s:%d: what follows for %s is written as well: remove it", c.File, c.Line, e.ID)
			}
			if c.Why == "" {
				t.Errorf("%s:%d: say why: | the key of a reason", c.File, c.Line)
			}
		}
	}
	for race := range missing {
		t.Errorf("contract.txt does not cover the race %s: write the line [%[1]s], and below it those that "+
			"TestContract prints", race)
	}
}

// TestProfiles: each lock behaves as its profile in the contract says. The contract
// derives from the profile which races do not apply, so no race is left out unnoticed.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, e := range algorithms.All() {
		want, _ := contract.ProfileOf(e)
		got := racetest.Must(runner.Profile(e))(t)
		if got != want {
			t.Errorf("the profile of %s is another one. If that is as it should be, write under [locks]:\n%s", e.ID,
				profileLine(e.ID, got))
		}
	}
}

// profileLine writes a profile as in section [locks].
func profileLine(id string, p race.Profile) string {
	line := fmt.Sprintf("%-20s", id)
	if p.Nodes != 1 {
		line += fmt.Sprintf(" Nodes=%d", p.Nodes)
	}
	v := reflect.ValueOf(p)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type.Kind() == reflect.Bool && v.FieldByIndex(f.Index).Bool() {
			line += " " + f.Name
		}
	}
	return line
}

var update = flag.Bool("update", false, "write the golden files anew")

// TestDerivedCells compares the derived cells with the golden file, which dates from when
// all cells were written out: "-" is N/A, "." HOLDS, "#" a written cell. It skips races
// and locks that the file does not have, so that an addition changes nothing here.
func TestDerivedCells(t *testing.T) {
	const file = "testdata/derived.txt"
	if *update {
		if err := os.WriteFile(file, []byte(derivedCells()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := racetest.Must(os.ReadFile(file))(t)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	races := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		id, cells, _ := strings.Cut(line, " ")
		e, err := race.Lock(id)
		if err != nil {
			t.Error(err)
			continue
		}
		for i, want := range strings.TrimSpace(cells) {
			sc, err := scenarios.ByName(races[i])
			if err != nil {
				t.Error(err)
				continue
			}
			if got := mark(contract.CellOf(e, sc)); got != want {
				t.Errorf("%s in %s: %c, it was %c: a profile, or what a race needs, has changed", id, sc.ID, got, want)
			}
		}
	}
}

func derivedCells() string {
	var b strings.Builder
	for _, sc := range scenarios.All() {
		fmt.Fprintf(&b, "%s ", sc.ID)
	}
	for _, e := range algorithms.All() {
		fmt.Fprintf(&b, "\n%-20s ", e.ID)
		for _, sc := range scenarios.All() {
			b.WriteRune(mark(contract.CellOf(e, sc)))
		}
	}
	return b.String() + "\n"
}

func mark(c contract.Expectation) rune {
	switch {
	case c.Derived && slices.Equal(c.Words(), []verdict.Word{verdict.NA}):
		return '-'
	case c.Derived && slices.Equal(c.Words(), []verdict.Word{verdict.Holds}):
		return '.'
	case c.Expected != nil && !c.Derived:
		return '#'
	}
	return '?'
}

// The searches of the contract cover every fault, and show of each milestone both that it
// holds and that it fails.
func TestProofsCoverEverything(t *testing.T) {
	holds, breaks, allowed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range contract.Own() {
		if !e.IsSearch() {
			continue
		}
		if e.Expected[0].Verdict == verdict.Holds {
			holds[e.Lock.ID] = true
		} else {
			breaks[e.Lock.ID] = true
		}
		budget := racetest.Must(e.Bounds.Budget.Parse())(t)
		for _, a := range budget {
			allowed[a.Fault.Name] = true
		}
	}
	for _, e := range algorithms.Milestones() {
		if !holds[e.ID] || !breaks[e.ID] {
			t.Errorf("%s: no search in which it must hold (%t), or none in which it must break (%t)", e.ID, holds[e.ID],
				breaks[e.ID])
		}
	}
	for _, f := range faults.All() {
		if !allowed[f.Name] {
			t.Errorf("no search has %s in its budget: write %q and a line below it, as \"token HOLDS\", "+
				"into proofs.txt",
				f.Name, "[search budget="+f.Name+"=1]")
		}
	}
}

// TestExpectedOnlyWithOwnSettings: the contract expects nothing of a run with other
// settings than the race's own. Another seed changes nothing.
func TestExpectedOnlyWithOwnSettings(t *testing.T) {
	e, sc := racetest.Cell(t, "token", "gc-pause")
	for _, f := range []struct {
		set      string
		expected bool
	}{{"", true}, {"seed=9", true}, {"pause=13s", false}, {"ttl=9s", false}, {"budget=pause=1", false}} {
		s := racetest.Must(sc.Settings.With(f.set))(t)
		if o := racetest.Must(race.Play(e, sc, s))(t); (contract.Expected(o) != nil) != f.expected {
			t.Errorf("with %q: expected is %v", f.set, contract.Expected(o))
		}
	}
}
