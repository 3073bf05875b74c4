package chart

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Tolerance draws how large a single fault may be before a lock lets two clients in at once.
type Tolerance struct{ study.Tolerance }

// Name is that of Result, and so are the next ones.
func (f *Tolerance) Name() string { return "tolerance" }

// Assumptions says what the searches covered.
func (f *Tolerance) Assumptions(lang string) string { return say(lang, "tolerance.bounds") }

// Inconclusive reports whether a search did not finish, so that something stays unknown.
func (f *Tolerance) Inconclusive() bool {
	return slices.ContainsFunc(f.Limits, func(l study.Limit) bool { return l.Answer == study.NoAnswer })
}

// of are the limits of a fault, by lock; lock "": of all.
func (f *Tolerance) of(fault, lock string, answer study.Answer) []study.Limit {
	return lists.Pick(f.Limits, func(l study.Limit) bool {
		return l.Fault == fault && l.Answer == answer && (lock == "" || l.Lock == lock)
	})
}

// debate compares the pause that a majority of servers tolerates with that of one server, about which Kleppmann and
// antirez disagreed in 2016; "" if one of the two locks is missing.
func (f *Tolerance) debate(lang string) string {
	one, many := f.of("pause", "token", study.Limited), f.of("pause", "redlock", study.Limited)
	if one == nil || many == nil {
		return ""
	}
	key := []string{"tolerance.less", "tolerance.same", "tolerance.more"}[1+cmp.Compare(many[0].Falls, one[0].Falls)]
	return say(lang, key, "many", rounded(many[0].Falls, 2), "one", rounded(one[0].Falls, 2))
}

// Table has one row for each lock and hazard. Sizes are in leases; holds_up_to is empty where no size holds or there
// is none, fails_at and boundary_only where none falls.
func (f *Tolerance) Table() *Table {
	names := "lock fault result holds_up_to:lease fails_at:lease boundary_only largest_searched:lease trace"
	return tableOf(names, f.Limits, func(l study.Limit) []any {
		row := []any{l.Lock, l.Fault, l.Answer, nil, nil, nil, nil, l.Trace}
		if l.Holds > 0 {
			row[3] = whole(l.Holds)
		}
		if l.Falls > 0 {
			row[4], row[5] = whole(l.Falls), l.Boundary
		}
		if l.Holds > 0 || l.Falls > 0 { // the hazard has a size
			row[6] = study.MaxLeases
		}
		return row
	})
}

// Finding says how a majority compares with one server, or which pause is enough for which lock, the shortest first.
func (f *Tolerance) Finding(lang string) string {
	if debate := f.debate(lang); debate != "" {
		return debate
	}
	fall := f.of("pause", "", study.Limited)
	if fall == nil {
		return say(lang, "tolerance.none", "max", decimal(study.MaxLeases))
	}
	first, _ := extremes(fall, func(l study.Limit) float64 { return l.Falls })
	least := lists.Pick(fall, func(l study.Limit) bool { return l.Falls == first.Falls })
	return say(lang, "tolerance.finding", "at", rounded(first.Falls, 2),
		"locks", text.Join(lang, "chart.list", lists.Each(least, func(l study.Limit) string { return l.Lock })))
}

// Notes implements Result.
func (f *Tolerance) Notes(lang string) []string { return []string{say(lang, "tolerance.boundary")} }

// viewTolerance has all sizes, but for the largest that was searched.
func viewTolerance(c *Chart, _ string) *Table {
	return c.Table.only(func(name string) bool { return name != "largest_searched" })
}

// drawTolerance has a lock a line and a panel for each fault: how large it may be, or whether it is survived.
func drawTolerance(c *Chart, lang string) frame {
	all := c.Table.records()
	locks := values("lock", all)
	var plots []*plot.Plot
	var heads []string
	var once cells // of faults without a size, which share a panel
	panel := func(title string) *plot.Plot {
		plots = append(plots, rowed(title, locks, len(plots)%c.aside(len(all), 2) == 0))
		return plots[len(plots)-1]
	}
	for _, of := range by("fault", all) {
		fault := text.Named(of[0].text("fault"), lang)
		if !slices.ContainsFunc(of, sized) {
			for l := range of {
				once = append(once, answered(of[l], lang, float64(len(heads)), -float64(l)))
			}
			heads = append(heads, fault)
			continue
		}
		p := panel(fault)
		p.X.Min, p.X.Max = 0, study.MaxLeases
		key := map[bool]string{false: "tolerance.axis", true: "tolerance.axis.narrow"}[c.narrow]
		p.X.Label.Text = say(lang, key)
		p.X.Tick.Marker = labelled([]float64{0, 0.5, 1, 1.5, 2}, decimal)
		p.Add(spans(lists.Each(lists.Indices(of), func(l int) span { return survived(of[l], lang, -float64(l)) })))
	}
	if heads != nil {
		p := panel("")
		if c.narrow { // every other one in a line of its own
			for k := 1; k < len(heads); k += 2 {
				heads[k] = "\n" + heads[k]
			}
		}
		name(&p.X, 1, heads)
		p.Add(once)
	}
	f := c.tiles(say(lang, "tolerance.below", "max", decimal(study.MaxLeases)), c.aside(len(plots), 2),
		vg.Point{X: vg.Length(c.aside(104, 80)), Y: 60 + 14*vg.Length(len(locks))}, plots...)
	f.least.X += widest(small, locks) + vg.Length(c.aside(20, 5))
	return f
}

// sized reports whether a row is of a fault with a size.
func sized(r record) bool { return !math.IsNaN(r.number("largest_searched")) }

// survived is the sizes up to the smallest one at which a lock falls.
func survived(r record, lang string, y float64) span {
	s := span{y: y, to: r.number("fails_at"), color: grey, width: 2}
	switch study.Answer(r.text("result")) {
	case study.NoLimit:
		s.to, s.arrow = study.MaxLeases, true
	case study.Limited, study.AnySize:
		s.shape, s.color, s.words, s.bold = draw.CrossGlyph{}, standout, rounded(s.to, 2), true
		if r.is("boundary_only") {
			s.shape = draw.RingGlyph{}
		}
		if study.Answer(r.text("result")) == study.AnySize {
			s.to, s.words = 0, say(lang, "tolerance.label.always")
		}
	case study.NotAsked:
		s.to, s.width, s.words = 0, 0, string(study.NotAsked)
	default:
		s.to, s.width, s.words = 0, 0, say(lang, "tolerance.label.unknown")
	}
	return s
}

// answered returns the cell of a fault without a size: a lock survives it or not.
func answered(r record, lang string, x, y float64) cell {
	word, words := verdict.Unknown, ""
	switch study.Answer(r.text("result")) {
	case study.FallsOnce:
		word, words = verdict.Overlap, say(lang, "tolerance.label.falls")
	case study.HoldsOnce:
		word, words = verdict.Holds, say(lang, "tolerance.label.stands")
	case study.NotAsked:
		word = verdict.NA
	}
	at := cell{x: x, y: y}.like(LookOf(word))
	at.glyph = cmp.Or(words, at.glyph)
	return at
}
