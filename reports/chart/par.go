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
	"locklab/simulator/verdict"
)

// A Par draws the fewest faults with which each verdict comes about.
type Par struct {
	study.ParTable
	Lang string // of the picture; "": English
}

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

// Takeaway says for every verdict which faults bring it about, and to which locks. Verdicts
// that have the same said of them stand together.
func (c *Par) Takeaway(lang string) string {
	var names, texts []string
	for n, word := range c.Verdicts {
		names, texts = append(names, string(word)), append(texts, c.sentence(lang, n))
	}
	return aboutEach(lang, names, texts)
}

// sentence says of a verdict first what needs no fault, then fault by fault, then who is
// spared. Faults that harm the same locks stand together.
func (c *Par) sentence(lang string, n int) string {
	var spared, untold, lucky []string
	for l, e := range c.Locks {
		switch p := c.At(l, n); {
		case p.Found && p.Par == 0:
			lucky = append(lucky, e.ID)
		case p.Found:
		case p.Complete:
			spared = append(spared, e.ID)
		default:
			untold = append(untold, e.ID)
		}
	}
	var parts []string
	if lucky != nil {
		parts = append(parts, say(lang, "par.with.none", "locks", named(lang, lucky, len(c.Locks), false)))
	}
	var order []string
	byFaults := map[string][]string{}
	locks := map[string][]string{}
	for k, budget := range c.Budgets {
		var harmed []string
		for l, e := range c.Locks {
			if p := c.Of(l, k, n); p.Found && p.Par > 0 {
				harmed = append(harmed, e.ID)
			}
		}
		if harmed == nil {
			continue
		}
		key := strings.Join(harmed, ",")
		if byFaults[key] == nil {
			order = append(order, key)
		}
		byFaults[key], locks[key] = append(byFaults[key], faultsOf(budget)), harmed
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(locks[b]) - len(locks[a]) })
	for _, key := range order {
		parts = append(parts, say(lang, "par.by.faults", "faults", text.Join(lang, "chart.list", byFaults[key]), "locks", named(lang, locks[key], len(c.Locks), false)))
	}
	if spared != nil {
		parts = append(parts, say(lang, "par.spared", "locks", named(lang, spared, len(c.Locks), untold == nil)))
	}
	if untold != nil {
		parts = append(parts, say(lang, "par.untold", "locks", named(lang, untold, len(c.Locks), true)))
	}
	return text.Join(lang, "grid.join", parts)
}

// faultsOf is a budget as a head of a column: a single fault without its number.
func faultsOf(budget string) string {
	if budget == "" {
		return "-"
	}
	return strings.TrimSuffix(budget, "=1")
}

// Note says why locks on several servers fall here to what they survive in a race; "" if
// there is none that does.
func (c *Par) Note(lang string) string {
	for l, e := range c.Locks {
		for k, budget := range c.Budgets {
			if n := slices.Index(c.Verdicts, verdict.Overlap); n >= 0 && study.FewServers(e) > 1 && strings.HasPrefix(budget, "failover") && c.Of(l, k, n).Found {
				return say(lang, "chart.few", "lock", e.ID)
			}
		}
	}
	return ""
}

// CSV writes one line for each lock, budget and verdict. par, steps and trace are empty
// where nothing was found.
func (c *Par) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "budget", "verdict", "found", "complete", "par", "steps", "trace"}}
	for l := range c.Locks {
		for k, budget := range c.Budgets {
			for n := range c.Verdicts {
				p := c.Of(l, k, n)
				r := []string{p.Strategy, budget, string(p.Verdict), strconv.FormatBool(p.Found), strconv.FormatBool(p.Complete), "", "", ""}
				if p.Found {
					r[5], r[6], r[7] = strconv.Itoa(p.Par), strconv.Itoa(p.Steps), p.Trace
				}
				records = append(records, r)
			}
		}
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
		if note := c.Note(lang); note != "" {
			out.Put(note, 0)
		}
	}
	return out.Err()
}
