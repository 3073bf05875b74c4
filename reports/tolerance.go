package reports

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Frontier is how large a single fault may be before a lock lets two clients
// in at once, as complete searches tell.
type Tolerance struct {
	Locks   []string // in the order in which they are drawn
	Notes   []string // a word on each lock, drawn below its name; nil: none
	Hazards []Hazard
	Max     float64 // the largest size that was searched, in leases
}

// Title is what the chart asks.
func (f *Tolerance) Title(lang string) string { return say(lang, "frontier.title") }

// Bounds says what the searches covered.
func (f *Tolerance) Bounds(lang string) string { return say(lang, "frontier.bounds") }

// A Hazard is a fault that strikes once, and how each of the locks stood it.
type Hazard struct {
	ID     string // as it is typed
	Name   string // as it is read: "a client stands still"
	Sized  bool   // its strikes have a size; without one it only holds or falls
	Limits []Limit
	Guides []Guide // sizes at which a lock can be expected to fall, two at most, the smaller one first
}

// A Guide is a size with a name.
type Guide struct {
	At   float64 // in leases
	Name string
}

// A Limit is how one lock stood a hazard.
type Limit struct {
	Untold bool    // a search had to be given up, or was never made
	Holds  float64 // the largest size that let nobody in, in leases; 0: none
	Falls  float64 // the smallest size that let two in, in leases; 0: none. Not 0 for a hazard without size: it falls
	Trace  string  // link to a run that falls at that size; "": none
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
	case l.Untold:
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
	return Limit{Untold: true}
}

// Untold says whether a search was given up, so that the chart does not say all.
func (f *Tolerance) Inconclusive() bool {
	for n := range f.Hazards {
		for i := range f.Locks {
			if f.Hazards[n].limit(i).Untold {
				return true
			}
		}
	}
	return false
}

// label is a limit as tables and pictures write it.
func (f *Tolerance) label(h *Hazard, l Limit) string {
	switch r := h.Result(l); r {
	case resultUnknown:
		return "not told"
	case resultHolds:
		return "not up to " + decimal(f.Max)
	case resultAlways:
		return "any size"
	case resultLimited:
		return leases(l.Falls)
	default:
		return r
	}
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
	each := sayOf(lang, names, texts)
	if debate := f.debate(lang); debate != "" {
		return say(lang, "grid.both", "first", debate, "next", each)
	}
	return each
}

// debate says whether a majority of servers is worth more than one server, which
// is what Kleppmann and antirez disagreed about in 2016; "" without the two locks
// that tell.
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
		key := map[int]string{-1: "frontier.less", 0: "frontier.same", 1: "frontier.more"}[cmp.Compare(b.Falls, a.Falls)]
		parts = append(parts, say(lang, key, "fault", h.ID, "many", leases(b.Falls), "one", leases(a.Falls)))
	}
	if parts == nil {
		return ""
	}
	return say(lang, "frontier.majority", "text", sayAll(lang, "frontier.and", parts))
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
		parts[i] = strings.Replace(g.words, "{locks}", who(lang, g.locks, len(f.Locks), i+1 == len(all)), 1)
	}
	return sayAll(lang, "grid.join", parts)
}

// verdict puts a limit into words about {locks}, with where it stands among the
// others.
func (f *Tolerance) verdict(lang string, h *Hazard, l Limit) (at float64, words string) {
	switch r := h.Result(l); r {
	case resultUnknown:
		return f.Max + 2, say(lang, "frontier.untold")
	case resultHolds:
		return f.Max + 1, say(lang, "frontier.never", "max", decimal(f.Max))
	case resultAlways:
		return 0, say(lang, "frontier.always")
	case resultLimited:
		return l.Falls, say(lang, "frontier.from", "at", leases(l.Falls))
	case resultStands:
		return f.Max + 1, say(lang, "frontier.stands")
	default:
		return 0, say(lang, "frontier.falls")
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
			if h.Sized && !l.Untold {
				r[3], r[4], r[5] = sizeText(l.Holds), sizeText(l.Falls), decimal(f.Max)
			}
			records = append(records, r)
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("reports: writing a frontier: %w", err)
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
func (f *Tolerance) Text(w io.Writer, o Options) error {
	out := newLines(w, o)
	for _, lang := range o.langs() {
		out.put(f.Title(lang), 0)
	}
	out.put("", 0)
	head := []string{"falls from, in leases"}
	for i := range f.Hazards {
		head = append(head, f.Hazards[i].ID)
	}
	s := sheet{rows: [][]string{head}, floor: 8}
	for i, id := range f.Locks {
		row := []string{id}
		for n := range f.Hazards {
			row = append(row, f.label(&f.Hazards[n], f.Hazards[n].limit(i)))
		}
		s.rows = append(s.rows, row)
	}
	if !s.write(out) {
		for _, row := range s.rows[1:] {
			for n, cell := range row[1:] {
				out.put(row[0]+" "+head[n+1]+": "+cell, 2)
			}
		}
	}
	out.put("", 0)
	for _, lang := range o.langs() {
		out.put(f.Takeaway(lang), 0)
		out.put(f.Bounds(lang), 0)
	}
	return out.err
}
