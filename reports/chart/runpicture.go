package chart

import (
	"fmt"
	"image/color"
	"io"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Run draws the lanes of a run for a slide: what each client does, who is inside, whose the
// key is, and each verdict at its instant.
type Run struct {
	History   *history.History
	Judgement verdict.Judgement
	Verdicts  []verdict.Word
	Lang      string // "": English
}

// PNG draws the lanes.
func (r *Run) PNG(w io.Writer) error { return r.picture().png(w) }

// SVG draws the same as PNG.
func (r *Run) SVG(w io.Writer) error { return r.picture().svg(w) }

// The measures of the picture, in points.
const (
	runWidth vg.Length = 800
	runTime  vg.Length = 78  // column of the times
	runKey   vg.Length = 150 // column of the keys
	runLine  vg.Length = textSize * leading
	runPad   vg.Length = 3
	runEdge  vg.Length = 3 // beside a client that is inside
)

// runPlot is a Run with its text folded.
type runPlot struct {
	*Run
	lang    string
	shown   []int // clients, from 0
	client  vg.Length
	heading heading
	rows    []runRow
}

type runRow struct {
	time  string
	lanes [][]string
	key   []string
	marks []string
	state reports.State
	both  bool // more than one client is inside
}

func (r *Run) picture() picture {
	p := &runPlot{Run: r, lang: pictured(r.Lang)}
	rows := reports.Rows(p.lang, r.History, r.Judgement)
	for c := range r.History.Clients {
		for _, row := range rows {
			if row.Lanes[c] != "" {
				p.shown = append(p.shown, c)
				break
			}
		}
	}
	p.client = (runWidth - 2*margin - runTime - runKey) / vg.Length(max(1, len(p.shown)))
	var words []string
	for _, w := range r.Verdicts {
		words = append(words, string(w))
	}
	meaning := ""
	if len(r.Verdicts) > 0 {
		meaning = reports.Meaning(r.Verdicts[0], p.lang)
	}
	p.heading = heading{title: fitText(bold(writing(titleSize, ink)), r.History.Strategy+": "+text.ScenarioTitle(r.History.Scenario, p.lang), runWidth-2*margin),
		takeaway: say(p.lang, "chart.of", "names", strings.Join(words, " "), "text", strings.TrimRight(meaning, ".。")), width: runWidth - 2*margin}
	for i := range rows {
		p.rows = append(p.rows, p.fold(&rows[i]))
	}
	return picture{width: runWidth, height: p.height(), draw: p.draw}
}

func (p *runPlot) fold(r *reports.Row) runRow {
	small := writing(textSize, ink)
	row := runRow{time: reports.Millis(r.From, 1), state: r.State}
	if r.To != r.From {
		row.time += "–" + reports.Millis(r.To, 1)
	}
	inside := 0
	for _, c := range p.shown {
		var lines []string
		if r.Lanes[c] != "" {
			lines = foldText(small, r.Lanes[c], p.client-3*runPad-runEdge)
		}
		row.lanes = append(row.lanes, lines)
		if r.State.Clients[c].Stage == verdict.Inside {
			inside++
		}
	}
	row.both = inside > 1
	row.key = p.keys(r)
	if r.Servers != "" {
		row.key = append(row.key, foldText(small, r.Servers, runKey-2*runPad)...)
	}
	for _, m := range r.Marks {
		row.marks = append(row.marks, foldText(bold(small), m, runWidth-2*margin-runTime)...)
	}
	return row
}

// keys are whose the key is, and for how long; neighbours of which the same is said are one.
func (p *runPlot) keys(r *reports.Row) (all []string) {
	said := make([]string, len(r.State.Keys))
	for n, k := range r.State.Keys {
		owner := "?"
		if k.Owner > 0 {
			owner = fmt.Sprintf("c%d", k.Owner)
		}
		switch {
		case k.Down:
			said[n] = say(p.lang, "motion.down")
		case !k.Held:
			said[n] = say(p.lang, "motion.free")
		case k.Until == history.Forever:
			said[n] = owner
		default:
			said[n] = owner + "  " + reports.Millis(max(k.Until-r.To, 0).Round(time.Millisecond), 0) + " ms"
		}
	}
	for from := 0; from < len(said); {
		to := from
		for to+1 < len(said) && strings.Fields(said[to+1])[0] == strings.Fields(said[from])[0] {
			to++
		}
		switch {
		case len(said) == 1:
			all = append(all, said[0])
		case from == to:
			all = append(all, fmt.Sprintf("n%d %s", from+1, said[from]))
		default:
			all = append(all, fmt.Sprintf("n%d–n%d %s", from+1, to+1, said[from]))
		}
		from = to + 1
	}
	return all
}

// body is how high a row is without its marks.
func (r *runRow) body() vg.Length {
	lines := max(1, len(r.key))
	for _, l := range r.lanes {
		lines = max(lines, len(l))
	}
	return runLine*vg.Length(lines) + 2*runPad
}

func (r *runRow) height() vg.Length { return r.body() + runLine*vg.Length(len(r.marks)) }

func (p *runPlot) height() vg.Length {
	h := 2*margin + p.heading.height() + runLine + 2*runPad
	for i := range p.rows {
		h += p.rows[i].height()
	}
	return h
}

// laneAt is where the lane of the n-th client begins: the key stands beside the first.
func (p *runPlot) laneAt(left vg.Length, n int) vg.Length {
	x := left + runTime + p.client*vg.Length(n)
	if n > 0 {
		x += runKey
	}
	return x
}

func (p *runPlot) keyAt(left vg.Length) vg.Length {
	if len(p.shown) == 0 {
		return left + runTime
	}
	return left + runTime + p.client
}

func (p *runPlot) draw(c draw.Canvas) {
	left, y := c.Min.X+margin, p.heading.draw(c, c.Min.X+margin, c.Max.Y-margin)
	head := func(x vg.Length, s string) {
		c.FillText(bold(writing(textSize, faintInk)), vg.Point{X: x + runPad + runEdge, Y: y - runLine/2}, s)
	}
	head(left, "ms")
	head(p.keyAt(left), p.History.Key)
	for n, client := range p.shown {
		head(p.laneAt(left, n), fmt.Sprintf("c%d", client+1))
	}
	y -= runLine + 2*runPad
	for i := range p.rows {
		y = p.row(c, &p.rows[i], left, y)
	}
}

func (p *runPlot) row(c draw.Canvas, r *runRow, left, y vg.Length) vg.Length {
	bottom := y - r.body()
	lines := func(x vg.Length, all []string, st draw.TextStyle) {
		for i, line := range all {
			c.FillText(st, vg.Point{X: x, Y: y - runPad - runLine*(vg.Length(i)+0.5)}, line)
		}
	}
	for n, client := range p.shown {
		x, at := p.laneAt(left, n), r.state.Clients[client]
		if at.Stage == verdict.Inside {
			ground, edge := color.NRGBA(paleGreen), color.NRGBA(green)
			if r.both {
				ground, edge = paleGrey, vermillion
			}
			fillBox(c, box(x, bottom, x+p.client-runPad, y), ground)
			fillBox(c, box(x, bottom, x+runEdge, y), edge)
		}
		st := writing(textSize, ink)
		if at.Paused {
			st = writing(textSize, faintInk)
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{2, 3}}, x+p.client-2*runPad, bottom, x+p.client-2*runPad, y)
		}
		lines(x+runEdge+2*runPad, r.lanes[n], st)
	}
	lines(left+runPad+runEdge, []string{r.time}, writing(smallSize, faintInk))
	lines(p.keyAt(left)+runPad, r.key, writing(textSize, ink))
	for _, m := range r.marks {
		c.FillText(bold(writing(textSize, vermillion)), vg.Point{X: left + runTime + runEdge + 2*runPad, Y: bottom - runLine/2}, m)
		bottom -= runLine
	}
	return bottom
}
