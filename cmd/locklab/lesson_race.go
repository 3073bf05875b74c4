package main

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

func (a *app) explainRace(sc race.Scenario) error {
	told, cells, err := a.teller(sc)
	if err != nil {
		return err
	}
	if a.json {
		texts, err := a.texts("race." + sc.ID + ".")
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{
			Version: schema, Race: new(listedRace(sc)), Story: new(story(sc, "story")), Numbers: new(story(sc, "numbers")), Texts: texts, Cells: cellsJSON(cells),
		})
	}
	a.raceHead(sc, story(sc, "title"))
	if told.History != nil {
		a.part(beside(a.label("notation")) + "locklab run " + told.Strategy.ID + " " + sc.ID)
		if err := a.notation(told); err != nil {
			return err
		}
	}
	key := "race." + sc.ID
	if err := a.textParts([2]string{"why", key + ".why"}, [2]string{"cure", key + ".mends"}, [2]string{"not", key + ".not"}); err != nil {
		return err
	}
	a.who(sc)
	if err := a.text("cases", key+".cases"); err != nil {
		return err
	}
	a.printf("\n")
	a.capitals()
	fallen := told.Strategy.ID
	a.next("locklab explain "+fallen+" "+sc.ID, "locklab run "+fallen+" "+sc.ID+" --view redis", "locklab matrix --scenarios "+sc.ID)
	return nil
}

// raceHead is what a race is about.
func (a *app) raceHead(sc race.Scenario, title reports.Text) {
	a.wrap("", strings.TrimSpace(sc.Race+" "+sc.ID)+": "+a.say(title.EN, title.ZH))
	told := story(sc, "story")
	if told == (reports.Text{}) {
		return
	}
	a.printf("\n")
	for _, lang := range a.langs() {
		a.wrap("  ", in(lang, told))
	}
	a.told("numbers", story(sc, "numbers"))
}

// teller is the lock with which a race is told: of those on which the story turns
// the one that falls deepest, the one that most people would write before the others;
// or else of all. cells are what was played.
func (a *app) teller(sc race.Scenario) (told *race.Outcome, cells []*race.Outcome, err error) {
	usual, err := race.Strategy("token")
	if err != nil {
		return nil, nil, internal(err)
	}
	turning := append([]lock.Entry{usual}, slices.DeleteFunc(algorithms.Milestones(), func(e lock.Entry) bool { return e.ID == usual.ID })...)
	for _, locks := range [][]lock.Entry{turning, algorithms.All()} {
		cells = nil
		for _, e := range locks {
			o, err := a.stage.play(e, sc)
			if err != nil {
				return nil, nil, err
			}
			cells = append(cells, o)
		}
		if told = gravest(cells); told.Verdicts[0].Broken() {
			break
		}
	}
	return told, cells, nil
}

// notation prints a run as the articles tell it, and what it comes to.
func (a *app) notation(o *race.Outcome) error {
	return internal(a.indented(func(b *app) error {
		return reports.Notation(b.stdout, o.History, o.Judgement, b.options())
	}))
}

// who says of all locks what the contract has them come to in a race: first the
// falls, then the waits, then those that stand, and last those of which it says nothing.
func (a *app) who(sc race.Scenario) {
	a.part(a.label("who"))
	var heads []string
	rank, names := map[string]int{}, map[string][]string{}
	for _, e := range algorithms.All() {
		c := contract.CellOf(e, sc)
		head := join(c.Words())
		if c.Words() == nil {
			head = a.say("no contract speaks of", "契约没有提到")
		}
		if why := reason("why", c.Why); c.Why != "" {
			head += a.inBrackets(a.say(why.EN, why.ZH))
		}
		if names[head] == nil {
			heads = append(heads, head)
			switch w := c.Words(); {
			case w == nil:
				rank[head] = 4
			case slices.ContainsFunc(w, verdict.Word.Harm):
				rank[head] = 0
			case w[0].Broken():
				rank[head] = 1
			case w[0] == verdict.NA:
				rank[head] = 3
			default:
				rank[head] = 2
			}
		}
		names[head] = append(names[head], e.ID)
	}
	slices.SortStableFunc(heads, func(x, y string) int { return rank[x] - rank[y] })
	for _, head := range heads {
		a.wrap("  ", head+a.mark(":", "："))
		a.wrap("    ", a.sideBySide(names[head]))
	}
}
