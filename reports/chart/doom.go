package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/lists"
)

// A Doom draws how much of a run's future was lost after each of its steps.
type Doom struct{ *study.Doom }

// Title returns the question of the chart.
func (d *Doom) Title(lang string) string {
	return say(lang, "doom.title", "lock", d.History.Strategy, "harm", string(d.Harm))
}

// Bounds says what is counted, and what is not.
func (d *Doom) Bounds(lang string) string {
	return say(lang, "doom.bounds", "states", thousands(d.States))
}

// Takeaway says how the faults changed the share, and from which step on nothing averts
// the harm.
func (d *Doom) Takeaway(lang string) string {
	if len(d.Steps) == 0 {
		return ""
	}
	faults := lists.Pick(lists.Indices(d.Steps), func(n int) bool { return d.Steps[n].Fault })
	first, last := 0, 0
	if len(faults) > 0 {
		first, last = faults[0], faults[len(faults)-1]
	}
	harm := string(d.Harm)
	key := []string{"doom.nofault", "doom.fault", "doom.faults"}[min(len(faults), 2)]
	text := say(lang, key, "n", strconv.Itoa(len(faults)), "harm", harm,
		"before", shareText(d.Steps[max(first-1, 0)].Share), "after", shareText(d.Steps[last].Share))
	key = "doom.noreturn"
	if d.NoReturn < len(d.Steps)-1 && d.NoReturn == last && len(faults) > 0 {
		key = "doom.noreturn.fault"
	}
	return say(lang, "grid.both", "first", text, "next", say(lang, key,
		"step", strconv.Itoa(d.NoReturn), "all", strconv.Itoa(len(d.Steps)-1), "what", d.action(d.NoReturn, lang)))
}

// action describes step n in a few words.
func (d *Doom) action(n int, lang string) string {
	if n == 0 {
		return ""
	}
	from, to := &d.Steps[n-1], &d.Steps[n]
	if from.Events == to.Events && from.At == to.At { // a program begins, and waits
		return say(lang, "doom.begins")
	}
	events := d.History.Events[from.Events:to.Events]
	quiet := func(e history.Event) bool { return e.Kind == history.Sleep || e.Kind == history.Wake }
	if from.At == to.At && len(events) > 0 && !slices.ContainsFunc(events, func(e history.Event) bool { return !quiet(e) }) {
		if events[0].Kind == history.Sleep {
			return say(lang, "doom.begins")
		}
		return say(lang, "doom.goes")
	}
	return reports.Summary(d.History, from.Events, to.Events, to.At-from.At, lang)
}

// shareText is a share in percent. What is not quite nothing, or everything, does
// not look like it.
func shareText(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "< 0.1 %"
	case share < 1 && share > 0.999:
		return "> 99.9 %"
	}
	return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', 1, 64), ".0") + " %"
}

// records has one line a step. Shares have nine places; 1.000000000 is exact if
// no_return or a line above it says so.
func (d *Doom) records() [][]any {
	return csvLines("step t_ms what fault share no_return", lists.Indices(d.Steps), func(n int) []any {
		return []any{n, d.at(n), d.action(n, "en"), d.Steps[n].Fault, decimal(d.Steps[n].Share), n >= d.NoReturn}
	})
}

// Data is a curve for an encoder of JSON; nil if there is none.
func (d *Doom) Data() any {
	if d == nil {
		return nil
	}
	return object{"harm", d.Harm, "no_return", d.NoReturn, "states", d.States, "takeaway", d.Takeaway("en"),
		"steps", lists.Each(lists.Indices(d.Steps), func(n int) object {
			s := d.Steps[n]
			return object{"step", n, "at_ns", s.At, "fault", s.Fault, "share", s.Share}
		})}
}

// at is the instant of step n in milliseconds.
func (d *Doom) at(n int) string { return reports.Millis(d.Steps[n].At, reports.Decimals(d.History)) }

// doomBar is the length of the bar of a share of 1, in characters.
const doomBar = 20

// text has a step per line, with a bar as long as what is lost.
func (d *Doom) text(out *layout.Lines) {
	lang := out.Lang()
	names := []string{say(lang, "doom.step"), "t/ms", say(lang, "doom.what"), say(lang, "doom.share"), ""}
	sheet := layout.Sheet{Rows: [][]string{names}, Right: layout.Only(0, 1, 3), Floor: 8}
	for n, step := range d.Steps {
		note := strings.Repeat("#", int(step.Share*doomBar+0.5))
		if n == d.NoReturn {
			note += "  " + say(lang, "lanes.noreturn")
		}
		what := d.action(n, lang)
		if step.Fault {
			what = "! " + what
		}
		sheet.Rows = append(sheet.Rows, []string{strconv.Itoa(n), d.at(n), what, shareText(step.Share), note})
	}
	show(out, saying(d.Title), func(*layout.Lines) { sheet.WriteOrList(out, 1) }, saying(d.Takeaway, d.Bounds))
}

// The curve's measures, in points.
const (
	doomHeight vg.Length = 140 // of the plot, at least
	doomHead   vg.Length = 24  // above it, for the name of the point of no return
	doomFoot   vg.Length = 34
	doomScale  vg.Length = 36 // left of it
	doomLabels           = 7  // steps that get a label, at most
)

// Finding says from which step on nothing averts the harm.
func (d *Doom) Finding(lang string) string {
	if len(d.Steps) == 0 {
		return d.Title(lang)
	}
	return say(lang, "doom.finding", "lock", d.History.Strategy, "harm", string(d.Harm), "step", strconv.Itoa(d.NoReturn),
		"all", strconv.Itoa(len(d.Steps)-1))
}

