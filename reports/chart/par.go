package chart

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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
	said := []string{say(lang, "par.bounds", "clients", strconv.Itoa(c.Within.Clients), "attempts",
		strconv.Itoa(c.Within.Attempts), "ttl", length(c.Within.TTL), "verdicts",
		text.Join(lang, "chart.list", verdict.Names(c.Verdicts)))}
	if slices.ContainsFunc(c.Rows, func(p study.Par) bool { return p.Found && p.Par != 1 }) {
		said = append(said, say(lang, "par.number"))
	}
	if slices.ContainsFunc(c.Budgets, func(b string) bool { return strings.Contains(b, "pause") }) {
		said = append(said, say(lang, "par.pause"))
	}
	return text.Join(lang, "part.sentences", said)
}

// Inconclusive reports whether a search did not finish, so that something stays unknown.
func (c *Par) Inconclusive() bool {
	return slices.ContainsFunc(c.Rows, func(p study.Par) bool { return !p.Complete })
}

// Table has one row for each lock, budget and verdict. par, steps and trace are empty where nothing was found.
func (c *Par) Table() *Table {
	return tableOf("lock budget verdict found complete par steps trace", c.Rows, func(p study.Par) []any {
		row := []any{p.Lock, p.Budget, p.Verdict, p.Found, p.Complete && !p.Unjudged, nil, nil, nil}
		if p.Found {
			row = append(row[:5], p.Par, p.Steps, p.Trace)
		}
		return row
	})
}

// Finding says which faults let two clients into most locks, if there are any.
func (c *Par) Finding(lang string) string {
	var faults, locks []string
	for _, b := range c.Budgets {
		fall := lists.Pick(c.Rows, func(p study.Par) bool {
			return p.Verdict == verdict.Overlap && p.Found && p.Budget == b
		})
		switch names := lists.Each(fall, func(p study.Par) string { return p.Lock }); {
		case len(names) > len(locks):
			locks, faults = names, []string{head(b)}
		case locks != nil && slices.Equal(names, locks):
			faults = append(faults, head(b))
		}
	}
	if locks == nil {
		key := "par.finding.none"
		if c.Inconclusive() {
			key = "par.untold"
		}
		all := lists.Each(c.Locks, func(e lock.Entry) string { return e.ID })
		return say(lang, key, "locks", text.Join(lang, "chart.list", all))
	}
	who := text.Join(lang, "chart.list", locks)
	if len(locks) == len(c.Locks) && len(locks) > 1 {
		who = say(lang, "par.each", "n", strconv.Itoa(len(locks)))
	}
	return say(lang, "par.finding", "faults", text.Join(lang, "chart.or", faults), "locks", who)
}

// Notes implements Result.
func (c *Par) Notes(lang string) []string { return []string{say(lang, "par.note")} }

// viewPar has a fault a line and a lock a column: the verdicts that it is enough for, each with the fewest faults.
func viewPar(c *Chart, _ string) *Table {
	return across(c.Table.records(), []string{"budget"}, "lock", func(of []record) any {
		var found []string
		open := false
		for _, r := range of {
			if open = open || !r.is("complete"); r.is("found") {
				found = append(found, r.text("verdict")+needs(r))
			}
		}
		if len(found) == 0 && open {
			return "?"
		}
		return cmp.Or(strings.Join(found, ", "), "-")
	})
}

// needs returns the number of faults that a verdict takes, in brackets; "" for one.
func needs(r record) string {
	if n := map[bool]string{false: "≤"}[r.is("complete")] + r.text("par"); n != "1" {
		return " (" + n + ")"
	}
	return ""
}

// drawPar has a lock a line and a fault a column. What it can do has a colour, and what was proved impossible a dash.
func drawPar(c *Chart, lang string) frame {
	all := c.Table.records()
	locks, budgets := by("lock", all), values("budget", all)
	more := false
	f := c.boxes(lang, values("lock", all), heads(budgets, lang), func(l, k int) (at cell) {
		of := by("budget", locks[l])[k]
		harms := lists.Pick(of, func(r record) bool { return r.is("found") })
		switch {
		case len(harms) > 0:
			place := func(r record) int { return slices.Index(words, verdict.Word(r.text("verdict"))) }
			gravest := slices.MinFunc(harms, func(a, b record) int { return place(a) - place(b) })
			at = at.worst(lang, harms)
			at.words, more = at.words+needs(gravest), more || len(harms) > 1
			return at
		case slices.ContainsFunc(of, func(r record) bool { return !r.is("complete") }):
			return at.like(LookOf(verdict.Unknown))
		}
		return at.like(LookOf(verdict.Holds))
	})
	if f.below = []string{say(lang, "par.below")}; more && !c.narrow {
		f.below[0] = text.Join(lang, "part.sentences", append(f.below, say(lang, "chart.more")))
	}
	return f
}
