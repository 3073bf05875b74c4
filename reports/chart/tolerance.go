package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
)

// A Tolerance is how large a single fault may be before a lock lets two clients in at
// once, as complete searches tell.
type Tolerance struct {
	Locks   []string // in the order in which they are drawn
	Servers []int    // how many servers each has; nil: one each
	Hazards []Hazard
	Max     float64 // the largest size that was searched, in leases
}

// Title is what the chart asks.
func (f *Tolerance) Title(lang string) string { return say(lang, "tolerance.title") }

// Bounds says what the searches covered.
func (f *Tolerance) Bounds(lang string) string { return say(lang, "tolerance.bounds") }

// A Hazard is a fault that is injected once, and the limit of each lock.
type Hazard struct {
	ID     string // as it is typed; the catalogues have its name
	Sized  bool   // the fault has a size; without one a lock only holds or falls
	Limits []Limit
	Guides []Guide // sizes at which a lock can be expected to fall, two at most, the smaller one first
}

// A Guide is a size with a name.
type Guide struct {
	At   float64 // in leases
	Name string  // "work" or "renewal": what is taken off the lease
}

// A Limit is the size of a hazard at which one lock falls.
type Limit struct {
	Inconclusive bool    // a search had to be given up, or was never made
	Holds        float64 // the largest size that let nobody in, in leases; 0: none
	Falls        float64 // the smallest size that let two in, in leases; 0: none. Not 0 for a hazard without size: it falls
	Trace        string  // link to a run that falls at that size; "": none
}

// The results of a limit, as CSV and JSON write them.
const (
	resultUnknown = "unknown"
	resultHolds   = "no limit found"
	resultAlways  = "falls at any size"
	resultLimited = "limited"
	resultFalls   = "falls"
	resultStands  = "holds"
)

// Result is the limit in a word or two.
func (h *Hazard) Result(l Limit) string {
	switch {
	case l.Inconclusive:
		return resultUnknown
	case !h.Sized && l.Falls > 0:
		return resultFalls
	case !h.Sized:
		return resultStands
	case l.Falls == 0:
		return resultHolds
	case l.Holds == 0:
		return resultAlways
	}
	return resultLimited
}

// limit is that of lock i; what was not given is untold.
func (h *Hazard) limit(i int) Limit {
	if i < len(h.Limits) {
		return h.Limits[i]
	}
	return Limit{Inconclusive: true}
}

// Inconclusive says whether a search did not finish, so that something stays unknown.
func (f *Tolerance) Inconclusive() bool {
	for n := range f.Hazards {
		for i := range f.Locks {
			if f.Hazards[n].limit(i).Inconclusive {
				return true
			}
		}
	}
	return false
}

// label is a limit as tables and pictures write it.
func (f *Tolerance) label(lang string, h *Hazard, l Limit) string {
	switch h.Result(l) {
	case resultUnknown:
		return say(lang, "tolerance.label.unknown")
	case resultHolds:
		return say(lang, "tolerance.label.holds", "max", decimal(f.Max))
	case resultAlways:
		return say(lang, "tolerance.label.always")
	case resultFalls:
		return say(lang, "tolerance.label.falls")
	case resultStands:
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
	for i := range f.Hazards {
		names, texts = append(names, f.Hazards[i].ID), append(texts, f.groups(lang, &f.Hazards[i]))
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
	one, many := slices.Index(f.Locks, "token"), slices.Index(f.Locks, "redlock")
	if one < 0 || many < 0 {
		return ""
	}
	var parts []string
	for i := range f.Hazards {
		h := &f.Hazards[i]
		a, b := h.limit(one), h.limit(many)
		if h.Result(a) != resultLimited || h.Result(b) != resultLimited {
			continue
		}
		key := map[int]string{-1: "tolerance.less", 0: "tolerance.same", 1: "tolerance.more"}[cmp.Compare(b.Falls, a.Falls)]
		parts = append(parts, say(lang, key, "fault", h.ID, "many", leases(b.Falls), "one", leases(a.Falls)))
	}
	if parts == nil {
		return ""
	}
	return say(lang, "tolerance.majority", "text", text.Join(lang, "tolerance.and", parts))
}

func (f *Tolerance) groups(lang string, h *Hazard) string {
	type group struct {
		at    float64
		words string // {locks} is left open
		locks []string
	}
	var all []*group
	for i, id := range f.Locks {
		at, words := f.verdict(lang, h, h.limit(i))
		n := slices.IndexFunc(all, func(g *group) bool { return g.words == words })
		if n < 0 {
			n = len(all)
			all = append(all, &group{at: at, words: words})
		}
		all[n].locks = append(all[n].locks, id)
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(a.at, b.at) })
	parts := make([]string, len(all))
	for i, g := range all {
		parts[i] = strings.Replace(g.words, "{locks}", named(lang, g.locks, len(f.Locks), i+1 == len(all)), 1)
	}
	return text.Join(lang, "grid.join", parts)
}

// verdict puts a limit into words about {locks}; at is its rank among the others.
func (f *Tolerance) verdict(lang string, h *Hazard, l Limit) (at float64, words string) {
	switch r := h.Result(l); r {
	case resultUnknown:
		return f.Max + 2, say(lang, "tolerance.untold")
	case resultHolds:
		return f.Max + 1, say(lang, "tolerance.never", "max", decimal(f.Max))
	case resultAlways:
		return 0, say(lang, "tolerance.always")
	case resultLimited:
		return l.Falls, say(lang, "tolerance.from", "at", leases(l.Falls))
	case resultStands:
		return f.Max + 1, say(lang, "tolerance.stands")
	default:
		return 0, say(lang, "tolerance.falls")
	}
}

// CSV writes one line for each lock and hazard. Sizes are in leases; holds_up_to
// is empty where no size holds or there is none, falls_at where none falls.
func (f *Tolerance) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"strategy", "fault", "result", "holds_up_to", "falls_at", "largest_searched", "trace"}}
	for i, id := range f.Locks {
		for n := range f.Hazards {
			h := &f.Hazards[n]
			l := h.limit(i)
			r := []string{id, h.ID, h.Result(l), "", "", "", l.Trace}
			if h.Sized && !l.Inconclusive {
				r[3], r[4], r[5] = sizeText(l.Holds), sizeText(l.Falls), decimal(f.Max)
			}
			records = append(records, r)
		}
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
	for i := range f.Hazards {
		head = append(head, f.Hazards[i].ID)
	}
	s := layout.Sheet{Rows: [][]string{head}, Floor: 8}
	for i, id := range f.Locks {
		row := []string{id}
		for n := range f.Hazards {
			row = append(row, f.label(out.Lang(), &f.Hazards[n], f.Hazards[n].limit(i)))
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
	for _, lang := range out.Langs() {
		out.Put(f.Takeaway(lang), 0)
		out.Put(f.Bounds(lang), 0)
	}
	return out.Err()
}
