package chart

import (
	"cmp"
	"image/color"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

// A Tolerance draws how large a single fault may be before a lock lets two clients in at
// once.
type Tolerance struct {
	study.Tolerance
	Rates []study.RateLimit // in Text only, beside the searches
}

// Title returns the question of the chart.
func (f *Tolerance) Title(lang string) string { return say(lang, "tolerance.title") }

// Bounds says what the searches covered.
func (f *Tolerance) Bounds(lang string) string { return say(lang, "tolerance.bounds") }

// Inconclusive reports whether a search did not finish, so that something stays unknown.
func (f *Tolerance) Inconclusive() bool {
	return slices.ContainsFunc(f.Limits, func(l study.Limit) bool { return l.Answer == study.NoAnswer })
}

// Takeaway says for every hazard which locks fall from which size on. Locks that
// fall at the same size stand together, the frailest first, and so do hazards
// that have the same said of them.
func (f *Tolerance) Takeaway(lang string) string {
	hazards := aboutEach(lang, f.faults(), func(n int) string { return f.groups(lang, n) })
	if debate := f.debate(lang, f.faults()); debate != "" {
		return say(lang, "grid.both", "first", debate, "next", hazards)
	}
	return hazards
}

// faults are the names of the hazards.
func (f *Tolerance) faults() []string {
	return lists.Each(f.Hazards, func(h study.Hazard) string { return h.Fault })
}

// debate compares a majority of servers with one server, about which Kleppmann and
// antirez disagreed in 2016, for some faults; "" if one of the two locks is missing.
func (f *Tolerance) debate(lang string, about []string) string {
	one, many := slices.Index(ids(f.Locks), "token"), slices.Index(ids(f.Locks), "redlock")
	if one < 0 || many < 0 {
		return ""
	}
	var parts []string
	for n, h := range f.Hazards {
		a, b := f.At(one, n), f.At(many, n)
		if !slices.Contains(about, h.Fault) || a.Answer != study.Limited || b.Answer != study.Limited {
			continue
		}
		key := map[int]string{-1: "tolerance.less", 0: "tolerance.same", 1: "tolerance.more"}[cmp.Compare(b.Falls, a.Falls)]
		parts = append(parts, say(lang, key, "fault", h.Fault, "many", limitLabel(lang, b), "one", limitLabel(lang, a)))
	}
	if parts == nil {
		return ""
	}
	return say(lang, "tolerance.majority", "text", text.Join(lang, "tolerance.and", parts))
}

// Note says why locks on several servers fall here to what they survive in a race; "" if
// there is none that does.
func (f *Tolerance) Note(lang string) string {
	return fewServers(lang, f.Locks, func(l int) bool {
		n := slices.Index(f.faults(), "failover")
		return n >= 0 && f.At(l, n).Answer == study.FallsOnce
	})
}

// fewServers says that the first lock on several servers that falls has fewer of them here; "": none does.
func fewServers(lang string, locks []lock.Entry, falls func(l int) bool) string {
	for l, e := range locks {
		if study.FewServers(e) > 1 && falls(l) {
			few := say(lang, "chart.few", "lock", e.ID)
			if e.ID == "redlock" {
				few = say(lang, "grid.both", "first", few, "next", say(lang, "chart.article"))
			}
			return few
		}
	}
	return ""
}

// boundaries names the limits at which two events fall on the same instant; "": there is none.
func (f *Tolerance) boundaries(lang string) string {
	met := lists.Pick(f.Limits, func(l study.Limit) bool { return l.Boundary })
	if met == nil {
		return ""
	}
	names := lists.Each(met, func(l study.Limit) string { return l.Strategy + " " + l.Fault })
	return say(lang, "tolerance.boundary", "limits", text.Join(lang, "chart.list", names))
}

// groups says of the n-th hazard which locks fall from which size on.
func (f *Tolerance) groups(lang string, n int) string {
	type fall struct {
		at          float64
		words, lock string // {locks} is left open in words
		answer      study.Answer
	}
	all := lists.Each(lists.Indices(f.Locks), func(i int) fall {
		at, words := limitWords(lang, f.At(i, n))
		return fall{at, words, f.Locks[i].ID, f.At(i, n).Answer}
	})
	groups := lists.Gather(all, func(a, b fall) bool { return a.words == b.words })
	slices.SortStableFunc(groups, func(a, b []fall) int { return cmp.Compare(a[0].at, b[0].at) })
	var parts []string
	for i, g := range groups {
		if len(g) == len(f.Locks) && len(g) > 1 && g[0].answer == study.NoLimit {
			return say(lang, "tolerance.never.every", "max", decimal(study.MaxLeases))
		}
		locks := lists.Each(g, func(v fall) string { return v.lock })
		parts = append(parts, strings.Replace(g[0].words, "{locks}", named(lang, locks, len(f.Locks), i+1 == len(groups)), 1))
	}
	return text.Join(lang, "grid.join", parts)
}

// answers are how each answer is put: what ends the keys of its sentence and of its label, and its rank among the
// others in leases; a limit stands for itself.
var answers = map[study.Answer]struct {
	words, label string
	rank         float64
}{
	study.Limited:   {words: "from"},
	study.AnySize:   {"always", "always", 0},
	study.FallsOnce: {"falls", "falls", 0},
	study.NoLimit:   {"never", "holds", study.MaxLeases + 1},
	study.HoldsOnce: {"stands", "stands", study.MaxLeases + 1},
	study.NoAnswer:  {"untold", "unknown", study.MaxLeases + 2},
	study.NotAsked:  {"na", "", study.MaxLeases + 3},
}

// limitWords puts a limit into words about {locks}; at is its rank among the others.
func limitWords(lang string, l *study.Limit) (at float64, words string) {
	as := answers[l.Answer]
	if l.Answer == study.Limited {
		as.rank = l.Falls
	}
	if l.Answer == study.Limited && !l.Boundary {
		as.words = "within"
	}
	return as.rank, say(lang, "tolerance."+as.words, "max", decimal(study.MaxLeases),
		"at", leases(l.Falls), "low", leases(l.Holds))
}

// limitLabel is a limit as tables and pictures write it: two sizes, if it lies between those that were searched.
func limitLabel(lang string, l *study.Limit) string {
	if l.Answer == study.Limited && !l.Boundary {
		return leases(l.Holds) + "-" + leases(l.Falls)
	}
	return sizeLabel(lang, l.Answer, decimal(study.MaxLeases), leases(l.Falls))
}

// sizeLabel is an answer with the size that holds, or at which the lock falls.
func sizeLabel(lang string, answer study.Answer, holds, falls string) string {
	switch answer {
	case study.NotAsked:
		return string(study.NotAsked)
	case study.Limited:
		return falls
	}
	return say(lang, "tolerance.label."+answers[answer].label, "max", holds)
}

// records has one line for each lock and hazard. Sizes are in leases; holds_up_to
// is empty where no size holds or there is none, falls_at and boundary_only where none falls.
func (f *Tolerance) records() [][]any {
	names := "strategy fault result holds_up_to falls_at boundary_only largest_searched trace"
	return csvLines(names, f.Limits, func(l study.Limit) []any {
		line := []any{l.Strategy, l.Fault, l.Answer, "", "", "", "", l.Trace}
		if l.Holds > 0 {
			line[3] = decimal(l.Holds)
		}
		if l.Falls > 0 {
			line[4], line[5] = decimal(l.Falls), l.Boundary
		}
		if l.Holds > 0 || l.Falls > 0 { // the hazard has a size
			line[6] = decimal(study.MaxLeases)
		}
		return line
	})
}

func (f *Tolerance) data() object {
	out := object{"takeaway", f.Takeaway("en"), "bounds", f.Bounds("en"), "unit", "lease",
		"largest_searched", study.MaxLeases, "limits", f.Limits}
	if len(f.Rates) > 0 { // played, not searched
		out = append(out, "rates", f.Rates)
	}
	return out
}

// text has a lock per line and a hazard per column, and then a race of clocks per column.
func (f *Tolerance) text(out *layout.Lines) {
	lang, locks := out.Lang(), ids(f.Locks)
	show(out, saying(f.Title), crossing(layout.Sheet{Floor: 8}, say(lang, "tolerance.head"), locks, f.faults(),
		func(i, n int) string { return limitLabel(lang, f.At(i, n)) }), saying(f.Takeaway, f.Bounds, f.boundaries, f.Note))
	if len(f.Rates) == 0 {
		return
	}
	races := lists.Each(f.Rates[:len(f.Rates)/len(f.Locks)], func(l study.RateLimit) string { return l.Scenario })
	played := lists.Each(study.Rates(), func(rate time.Duration) string { return decimal(100 * rate.Seconds()) })
	table := crossing(layout.Sheet{Floor: 8}, say(lang, "tolerance.rates.head"), locks, races, func(i, n int) string {
		l := &f.Rates[i*len(races)+n]
		return sizeLabel(lang, l.Answer, decimal(l.Holds), decimal(l.Falls))
	})
	show(out, saying(), table, func(lang string) []string {
		return []string{say(lang, "tolerance.rates.note", "rates", text.Join(lang, "chart.list", played))}
	})
}

// The measures of a chart of tolerances, in points.
const (
	rangeGap    vg.Length = 44 // room behind a panel's scale, for the arrows and their words
	answerWidth vg.Length = 60 // of a column of a hazard without size
	rangeRow    vg.Length = 20 // at least
	rangeHead   vg.Length = 46
	rangeFoot   vg.Length = 38
)

// Finding says how a majority compares with one server; the title, if there is none of either.
func (f *Tolerance) Finding(lang string) string {
	if text := f.debate(lang, []string{"pause"}); text != "" {
		return text
	}
	return f.Title(lang)
}

// picture has a panel for each hazard with a size, all on one scale, and a column
// for each one without.
func (f *Tolerance) picture(format Format) picture {
	lang := format.Lang
	label, sized, answers := nameWidth(lang, f.Locks, 14), 0, vg.Length(0)
	for _, h := range f.Hazards {
		if h.Sized {
			sized++
		} else {
			answers += max(answerWidth, strong.Width(h.Fault)+14)
		}
	}
	names := lockRows(lang, f.Locks, rangeRow, func(draw.Canvas, int, vg.Length) {})
	body := growing(rangeHead+names.height+rangeFoot, func(c draw.Canvas) {
		c = draw.Crop(c, 0, 0, rangeFoot, -rangeHead)
		names.draw(c)
		rangeWidth := (c.Size().X-label-answers)/vg.Length(max(sized, 1)) - rangeGap
		rangeRow := c.Size().Y / vg.Length(max(len(f.Locks), 1))
		x, lefts := label, []vg.Length{}
		for _, h := range f.Hazards {
			lefts = append(lefts, x)
			if h.Sized {
				x += rangeWidth + rangeGap
			} else {
				x += max(answerWidth, strong.Width(h.Fault)+14)
			}
		}
		for n, h := range f.Hazards {
			left := c.Min.X + lefts[n]
			write(c, strong, left, c.Max.Y+rangeHead-textLine/2, h.Fault)
			width := rangeWidth + rangeGap - 8
			if !h.Sized {
				width = answerWidth
			}
			write(c, faint, left, c.Max.Y+rangeHead-textLine-smallLine/2, fitText(faint, say(lang, "tolerance.fault."+h.Fault), width))
			scale := crop(c, box(left, c.Min.Y, left+rangeWidth, c.Max.Y))
			if h.Sized {
				drawScale(scale, lang, guides[h.Fault])
			}
			for i := range f.Locks {
				y := c.Max.Y - rangeRow*(vg.Length(i)+0.5)
				if h.Sized {
					drawRange(scale, lang, i, f.At(i, n), y)
				} else {
					drawAnswer(c, lang, f.At(i, n), left, y)
				}
			}
		}
	})
	return format.fitted(f, []string{say(lang, "tolerance.below", "max", decimal(study.MaxLeases))}, 0, func(vg.Length) []block { return []block{body} })
}

// Notes implements Chart.
func (f *Tolerance) Notes(lang string) []string {
	return []string{f.Note(lang), say(lang, "tolerance.legend", "max", decimal(study.MaxLeases), "bounds", f.Bounds(lang))}
}

// nameWidth is the room that the names of locks take, with how many servers they have.
func nameWidth(lang string, locks []lock.Entry, gap vg.Length) vg.Length {
	width := vg.Length(40)
	for _, e := range locks {
		width = max(width, strong.Width(e.ID)+gap, small.Width(serversNote(lang, e))+gap)
	}
	return width
}

// lockRows is a striped row for each lock, with its name; row draws the rest of it.
func lockRows(lang string, locks []lock.Entry, height vg.Length, row func(c draw.Canvas, i int, y vg.Length)) block {
	all := rows(len(locks), height, func(place draw.Canvas, i int, y vg.Length) {
		height := place.Size().Y / vg.Length(len(locks))
		fillBox(place, box(place.Min.X, y-height/2, place.Max.X, y+height/2), ground(i))
		name := y
		if note := serversNote(lang, locks[i]); note != "" {
			name += smallLine / 2
			write(place, faint, place.Min.X+4, y-textLine/2, note)
		}
		write(place, strong, place.Min.X+4, name, locks[i].ID)
		row(place, i, y)
	})
	all.grows = true
	return all
}

// ground returns the background of row i.
func ground(i int) color.NRGBA {
	if i%2 == 0 {
		return stripe
	}
	return white
}

// serversNote says how many servers a lock has, if several.
func serversNote(lang string, e lock.Entry) string {
	if n := study.FewServers(e); n > 1 {
		return say(lang, "tolerance.servers", "n", strconv.Itoa(n))
	}
	return ""
}

// A guide is a size at which theory expects a lock to fall.
type guide struct {
	at   float64 // in leases
	name string  // what is taken off the lease
}

// guides are those of each fault, two at most, the smaller one first: work takes two
// fifths of a lease, so that a lease that is never renewed has three fifths left when the
// work begins; one that is renewed every third of a lease has two thirds left when the
// next renewal is due.
var guides = map[string][]guide{
	"pause":        {{0.6, "work"}, {2.0 / 3, "renewal"}},
	"client-clock": {{0.6, "work"}},
	"node-clock":   {{0.6, "work"}, {2.0 / 3, "renewal"}},
}

// sizeAt is the position of a size in a panel.
func sizeAt(c draw.Canvas, size float64) vg.Length { return c.X(size / study.MaxLeases) }

// drawScale draws a panel's guide lines and the sizes below them.
func drawScale(c draw.Canvas, lang string, guides []guide) {
	for i := range 5 {
		size := study.MaxLeases * float64(i) / 4
		x := sizeAt(c, size)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, x, c.Min.Y-3, x, c.Max.Y)
		write(c, aligned(small, draw.XCenter), x, c.Min.Y-9, decimal(size))
	}
	write(c, faint, c.Min.X, c.Min.Y-20, say(lang, "tolerance.axis"))
	for i, g := range guides {
		x := sizeAt(c, g.at)
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{3, 3}}, x, c.Min.Y, x, c.Max.Y)
		side, away := draw.XRight, vg.Length(-2)
		if i > 0 {
			side, away = draw.XLeft, 2
		}
		write(c, aligned(small, side), x+away, c.Max.Y+6, say(lang, "tolerance.guide."+g.name))
	}
}