// picture has the share that is lost over the steps of the run.
func (d *Doom) picture(f Format) picture {
	lang, steps := f.Lang, vg.Length(max(1, len(d.Steps)-1))
	body := growing(doomHead+doomHeight+doomFoot, func(c draw.Canvas) {
		f := draw.Crop(c, doomScale, -12, doomFoot, -doomHead)
		a := doomArea{f, d, f.Size().X / steps, lang}
		a.axes()
		if len(d.Steps) > 0 {
			a.noReturn()
			a.labels()
			a.curve()
		}
	})
	return f.fitted(d, []string{d.Takeaway(lang)}, 0, func(vg.Length) []block { return []block{body} })
}

// Notes implements Chart.
func (d *Doom) Notes(lang string) []string {
	return []string{say(lang, "doom.legend", "bounds", d.Bounds(lang))}
}

// A doomArea is the rectangle in which a curve is drawn.
type doomArea struct {
	draw.Canvas
	*Doom
	stride vg.Length
	lang   string
}

// point is the position of a share after a step.
func (a doomArea) point(step int, share float64) vg.Point {
	return vg.Point{X: a.Min.X + a.stride*vg.Length(step), Y: a.Y(share)}
}

func (a doomArea) axes() {
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		y := a.Y(share)
		a.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.6}, a.Min.X, y, a.Max.X, y)
		write(a.Canvas, aligned(small, draw.XRight), a.Min.X-8, y, shareText(share))
	}
	every := max(1, int(math.Ceil(float64(20/a.stride))))
	steps := lists.Pick(lists.Indices(a.Steps), func(n int) bool { return n%every == 0 })
	x := func(step float64) vg.Length { return a.point(int(step), 0).X }
	marksX(a.Canvas, small, 9, x, lists.Each(steps, func(n int) plot.Tick {
		return plot.Tick{Value: float64(n), Label: strconv.Itoa(n)}
	}))
	write(a.Canvas, faint, a.Min.X, a.Min.Y-21, say(a.lang, "doom.axis", "harm", string(a.Harm)))
}

// noReturn marks the point of no return, behind the curve.
func (a doomArea) noReturn() {
	at := a.point(a.NoReturn, 1)
	a.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.9, Dashes: []vg.Length{3, 3}}, at.X, a.Min.Y, at.X, at.Y+6)
	text := say(a.lang, "doom.mark", "step", strconv.Itoa(a.NoReturn))
	half, side := smallStrong.Width(text)/2, draw.XCenter
	switch {
	case at.X-half < a.Min.X:
		side = draw.XLeft
	case at.X+half > a.Max.X:
		side = draw.XRight
	}
	write(a.Canvas, aligned(smallStrong, side), at.X, at.Y+15, text)
}

func (a doomArea) curve() {
	st := styleOf(a.History.Strategy)
	line := lists.Each(lists.Indices(a.Steps), func(n int) vg.Point { return a.point(n, a.Steps[n].Share) })
	a.StrokeLines(st.line(1.6), line)
	for n, s := range a.Steps {
		if !s.Fault {
			a.DrawGlyph(st.glyph(2.4), line[n])
			continue
		}
		at, r := line[n], vg.Length(5)
		a.FillPolygon(vermillion, []vg.Point{
			{X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y - r}, {X: at.X - r, Y: at.Y},
		})
	}
}

// marked are the steps that get a label: faults, the point of no return, and those
// at which the share moves most.
func (a doomArea) marked() []int {
	moves := func(n int) float64 { return math.Abs(a.Steps[n].Share - a.Steps[n-1].Share) }
	must := func(n int) bool { return n > 0 && (a.Steps[n].Fault || n == a.NoReturn) }
	out := lists.Pick(lists.Indices(a.Steps), must)
	rest := lists.Pick(lists.Indices(a.Steps), func(n int) bool { return n > 0 && !must(n) && moves(n) >= 0.02 })
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(moves(b), moves(a)) })
	return append(out, rest[:min(len(rest), max(0, doomLabels-len(out)))]...)
}

// labels writes what happened beside the steps that matter, where there is room.
func (a doomArea) labels() {
	taken := a.inked()
	for _, n := range a.marked() {
		text := a.action(n, a.lang) + ": " + shareText(a.Steps[n].Share)
		at, width := a.point(n, a.Steps[n].Share), small.Width(text)
		// left and right of the step, above and below, and not so far off that it
		// could be another's
		for i := range 12 {
			rise := vg.Length(i/4) * 11
			if i%2 == 1 {
				rise = -rise
			}
			left := at.X - 9 - width
			if i%4 > 1 {
				left = at.X + 9
			}
			place := box(left, at.Y+rise-5.5, left+width, at.Y+rise+5.5)
			if place.Min.X < a.Min.X+2 || place.Max.X > a.Max.X || place.Min.Y < a.Min.Y+1 || place.Max.Y > a.Max.Y+6 ||
				slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(t, place) }) {
				continue
			}
			fillBox(a.Canvas, box(left-2, place.Min.Y, left+width+2, place.Max.Y), white) // over the grid
			write(a.Canvas, small, left, at.Y+rise, text)
			taken = append(taken, place)
			break
		}
	}
}

// inked returns the places of the curve and of the line of the point of no return.
func (a doomArea) inked() (boxes []vg.Rectangle) {
	const parts = 8
	for n := 1; n < len(a.Steps); n++ {
		from, to := a.point(n-1, a.Steps[n-1].Share), a.point(n, a.Steps[n].Share)
		for i := range parts + 1 {
			f := vg.Length(i) / parts
			x, y := from.X+(to.X-from.X)*f, from.Y+(to.Y-from.Y)*f
			boxes = append(boxes, box(x-3, y-3, x+3, y+3))
		}
	}
	at := a.point(a.NoReturn, 0)
	return append(boxes, box(at.X-1, a.Min.Y, at.X+1, a.Max.Y))
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
