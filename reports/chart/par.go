package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/verdict"
)

// A Par is the par of verdicts for each lock: the fewest faults with which a verdict
// comes about, as complete searches tell.
type Par struct {
	Verdicts []verdict.Word
	Rows     []ParRow

	// What the searches covered.
	Clients, Attempts int
	TTL               time.Duration
	Budgets           []string // one search each
}

// Title is what the chart asks.
func (c *Par) Title(lang string) string { return say(lang, "par.title") }

// Bounds says what the searches covered.
func (c *Par) Bounds(lang string) string {
	return say(lang, "par.bounds", "clients", strconv.Itoa(c.Clients), "attempts", strconv.Itoa(c.Attempts), "ttl", reports.Span(c.TTL),
		"budgets", text.Join(lang, "grid.join", c.Budgets))
}

// A ParRow is one lock's pars, in the order of the chart's verdicts.
type ParRow struct {
	Strategy string
	Pars     []ParCell
}

// A ParCell is the par of one verdict.
type ParCell struct {
	Told  bool // the searches were complete; otherwise Par is an upper bound, or unknown
	Found bool
	Par   int
	Steps int      // fewest choices with that many moves
	Ways  []string // the moves that do it: "pause", "crash+pause"; one is enough
	Trace string   // link to the shortest way
}

// cell is that of the n-th verdict; what was not given is not told.
func (r *ParRow) cell(n int) ParCell {
	if n < len(r.Pars) {
		return r.Pars[n]
	}
	return ParCell{}
}

// label is the par in a word: "1", "<= 1", "none", "?".
func (p ParCell) label(lang string) string {
	switch {
	case p.Found && p.Told:
		return strconv.Itoa(p.Par)
	case p.Found:
		return say(lang, "par.atmost", "n", strconv.Itoa(p.Par))
	case p.Told:
		return say(lang, "par.none")
	}
	return say(lang, "par.unknown")
}

// Inconclusive says whether a search did not finish, so that something stays unknown.
func (c *Par) Inconclusive() bool {
	for i := range c.Rows {
		for n := range c.Verdicts {
			if !c.Rows[i].cell(n).Told {
				return true
			}
		}
	}
	return false
}

// top is the largest par of the chart, at least 1.
func (c *Par) top() int {
	top := 1
	for _, r := range c.Rows {
		for _, p := range r.Pars {
			if p.Found {
				top = max(top, p.Par)
			}
		}
	}
	return top
}

// ways are the moves, "pause, failover": one of them is enough.
func (p ParCell) ways(lang string) string {
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
	for i := range c.Rows {
		p, id := c.Rows[i].cell(n), c.Rows[i].Strategy
		switch {
		case p.Found:
			harmed[p.Par] = append(harmed[p.Par], id)
		case p.Told:
			spared = append(spared, id)
		default:
			untold = append(untold, id)
		}
	}
	var parts []string
	for _, par := range sortedKeys(harmed) {
		parts = append(parts, with(lang, par, named(lang, harmed[par], len(c.Rows), false)))
	}
	if spared != nil {
		parts = append(parts, say(lang, "par.spared", "locks", named(lang, spared, len(c.Rows), untold == nil)))
	}
	if untold != nil {
		parts = append(parts, say(lang, "par.untold", "locks", named(lang, untold, len(c.Rows), true)))
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
	for i := range c.Rows {
		for n, word := range c.Verdicts {
			p := c.Rows[i].cell(n)
			r := []string{c.Rows[i].Strategy, string(word), strconv.FormatBool(p.Found), strconv.FormatBool(p.Told), "", "", "", ""}
			if p.Found {
				r[4], r[5], r[6], r[7] = strconv.Itoa(p.Par), strconv.Itoa(p.Steps), strings.Join(p.Ways, " "), p.Trace
			}
			records = append(records, r)
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
	for i := range c.Rows {
		row := []string{c.Rows[i].Strategy}
		for n := range c.Verdicts {
			row = append(row, c.Rows[i].cell(n).label(out.Lang()))
		}
		s.Rows = append(s.Rows, row)
	}
	if !s.Write(out) {
		for _, row := range s.Rows[1:] {
			for n, cell := range row[1:] {
				out.Put(row[0]+" "+head[n+1]+": "+cell, 2)
			}
		}
	}
	out.Put("", 0)
	for i := range c.Rows {
		for n, word := range c.Verdicts {
			if p := c.Rows[i].cell(n); p.Found {
				out.Put(say(out.Lang(), "par.by", "lock", layout.PadRight(c.Rows[i].Strategy, 13),
					"verdict", layout.PadRight(string(word), 12), "ways", p.ways(out.Lang())), 30)
			}
		}
	}
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(c.Takeaway(lang), 0)
		out.Put(c.Bounds(lang), 0)
	}
	return out.Err()
}