// drawRange draws the sizes that a lock survives, and the one at which it falls.
// Row i is its background.
func drawRange(c draw.Canvas, lang string, i int, l *study.Limit, y vg.Length) {
	st, left := styleOf(l.Strategy), c.Min.X
	switch l.Answer {
	case study.NoAnswer:
		write(c, writing(textSize, faintInk), left+4, y, say(lang, "tolerance.stopped"))
	case study.NotAsked:
		write(c, writing(textSize, faintInk), left+4, y, limitLabel(lang, l))
	case study.NoLimit:
		end := c.Max.X + 14
		c.StrokeLine2(st.line(2), left, y, end-7, y)
		arrow(c, end, y, st)
		write(c, smallStrong, end+4, y, "> "+decimal(study.MaxLeases))
	case study.AnySize:
		cross(c, left, y)
		write(c, smallStrong, left+9, y, say(lang, "tolerance.label.always"))
	default:
		holds, falls := sizeAt(c, l.Holds), sizeAt(c, l.Falls)
		c.StrokeLine2(st.line(2), left, y, min(holds, falls-4), y)
		cross(c, falls, y)
		x, words := falls+8, say(lang, "tolerance.at", "at", limitLabel(lang, l))
		if smallStrong.Width(words) > c.Max.X+rangeGap-x {
			words = limitLabel(lang, l)
		}
		fillBox(c, box(x-1, y-5, x+smallStrong.Width(words)+1, y+5), ground(i)) // over the guides
		write(c, smallStrong, x, y, words)
	}
}

