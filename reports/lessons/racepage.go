package lessons

import (
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

// Race prints the page of a race.
func (t *Teacher) Race(sc race.Scenario) error {
	example, _, err := t.stage.Example(sc)
	if err != nil {
		return err
	}
	t.raceHead(sc, func(lang string) string { return Story(lang, sc, "title") })
	if example.History != nil {
		t.part(t.out.Label("label.notation") + "locklab run " + example.Strategy.ID + " " + sc.ID)
		t.notation(example)
	}
	key := "race." + sc.ID
	t.texts(labelled{"why", key + ".why"}, labelled{"cure", key + ".mends"}, labelled{"not", key + ".not"})
	t.byResult(sc)
	t.texts(labelled{"cases", key + ".cases"})
	t.out.Printf("\n")
	t.aboutVerdicts()
	id := example.Strategy.ID
	t.out.Next("locklab explain "+id+" "+sc.ID, "locklab run "+id+" "+sc.ID+" --view redis", "locklab matrix --scenarios "+sc.ID)
	return t.err
}

// raceHead prints title, story and numbers of a race.
func (t *Teacher) raceHead(sc race.Scenario, title func(lang string) string) {
	head(t, strings.TrimSpace(sc.Race+" "+sc.ID), title)
	if Story("en", sc, "story") == "" {
		return
	}
	t.out.Printf("\n")
	for _, lang := range t.out.Langs() {
		t.out.Wrap("  ", Story(lang, sc, "story"))
	}
	t.labelled("numbers", func(lang string) string { return Story(lang, sc, "numbers") })
}

// Example returns the outcome by which a race is explained: the most severe of the
// milestones, token before the others, or else of all locks. played are all outcomes
// that it chose from.
func (s *Stage) Example(sc race.Scenario) (example *race.Outcome, played []*race.Outcome, err error) {
	usual, err := race.Strategy("token")
	if err != nil {
		return nil, nil, err
	}
	milestones := append([]lock.Entry{usual}, slices.DeleteFunc(algorithms.Milestones(), func(e lock.Entry) bool { return e.ID == usual.ID })...)
	for _, locks := range [][]lock.Entry{milestones, algorithms.All()} {
		played = nil
		for _, e := range locks {
			o, err := s.Play(e, sc)
			if err != nil {
				return nil, nil, err
			}
			played = append(played, o)
		}
		if example = mostSevere(played); example.Verdicts[0].Broken() {
			break
		}
	}
	return example, played, nil
}

// byResult prints for each result that the contract expects in a race the locks that
// come to it: first failures, then waits, then locks that survive, then those to which
// the race does not apply, then those that the contract does not cover.
func (t *Teacher) byResult(sc race.Scenario) {
	t.part(t.out.Say("label.who"))
	var all groups
	for _, e := range algorithms.All() {
		c := contract.CellOf(e, sc)
		head := reports.Words(c.Words())
		if c.Words() == nil {
			head = t.out.Say("explain.uncovered")
		}
		if c.Why != "" {
			head = t.out.First("explain.aside", "text", head, "aside", t.out.Each(func(lang string) string { return reason(lang, "why", c.Why) }))
		}
		all.add(head, c.Words(), e.ID)
	}
	for _, g := range all {
		t.out.Wrap("  ", t.out.First("explain.head", "text", g.head))
		t.out.Wrap("    ", list(t.out.Langs()[0], g.names))
	}
}

// A group is the locks that come to one result.
type group struct {
	head  string
	rank  int
	names []string
}

// groups are in the order of their ranks, and those of one rank in the order in which they were met.
type groups []group

func (all *groups) add(head string, words []verdict.Word, name string) {
	at := slices.IndexFunc(*all, func(g group) bool { return g.head == head })
	if at < 0 {
		rank := rankOf(words)
		if at = slices.IndexFunc(*all, func(g group) bool { return g.rank > rank }); at < 0 {
			at = len(*all)
		}
		*all = slices.Insert(*all, at, group{head: head, rank: rank})
	}
	(*all)[at].names = append((*all)[at].names, name)
}

// rankOf orders the results of a race.
func rankOf(words []verdict.Word) int {
	switch {
	case words == nil:
		return 4
	case verdict.Fails(words):
		return 0
	case words[0].Broken():
		return 1
	case words[0] == verdict.NA:
		return 3
	}
	return 2
}
