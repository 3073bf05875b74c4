package contract_test

import (
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// keys are the reasons of a result.
func keys(r *contract.Result) (list []string) {
	for _, why := range r.Reasons {
		list = append(list, why.Key)
	}
	return list
}

// TestCompareRace: a race meets what is expected, differs, or has no answer.
func TestCompareRace(t *testing.T) {
	row := contract.Own()[slices.IndexFunc(contract.Own(), func(e contract.Expectation) bool {
		return e.IsRace() && slices.Equal(e.Words(), []verdict.Word{verdict.Holds})
	})]
	for _, c := range []struct {
		verdicts []verdict.Word
		missed   bool // what the race is about did not happen
		status   contract.Status
		reasons  []string
	}{
		{[]verdict.Word{verdict.Holds}, false, contract.Met, nil},
		{[]verdict.Word{verdict.Holds}, true, contract.Inconclusive, []string{"unmet.not-injected"}},
		{[]verdict.Word{verdict.Overlap}, false, contract.Differs, []string{"unmet.race"}},
		{[]verdict.Word{verdict.Unknown}, false, contract.Inconclusive, []string{"unmet.no-answer"}},
		{[]verdict.Word{verdict.Vacuous}, false, contract.Inconclusive, []string{"unmet.no-answer"}},
	} {
		o := &race.Outcome{Lock: row.Lock, Race: row.Race, Settings: row.Race.Settings, Triggered: !c.missed}
		o.Verdicts = c.verdicts
		if r := row.JudgeRace(o); r.Status != c.status || !slices.Equal(keys(r), c.reasons) {
			t.Errorf("%v, missed: %t: status %d, %v", c.verdicts, c.missed, r.Status, keys(r))
		}
		if as := contract.AsExpected(o); as != (c.status == contract.Met) {
			t.Errorf("%v, missed: %t: as expected is %t", c.verdicts, c.missed, as)
		}
	}
	unknown := racetest.Must(race.Play(algorithms.Milestones()[0], scenarios.All()[0], scenarios.All()[0].Settings))(t)
	unknown.Lock.ID = "unknown"
	if !contract.AsExpected(unknown) {
		t.Error("of a lock that the contract does not know nothing is expected")
	}
}

// TestCompareSearch: each reason for which a search is not as expected, and the run that is shown of it.
func TestCompareSearch(t *testing.T) {
	list, err := contract.Parse("c.txt",
		"[search clients=1 budget=crash=1]\ntoken HOLDS\n[search budget=crash=1,pause=1]\ntoken OVERLAP@1\n")
	if err != nil {
		t.Fatal(err)
	}
	holds, breaks := list[0], list[1]
	crash, pause := holds.Bounds.Budget.Faults()[0].Fault.Verb, breaks.Bounds.Budget.Faults()[1].Fault.Verb
	found := func(words ...verdict.Word) (s []search.Witness, runs []*race.Outcome) {
		for _, w := range words {
			s = append(s, search.Witness{Witness: explore.Witness{Verdict: w, Par: 1}})
			o := &race.Outcome{}
			o.Verdicts = []verdict.Word{w}
			runs = append(runs, o)
		}
		return s, runs
	}
	for _, c := range []struct {
		rule    string
		of      contract.Expectation
		result  explore.Result
		words   []verdict.Word // of the witnesses
		shown   verdict.Word   // of the first when it is replayed; "": its own
		reasons []string
		outcome int // the witness that is shown
	}{
		{"as expected", breaks, explore.Result{Complete: true}, []verdict.Word{verdict.Overlap}, "", nil, 0},
		{"the first reason is shown", breaks, explore.Result{Complete: true},
			[]verdict.Word{verdict.Overlap, verdict.Lie, verdict.Orphan}, "",
			[]string{"unmet.comes", "unmet.comes"}, 1},
		{"not shown", breaks, explore.Result{Complete: true}, []verdict.Word{verdict.Overlap}, verdict.Lie,
			[]string{"unmet.not-shown"}, 0},
		{"a fault that happens nowhere", breaks, explore.Result{Complete: true}, []verdict.Word{verdict.Overlap}, "",
			[]string{"unmet.untriggered"}, 0},
		{"out of memory", breaks, explore.Result{OutOfMemory: true}, []verdict.Word{verdict.Overlap}, "",
			[]string{"unmet.cut.memory"}, 0},
		{"it does not break any more", breaks, explore.Result{Complete: true}, nil, "", []string{"unmet.gone"}, 0},
		{"a limit of the simulator", breaks, explore.Result{Limit: i18n.New("limit.choices", "n", 5)},
			[]verdict.Word{verdict.Overlap}, "", []string{"unmet.cut.limit"}, 0},
		{"cut short", breaks, explore.Result{}, []verdict.Word{verdict.Overlap}, "", []string{"unmet.cut.states"}, 0},
		{"too few clients", holds, explore.Result{Complete: true}, nil, "", []string{"unmet.unjudged"}, 0},
		{"too few clients, and a verdict", holds, explore.Result{Complete: true}, []verdict.Word{verdict.Orphan}, "",
			[]string{"unmet.comes"}, 0},
	} {
		s := &search.Search{Lock: c.of.Lock, Bounds: c.of.Bounds.Settled(c.of.Lock), Result: &c.result}
		if c.rule != "a fault that happens nowhere" {
			s.Result.Triggered = append(s.Result.Triggered, crash, pause)
		}
		var runs []*race.Outcome
		s.Witnesses, runs = found(c.words...)
		if c.shown != "" {
			runs[0].Verdicts = []verdict.Word{c.shown}
		}
		r := c.of.JudgeSearch(s, runs)
		if !slices.Equal(keys(r), c.reasons) || runs != nil && r.Outcome != runs[c.outcome] {
			t.Errorf("%s: status %d, %v", c.rule, r.Status, keys(r))
		}
	}
}