// drawAnswer draws whether a lock survives a fault without a size.
func drawAnswer(c draw.Canvas, lang string, l *study.Limit, left, y vg.Length) {
	switch l.Answer {
	case study.FallsOnce:
		cross(c, left+5, y)
		write(c, smallStrong, left+14, y, limitLabel(lang, l))
	case study.HoldsOnce:
		c.DrawGlyph(draw.GlyphStyle{Color: green, Radius: 3.4, Shape: draw.CircleGlyph{}}, vg.Point{X: left + 5, Y: y})
		write(c, smallStrong, left+14, y, limitLabel(lang, l))
	case study.NotAsked:
		write(c, faint, left+2, y, limitLabel(lang, l))
	default:
		write(c, faint, left+2, y, say(lang, "tolerance.unknown"))
	}
}

// cross marks where two come in.
func cross(c draw.Canvas, x, y vg.Length) {
	style := draw.LineStyle{Color: vermillion, Width: 1.8}
	c.StrokeLine2(style, x-2.8, y-2.8, x+2.8, y+2.8)
	c.StrokeLine2(style, x-2.8, y+2.8, x+2.8, y-2.8)
}

// arrow is an open arrowhead that ends at x: what it points to was not searched.
func arrow(c draw.Canvas, x, y vg.Length, st style) {
	head := []vg.Point{{X: x - 7, Y: y + 4.5}, {X: x, Y: y}, {X: x - 7, Y: y - 4.5}, {X: x - 7, Y: y + 4.5}}
	c.StrokeLines(draw.LineStyle{Color: st.color, Width: 1.4}, head)
}
