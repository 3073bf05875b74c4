package contract

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

//go:embed contract.txt
var contractText string

// A Contract is what every lock does in every scenario: by strategy and
// scenario.
type Cells map[[2]string]Cell

// A Clause is the contract of one cell.
type Cell struct {
	Words []verdict.Word // in the verdicts' own order
	Why   race.Text      // a few words; empty where the lock holds or the question has no meaning
}

// ParseContract reads a contract that speaks of every lock in every scenario.
// Errors name the file and the line.
//
//	# a comment
//	[gc-pause]
//	setnx            HOLDS
//	token watchdog   OVERLAP STALE-WRITE | it slept past its lease | 睡过了租期
//
// A line names locks, what becomes of each of them, and why, in English and in
// Chinese. Where they hold, or the question has no meaning, there is no need to
// say why.
func ParseCells(file, text string) (Cells, error) {
	c, err := parseContract(file, text)
	if err != nil {
		return nil, err
	}
	if err := c.complete(file); err != nil {
		return nil, err
	}
	return c, nil
}

// parseContract is ParseContract of what may leave locks out.
func parseContract(file, text string) (Cells, error) {
	c := Cells{}
	scenario := ""
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var err error
		if strings.HasPrefix(line, "[") {
			scenario, err = sectionOf(line)
		} else {
			err = c.read(scenario, line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return c, nil
}

// sectionOf reads "[scenario]" and gives the scenario's ID.
func sectionOf(line string) (string, error) {
	name, closed := strings.CutSuffix(line, "]")
	if !closed {
		return "", fmt.Errorf("%q: write [scenario] on a line of its own", line)
	}
	sc, err := scenarios.ByName(name[1:])
	return sc.ID, err
}

// read adds a line's cells.
func (c Cells) read(scenario, line string) error {
	ids, clause, err := parseClause(line)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.add(scenario, id, clause); err != nil {
			return err
		}
	}
	harmless := slices.Contains(clause.Words, verdict.Holds) || slices.Contains(clause.Words, verdict.NA)
	if clause.Why == (race.Text{}) && !harmless {
		return fmt.Errorf("%s: say why: %s | a few words | 几个字", line, line)
	}
	return nil
}

// parseClause reads a line: locks, verdicts, and why.
func parseClause(line string) (ids []string, c Cell, err error) {
	parts := strings.Split(line, "|")
	fields := strings.Fields(parts[0])
	for len(fields) > 0 && namesLock(fields[0]) {
		ids, fields = append(ids, fields[0]), fields[1:]
	}
	for _, f := range fields {
		w, err := verdict.ParseWord(f)
		if former := (*verdict.RenamedError)(nil); errors.As(err, &former) {
			return nil, c, err
		}
		if err != nil || !slices.Contains(contractWords, w) {
			return nil, c, fmt.Errorf("%q is no verdict that can be promised: write one of %v", f, contractWords)
		}
		if slices.Contains(c.Words, w) {
			return nil, c, fmt.Errorf("%s stands here twice", w)
		}
		c.Words = append(c.Words, w)
	}
	switch {
	case ids == nil:
		return nil, c, fmt.Errorf("%q names no lock: write token OVERLAP", line)
	case c.Words == nil:
		return nil, c, fmt.Errorf("%q has no verdict", line)
	case len(parts) == 1:
		return ids, c, nil
	case len(parts) == 3:
		c.Why = race.Text{EN: strings.TrimSpace(parts[1]), ZH: strings.TrimSpace(parts[2])}
	}
	if c.Why.EN == "" || c.Why.ZH == "" {
		return nil, c, fmt.Errorf("%q: say why in English and in Chinese: | a few words | 几个字", line)
	}
	return ids, c, nil
}

// namesLock says whether a field is a lock, known or mistyped, and no verdict.
func namesLock(field string) bool {
	_, known := algorithms.ByName(field)
	return known || field != strings.ToUpper(field)
}

func (c Cells) add(scenario, id string, clause Cell) error {
	if scenario == "" {
		return fmt.Errorf("a line before the first [scenario]")
	}
	entry, err := race.Strategy(id)
	if err != nil {
		return err
	}
	cell := [2]string{entry.ID, scenario}
	if _, ok := c[cell]; ok {
		return fmt.Errorf("%s in %s stands here for the second time", id, scenario)
	}
	c[cell] = clause
	return nil
}

// contractWords can be promised; UNKNOWN and VACUOUS are never an answer.
var contractWords = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie,
	verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved, verdict.Holds, verdict.NA,
}

func (c Cells) complete(file string) error {
	for _, sc := range scenarios.All() {
		for _, e := range algorithms.All() {
			if _, ok := c[[2]string{e.ID, sc.ID}]; !ok {
				return fmt.Errorf("%s: nothing is said of %s in %s: add a line under [%s]", file, e.ID, sc.ID, sc.ID)
			}
		}
	}
	return nil
}

// contract is the lab's own. It is part of the program: a mistake in it is one
// of ours, and the tests find it. A lock that it leaves out is no reason to end
// everything: whoever adds one wants to see what it does before promising it. The
// tests demand that it speaks of all that are in the list.
var contract = sync.OnceValue(func() Cells {
	c, err := parseContract("scenarios/contract/contract.txt", contractText)
	if err != nil {
		panic(err)
	}
	return c
})

// Expected is what the contract says of a run; nil if its settings are not the
// scenario's own, or if it says nothing: see Uncontracted.
func Expected(o *race.Outcome) []verdict.Word {
	s := o.Settings
	s.Seed = o.Scenario.Settings.Seed
	if _, err := scenarios.ByName(o.Scenario.ID); err != nil || s != o.Scenario.Settings {
		return nil
	}
	return CellOf(o.Strategy, o.Scenario).Words
}

// AsExpected says whether the contract holds. Without one there is nothing to
// differ from.
func AsExpected(o *race.Outcome) bool {
	want := Expected(o)
	return want == nil || o.Reached && sameWords(o.Verdicts, want)
}

// Contracted is what the lab's own contract says of a lock in a scenario; without
// Words where it says nothing, see Uncontracted.
func CellOf(entry lock.Entry, sc race.Scenario) Cell {
	return contract()[[2]string{entry.ID, sc.ID}]
}

// Uncontracted says whether the contract says nothing of a lock in a scenario: then
// no verdict is as expected, and none differs. Of what is none of its scenarios,
// such as a search, it says nothing by itself; there it counts whether it knows the
// lock at all.
func Uncontracted(entry lock.Entry, sc race.Scenario) bool {
	if _, err := scenarios.ByName(sc.ID); err != nil {
		return len(Uncovered(entry)) == len(scenarios.All())
	}
	return CellOf(entry, sc).Words == nil
}

// Unspoken are the scenarios in which the contract says nothing of a lock: all of
// them for a lock that it does not know.
func Uncovered(entry lock.Entry) (scs []race.Scenario) {
	for _, sc := range scenarios.All() {
		if CellOf(entry, sc).Words == nil {
			scs = append(scs, sc)
		}
	}
	return scs
}

// Why is the contract's reason for what becomes of a lock in a scenario; empty
// where it holds, or the question has no meaning.
func Why(entry lock.Entry, sc race.Scenario) race.Text { return CellOf(entry, sc).Why }

// sameWords compares verdicts in whatever order.
func sameWords(a, b []verdict.Word) bool {
	if len(a) != len(b) {
		return false
	}
	for _, w := range a {
		if !slices.Contains(b, w) {
			return false
		}
	}
	return true
}
