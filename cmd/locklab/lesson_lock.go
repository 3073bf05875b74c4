package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/lessons"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// article is the id of a lock in the articles, if it has one, for a title.
func article(e lock.Entry) string {
	if e.Article == "" {
		return strconv.Itoa(e.Year)
	}
	return e.Article + ", " + strconv.Itoa(e.Year)
}

func (a *app) explainLock(e lock.Entry) error {
	row, err := a.stage.row(e)
	if err != nil {
		return err
	}
	if a.json {
		texts, err := a.texts("lock." + e.ID + ".")
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{Version: schema, Lock: new(listed(e)), Texts: texts, Cells: cellsJSON(row)})
	}
	key := "lock." + e.ID
	a.wrap("", fmt.Sprintf("%s (%s): %s", e.ID, article(e), a.say(e.Title.EN, e.Title.ZH)))
	if uncontracted(e) {
		a.sentence("No contract speaks of "+e.ID+".", "契约没有提到 "+e.ID+"。")
	}
	if err := a.text("how", key+".how"); err != nil {
		return err
	}
	if err := a.session(e); err != nil {
		return err
	}
	if err := a.textParts([2]string{"mends", key + ".mends"}, [2]string{"choose", key + ".choose"}, [2]string{"beside", key + ".beside"}); err != nil {
		return err
	}
	a.becomes(row)
	if err := a.textParts([2]string{"origin", key + ".origin"}, [2]string{"words", key + ".words"}); err != nil {
		return err
	}
	a.printf("\n")
	a.capitals()
	fallen := gravest(row).Scenario.ID
	steps := []string{"locklab explain " + e.ID + " " + fallen, "locklab explain " + fallen}
	if m := builtOn.FindStringSubmatch(lessons.In("en").Name(key + ".how")); m != nil {
		steps[1] = "locklab explain " + m[1]
	}
	if s, ok := race.Successor(e); ok {
		steps = append(steps, "locklab explain "+s.ID)
	}
	a.next(steps...)
	return nil
}

// builtOn finds the lock in whose terms another's mechanism is told.
var builtOn = regexp.MustCompile(`^As ([a-z][a-z0-9-]*)`)

// session is the lock with nobody else about, as typed into redis-cli; or what is said
// to a ZooKeeper.
func (a *app) session(e lock.Entry) error {
	o, err := a.teacher("en").alone(e)
	if err != nil || !slices.ContainsFunc(o.History.Events, asksRedis) {
		return err
	}
	if e.Expiry == lock.ExpirySession {
		a.part(a.label("session.zookeeper"))
		return a.notation(o)
	}
	a.part(a.label("session"))
	first := *o.History // of several servers the first will do: all are asked the same
	first.Nodes = 1
	first.Events = slices.DeleteFunc(slices.Clone(first.Events), func(e history.Event) bool { return e.Node > 1 })
	err = a.indented(func(b *app) error {
		return reports.RedisCLI(b.stdout, &first, verdict.Judgement{}, b.options())
	})
	if o.History.Nodes > 1 {
		a.wrap("  # ", a.label("session.all"))
	}
	return internal(err)
}

// becomes sorts what becomes of a lock in each race: falls, each with the command that
// plays it, then waits, then the rest by name.
func (a *app) becomes(row []*race.Outcome) {
	var waits, stands, senseless []string
	a.part(a.label("falls"))
	any := false
	for _, o := range row {
		race := o.Scenario.ID
		switch w := o.Verdicts[0]; {
		case falls(o):
			any = true
			head := "  " + padded("locklab run "+o.Strategy.ID+" "+race, 44) + " " + padded(o.Scenario.Race, 5)
			if a.width >= reports.NarrowWidth {
				a.wrap(head, a.outcomeWords(o))
				break
			}
			a.printf("%s\n", strings.TrimRight(head, " "))
			a.wrap("      ", a.outcomeWords(o))
		case w.Broken():
			waits = append(waits, race+" "+a.waiting(o))
		case w == verdict.NA:
			senseless = append(senseless, race)
		default:
			stands = append(stands, race)
		}
	}
	if !any {
		a.printf("  -\n")
	}
	for _, list := range []struct {
		label string
		names []string
	}{{"waits", waits}, {"stands", stands}, {"senseless", senseless}} {
		if len(list.names) > 0 {
			a.part(a.label(list.label))
			a.wrap("  ", a.sideBySide(list.names))
		}
	}
}

// mark is a punctuation mark of the language that comes first.
func (a *app) mark(en, zh string) string {
	if a.langs()[0] == "zh" {
		return zh
	}
	return en
}

func (a *app) sideBySide(names []string) string { return strings.Join(names, a.mark(", ", "、")) }

func (a *app) inBrackets(aside string) string {
	return a.mark(" (", "（") + aside + a.mark(")", "）")
}

// waiting is the longest wait of an outcome.
func (a *app) waiting(o *race.Outcome) string {
	d := max(longest(o, verdict.Blocked), longest(o, verdict.Orphan))
	return a.teacher(a.langs()[0]).span(d)
}

// outcomeWords are the verdicts of an outcome, and the contract's reason for them.
func (a *app) outcomeWords(o *race.Outcome) string {
	text := join(o.Verdicts)
	if d := longest(o, verdict.Blocked); d > 0 {
		text += a.inBrackets(a.teacher(a.langs()[0]).span(d))
	}
	why := reason("na", o.NotApplicable)
	if contract.Expected(o) != nil && contract.AsExpected(o) && why == (reports.Text{}) {
		why = reason("why", contract.Why(o.Strategy, o.Scenario))
	}
	if why != (reports.Text{}) {
		text += a.mark(": ", "：") + a.say(why.EN, why.ZH)
	}
	return text
}
