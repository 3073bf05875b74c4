package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// A Par draws the fewest faults with which each verdict comes about.
type Par struct{ study.ParTable }

// Title is what the chart asks.
func (c *Par) Title(lang string) string { return say(lang, "par.title") }

// Bounds says what the searches covered.
func (c *Par) Bounds(lang string) string {
	return say(lang, "par.bounds", "clients", strconv.Itoa(c.Within.Clients), "attempts", strconv.Itoa(c.Within.Attempts), "ttl", reports.Span(c.Within.TTL),
		"budgets", text.Join(lang, "grid.join", c.Budgets))
}

// parLabel is a par in a word: "1", "<= 1", "none", "?".
func parLabel(lang string, p *study.Par) string {
	switch {
	case p.Found && p.Complete:
		return strconv.Itoa(p.Par)
	case p.Found:
		return say(lang, "par.atmost", "n", strconv.Itoa(p.Par))
	case p.Complete:
		return say(lang, "par.none")
	}
	return say(lang, "par.unknown")
}

// Inconclusive says whether a search did not finish, so that something stays unknown.
func (c *Par) Inconclusive() bool {
	return slices.ContainsFunc(c.Pars, func(p study.Par) bool { return !p.Complete })
}

// top is the largest par of the chart, at least 1.
func (c *Par) top() int {
	top := 1
	for _, p := range c.Pars {
		top = max(top, p.Par)
	}
	return top
}

// parWays are the faults, "pause, failover": one of them is enough.
func parWays(lang string, p *study.Par) string {
	switch {
	case !p.Found:
		return ""
	case p.Par == 0:
		return say(lang, "par.noluck")
	}
	return strings.Join(p.Ways, ", ")
}

// Takeaway says for every verdict which locks it concerns with how few faults,
// and which are proved to be spared. Verdicts that have the same said of them
// stand together.
func (c *Par) Takeaway(lang string) string {
	var names, texts []string
	for n, word := range c.Verdicts {
		names, texts = append(names, string(word)), append(texts, c.sentence(lang, n))
	}
	return aboutEach(lang, names, texts)
}

func (c *Par) sentence(lang string, n int) string {
	var spared, untold []string
	harmed := map[int][]string{}
	for l, e := range c.Locks {
		switch p := c.At(l, n); {
		case p.Found:
			harmed[p.Par] = append(harmed[p.Par], e.ID)
		case p.Complete:
			spared = append(spared, e.ID)
		default:
			untold = append(untold, e.ID)
		}
	}
	var parts []string
	for _, par := range sortedKeys(harmed) {
		parts = append(parts, with(lang, par, named(lang, harmed[par], len(c.Locks), false)))
	}
	if spared != nil {
		parts = append(parts, say(lang, "par.spared", "locks", named(lang, spared, len(c.Locks), untold == nil)))
	}
	if untold != nil {
		parts = append(parts, say(lang, "par.untold", "locks", named(lang, untold, len(c.Locks), true)))
	}
	return text.Join(lang, "grid.join", parts)
}

func sortedKeys(m map[int][]string) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// with says how many faults locks need.
func with(lang string, par int, locks string) string {
	switch par {
	case 0:
		return say(lang, "par.with.none", "locks", locks)
	case 1:
		return say(lang, "par.with.one", "locks", locks)
	}
	return say(lang, "par.with", "locks", locks, "n", strconv.Itoa(par))
}

// CSV writes one line for each lock and verdict. par and steps are empty where
// nothing was found; ways are separated by blanks.
func (c *Par) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "verdict", "found", "complete", "par", "steps", "ways", "trace"}}
	for _, p := range c.Pars {
		r := []string{p.Strategy, string(p.Verdict), strconv.FormatBool(p.Found), strconv.FormatBool(p.Complete), "", "", "", ""}
		if p.Found {
			r[4], r[5], r[6], r[7] = strconv.Itoa(p.Par), strconv.Itoa(p.Steps), strings.Join(p.Ways, " "), p.Trace
		}
		records = append(records, r)
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing a table of pars: %w", err)
	}
	return nil
}

// Text writes a lock per line and a verdict per column, and then the moves.
func (c *Par) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(c.Title(lang), 0)
	}
	out.Put("", 0)
	head := []string{sayAll(out, "par.head")}
	for _, word := range c.Verdicts {
		head = append(head, string(word))
	}
	s := layout.Sheet{Rows: [][]string{head}, Floor: 4}
	for l, e := range c.Locks {
		row := []string{e.ID}
		for n := range c.Verdicts {
			row = append(row, parLabel(out.Lang(), c.At(l, n)))
		}
		s.Rows = append(s.Rows, row)
	}
	s.WriteOrCells(out)
	out.Put("", 0)
	for i := range c.Pars {
		if p := &c.Pars[i]; p.Found {
			out.Put(say(out.Lang(), "par.by", "lock", layout.PadRight(p.Strategy, 13),
				"verdict", layout.PadRight(string(p.Verdict), 12), "ways", parWays(out.Lang(), p)), 30)
		}
	}
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(c.Takeaway(lang), 0)
		out.Put(c.Bounds(lang), 0)
	}
	return out.Err()
}
