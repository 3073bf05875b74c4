package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// A Tolerance draws how large a single fault may be before a lock lets two clients in at
// once.
type Tolerance struct {
	study.Tolerance
	Rates []study.RateLimit // in Text only, beside the searches
	Lang  string            // of the picture; "": English
}

// Title is what the chart asks.
func (f *Tolerance) Title(lang string) string { return say(lang, "tolerance.title") }

// Bounds says what the searches covered.
func (f *Tolerance) Bounds(lang string) string { return say(lang, "tolerance.bounds") }

// Inconclusive says whether a search did not finish, so that something stays unknown.
func (f *Tolerance) Inconclusive() bool {
	return slices.ContainsFunc(f.Limits, func(l study.Limit) bool { return l.Answer == study.NoAnswer })
}

// limitLabel is a limit as tables and pictures write it.
func limitLabel(lang string, l *study.Limit) string {
	switch l.Answer {
	case study.NoAnswer:
		return say(lang, "tolerance.label.unknown")
	case study.NotAsked:
		return string(study.NotAsked)
	case study.NoLimit:
		return say(lang, "tolerance.label.holds", "max", decimal(study.MaxLeases))
	case study.AnySize:
		return say(lang, "tolerance.label.always")
	case study.FallsOnce:
		return say(lang, "tolerance.label.falls")
	case study.HoldsOnce:
		return say(lang, "tolerance.label.stands")
	}
	return leases(l.Falls)
}

// leases writes a size with two places.
func leases(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// Takeaway says for every hazard which locks fall from which size on. Locks that
// fall at the same size stand together, the frailest first, and so do hazards
// that have the same said of them.
func (f *Tolerance) Takeaway(lang string) string {
	var names, texts []string
	for n, h := range f.Hazards {
		names, texts = append(names, h.Fault), append(texts, f.groups(lang, n))
	}
	each := aboutEach(lang, names, texts)
	if debate := f.debate(lang); debate != "" {
		return say(lang, "grid.both", "first", debate, "next", each)
	}
	return each
}

// debate compares a majority of servers with one server, about which Kleppmann and
// antirez disagreed in 2016; "" if one of the two locks is missing.
func (f *Tolerance) debate(lang string) string {
	place := func(id string) int {
		return slices.IndexFunc(f.Locks, func(e lock.Entry) bool { return e.ID == id })
	}
	one, many := place("token"), place("redlock")
	if one < 0 || many < 0 {
		return ""
	}
	var parts []string
	for n, h := range f.Hazards {
		a, b := f.At(one, n), f.At(many, n)
		if a.Answer != study.Limited || b.Answer != study.Limited {
			continue
		}
		key := map[int]string{-1: "tolerance.less", 0: "tolerance.same", 1: "tolerance.more"}[cmp.Compare(b.Falls, a.Falls)]
		parts = append(parts, say(lang, key, "fault", h.Fault, "many", leases(b.Falls), "one", leases(a.Falls)))
	}
	if parts == nil {
		return ""
	}
	return say(lang, "tolerance.majority", "text", text.Join(lang, "tolerance.and", parts))
}

// Note says why locks on several servers fall here to what they survive in a race; "" if
// there is none that does.
func (f *Tolerance) Note(lang string) string {
	for l, e := range f.Locks {
		for n, h := range f.Hazards {
			if study.FewServers(e) > 1 && h.Fault == "failover" && f.At(l, n).Answer == study.FallsOnce {
				return say(lang, "chart.few", "lock", e.ID)
			}
		}
	}
	return ""
}

// boundaries names the limits at which two events fall on the same instant; "": there is none.
func (f *Tolerance) boundaries(lang string) string {
	var list []string
	for l, e := range f.Locks {
		for n, h := range f.Hazards {
			if f.At(l, n).Boundary {
				list = append(list, e.ID+" "+h.Fault)
			}
		}
	}
	if list == nil {
		return ""
	}
	return say(lang, "tolerance.boundary", "limits", text.Join(lang, "chart.list", list))
}

// groups says of the n-th hazard which locks fall from which size on.
func (f *Tolerance) groups(lang string, n int) string {
	type group struct {
		at    float64
		words string // {locks} is left open
		locks []string
	}
	var all []*group
	for i, e := range f.Locks {
		at, words := limitWords(lang, f.At(i, n))
		g := slices.IndexFunc(all, func(g *group) bool { return g.words == words })
		if g < 0 {
			g = len(all)
			all = append(all, &group{at: at, words: words})
		}
		all[g].locks = append(all[g].locks, e.ID)
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(a.at, b.at) })
	parts := make([]string, len(all))
	for i, g := range all {
		parts[i] = strings.Replace(g.words, "{locks}", named(lang, g.locks, len(f.Locks), i+1 == len(all)), 1)
	}
	return text.Join(lang, "grid.join", parts)
}

