package chart

import (
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Par draws the fewest faults with which each verdict comes about.
type Par struct{ study.ParTable }

// Name is that of Result, and so are the next ones.
func (c *Par) Name() string { return "par" }

// Assumptions says what the searches covered.
func (c *Par) Assumptions(lang string) string {
	b, all := c.Within, text.Join(lang, "chart.list", worded(lang, c.Verdicts...))
	return say(lang, "par.bounds", "clients", strconv.Itoa(b.Clients), "attempts", strconv.Itoa(b.Attempts),
		"more", strconv.Itoa(b.Clients+1), "ttl", length(b.TTL), "late", length(b.Step()), "verdicts", all)
}

// Inconclusive reports whether a search did not finish, so that something stays unknown.
func (c *Par) Inconclusive() bool {
	return slices.ContainsFunc(c.Rows, func(p study.Par) bool { return !p.Complete })
}

// Table has one row for each lock, budget and verdict. par, steps and trace are empty where nothing was found.
func (c *Par) Table() *Table {
	return tableOf("lock budget verdict found complete "+late+" par steps trace", c.Rows, func(p study.Par) []any {
		row := []any{p.Lock, p.Budget, p.Verdict, p.Found, p.Complete && !p.Unjudged, p.Late, nil, nil, nil}
		if p.Found {
			row = append(row[:6], p.Par, p.Steps, p.Trace)
		}
		return row
	})
}

const late = "clients_at_any_timing" // a column; 0: in lockstep alone

// Finding says which faults let two clients into most locks, if there are any.
func (c *Par) Finding(lang string) string {
	falls := lists.Each(c.Budgets, func(b string) []string {
		of := lists.Pick(c.Rows, func(p study.Par) bool {
			return p.Verdict == verdict.Overlap && p.Found && p.Budget == b
		})
		return lists.Each(of, func(p study.Par) string { return p.Lock })
	})
	locks := slices.MaxFunc(append(falls, nil), func(a, b []string) int { return len(a) - len(b) })
	if len(locks) == 0 {
		key := map[bool]string{false: "par.finding.none", true: "par.untold"}[c.Inconclusive()]
		all := lists.Each(c.Locks, func(e lock.Entry) string { return e.ID })
		return say(lang, key, "locks", text.Join(lang, "chart.list", all))
	}
	same := lists.Pick(lists.Indices(falls), func(k int) bool { return slices.Equal(falls[k], locks) })
	who := text.Join(lang, "chart.list", locks)
	if len(locks) == len(c.Locks) && len(locks) > 1 {
		who = say(lang, "par.each", "n", strconv.Itoa(len(locks)))
	}
	faults, key := lists.Each(same, func(k int) string { return head(c.Budgets[k]) }), "par.finding"
	if strings.Contains(strings.Join(faults, ""), "+") {
		key = "par.finding.several"
	}
	return say(lang, key, "faults", text.Join(lang, "chart.or", faults), "locks", who)
}

// Notes implements Result.
func (c *Par) Notes(lang string) []string { return []string{say(lang, "par.note")} }

// viewPar has a fault a line and a lock a column: the verdicts that it is enough for, each with the fewest faults.
func viewPar(c *Chart, lang string) *Table {
	return across(c.Table.records(), []string{"budget"}, "lock", func(of []record) any {
		harms := lists.Pick(of, found)
		if harms == nil {
			return noneOf(lang, of).words
		}
		all := strings.Join(lists.Each(harms, func(r record) string { return r.text("verdict") + needs(r) }), ", ")
		return map[bool]string{false: all, true: say(lang, "par.late", "verdicts", all)}[harms[0].number(late) > 0]
	})
}

func found(r record) bool { return r.is("found") }

// needs returns the number of faults that a verdict takes, in brackets; "" for one.
func needs(r record) string {
	if n := map[bool]string{false: "≤"}[r.is("complete")] + r.text("par"); n != "1" {
		return " (" + n + ")"
	}
	return ""
}

// noneOf is a cell whose verdicts were not found: with how many clients at any timing, or in lockstep alone.
func noneOf(lang string, of []record) (at cell) {
	at = at.like(LookOf(verdict.Unknown))
	switch n := slices.Min(numbers(late, of)); {
	case slices.ContainsFunc(of, func(r record) bool { return !r.is("complete") }):
		at.words = say(lang, "theorems.extent.open")
	case n > 0:
		at = at.like(LookOf(verdict.Holds))
		at.words = say(lang, "par.none", "n", inWords(lang, int(n)))
	default:
		at.glyph, at.words = "-?", say(lang, "par.lockstep")
	}
	return at
}

// drawPar has a lock a line and a fault a column. What the fault can do has a colour, and a dashed border where it does
// so at other timings than lockstep only.
func drawPar(c *Chart, lang string) frame {
	all := c.Table.records()
	locks, budgets := by("lock", all), values("budget", all)
	place := func(r record) int { return slices.Index(words, verdict.Word(r.text("verdict"))) }
	f := c.boxes(lang, values("lock", all), heads(budgets, lang), func(l, k int) (at cell) {
		of := by("budget", locks[l])[k]
		harms := lists.Pick(of, found)
		if harms == nil {
			return noneOf(lang, of)
		}
		at = at.worst(lang, harms)
		at.words += needs(slices.MinFunc(harms, func(a, b record) int { return place(a) - place(b) }))
		if harms[0].number(late) > 0 {
			at.border, at.dashes = 1.2, []vg.Length{3, 2}
		}
		return at
	})
	f.below = []string{say(lang, "par.below")}
	return f
}