// limitWords puts a limit into words about {locks}; at is its rank among the others.
func limitWords(lang string, l *study.Limit) (at float64, words string) {
	switch l.Answer {
	case study.NoAnswer:
		return study.MaxLeases + 2, say(lang, "tolerance.untold")
	case study.NotAsked:
		return study.MaxLeases + 3, say(lang, "tolerance.na")
	case study.NoLimit:
		return study.MaxLeases + 1, say(lang, "tolerance.never", "max", decimal(study.MaxLeases))
	case study.AnySize:
		return 0, say(lang, "tolerance.always")
	case study.Limited:
		return l.Falls, say(lang, "tolerance.from", "at", leases(l.Falls))
	case study.HoldsOnce:
		return study.MaxLeases + 1, say(lang, "tolerance.stands")
	default:
		return 0, say(lang, "tolerance.falls")
	}
}

// CSV writes one line for each lock and hazard. Sizes are in leases; holds_up_to
// is empty where no size holds or there is none, falls_at and boundary_only where none falls.
func (f *Tolerance) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "fault", "result", "holds_up_to", "falls_at", "boundary_only", "largest_searched", "trace"}}
	for _, l := range f.Limits {
		r := []string{l.Strategy, l.Fault, string(l.Answer), sizeText(l.Holds), sizeText(l.Falls), "", "", l.Trace}
		if l.Falls > 0 {
			r[5] = strconv.FormatBool(l.Boundary)
		}
		if l.Holds > 0 || l.Falls > 0 { // the hazard has a size
			r[6] = decimal(study.MaxLeases)
		}
		records = append(records, r)
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing tolerances: %w", err)
	}
	return nil
}

func sizeText(x float64) string {
	if x == 0 {
		return ""
	}
	return decimal(x)
}

// Text writes a lock per line and a hazard per column.
func (f *Tolerance) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(f.Title(lang), 0)
	}
	out.Put("", 0)
	head := []string{say(out.Lang(), "tolerance.head")}
	for _, h := range f.Hazards {
		head = append(head, h.Fault)
	}
	s := layout.Sheet{Rows: [][]string{head}, Floor: 8}
	for i, e := range f.Locks {
		row := []string{e.ID}
		for n := range f.Hazards {
			row = append(row, limitLabel(out.Lang(), f.At(i, n)))
		}
		s.Rows = append(s.Rows, row)
	}
	s.WriteOrCells(out)
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(f.Takeaway(lang), 0)
		out.Put(f.Bounds(lang), 0)
		if limits := f.boundaries(lang); limits != "" {
			out.Put(limits, 0)
		}
		if note := f.Note(lang); note != "" {
			out.Put(note, 0)
		}
	}
	if len(f.Rates) > 0 {
		f.putRates(out)
	}
	return out.Err()
}

// putRates adds a table with a lock per line and a race of clocks per column.
func (f *Tolerance) putRates(out *layout.Lines) {
	s := layout.Sheet{Rows: [][]string{{say(out.Lang(), "tolerance.rates.head")}}, Floor: 8}
	races := len(f.Rates) / len(f.Locks)
	for _, l := range f.Rates[:races] {
		s.Rows[0] = append(s.Rows[0], l.Scenario)
	}
	for all := range slices.Chunk(f.Rates, races) {
		row := []string{all[0].Strategy}
		for i := range all {
			row = append(row, rateLabel(out.Lang(), &all[i]))
		}
		s.Rows = append(s.Rows, row)
	}
	out.Put("", 0)
	s.WriteOrCells(out)
	out.Put("", 0)
	var played []string
	for _, rate := range study.Rates() {
		played = append(played, decimal(100*rate.Seconds()))
	}
	for _, lang := range out.Langs() {
		out.Put(say(lang, "tolerance.rates.note", "rates", text.Join(lang, "chart.list", played)), 0)
	}
}

func rateLabel(lang string, l *study.RateLimit) string {
	switch l.Answer {
	case study.NoAnswer:
		return say(lang, "tolerance.label.unknown")
	case study.NotAsked:
		return string(study.NotAsked)
	case study.NoLimit:
		return say(lang, "tolerance.label.holds", "max", decimal(l.Holds))
	}
	return decimal(l.Falls)
}
