package chart

import (
	"fmt"
	"image/color"
	"slices"
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
}

// The measures of the picture, in points.
const (
	runWidth vg.Length = 800
	runTime  vg.Length = 78  // column of the times
	runKey   vg.Length = 150 // column of the keys
	runPad   vg.Length = 3
	runEdge  vg.Length = 3 // beside a client that is inside
)

// runPlot is a Run with its text folded.
type runPlot struct {
	*Run
	lang   string
	shown  []int // clients, from 0
	client vg.Length
}

type runRow struct {
	time  string
	lanes [][]string
	key   []string
	marks []string
	state reports.State
	both  bool // more than one client is inside
}

func (r *Run) picture(lang string) picture {
	p := &runPlot{Run: r, lang: lang}
	rows := reports.Rows(lang, r.History, r.Judgement)
	for c := range r.History.Clients {
		if slices.ContainsFunc(rows, func(row reports.Row) bool { return row.Lanes[c] != "" }) {
			p.shown = append(p.shown, c)
		}
	}
	p.client = (runWidth - 2*margin - runTime - runKey) / vg.Length(max(1, len(p.shown)))
	meaning := ""
	if len(r.Verdicts) > 0 {
		meaning = reports.Meaning(r.Verdicts[0], lang)
	}
	title := r.History.Strategy + ": " + text.ScenarioTitle(r.History.Scenario, lang)
	takeaway := say(lang, "chart.of", "names", JoinWords(r.Verdicts), "text", strings.TrimRight(meaning, ".。"))
	blocks := []block{
		titled(fitText(bold(writing(titleSize, ink)), title, runWidth-2*margin), takeaway, "", runWidth-2*margin),
		{textLine + 2*runPad, p.heads},
	}
	for i := range rows {
		row := p.fold(&rows[i])
		blocks = append(blocks, block{row.height(), func(c draw.Canvas, at vg.Rectangle) {
			p.row(c, &row, at.Min.X, at.Max.Y)
		}})
	}
	return stacked(runWidth, blocks...)
}

func (p *runPlot) fold(r *reports.Row) runRow {
	row := runRow{time: reports.Millis(r.From, 1), state: r.State}
	if r.To != r.From {
		row.time += "–" + reports.Millis(r.To, 1)
	}
	inside := 0
	for _, c := range p.shown {
		var lines []string
		if r.Lanes[c] != "" {
			lines = foldText(normal, r.Lanes[c], p.client-3*runPad-runEdge)
		}
		row.lanes = append(row.lanes, lines)
		if r.State.Clients[c].Stage == verdict.Inside {
			inside++
		}
	}
	row.both = inside > 1
	row.key = p.keys(r)
	if r.Servers != "" {
		row.key = append(row.key, foldText(normal, r.Servers, runKey-2*runPad)...)
	}
	for _, m := range r.Marks {
		row.marks = append(row.marks, foldText(strong, m, runWidth-2*margin-runTime)...)
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
	return textLine*vg.Length(lines) + 2*runPad
}

func (r *runRow) height() vg.Length { return r.body() + textLine*vg.Length(len(r.marks)) }

// laneAt returns the beginning of the lane of the n-th client: the key stands beside the first.
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

// heads names the columns.
func (p *runPlot) heads(c draw.Canvas, at vg.Rectangle) {
	head := func(x vg.Length, s string) {
		write(c, bold(writing(textSize, faintInk)), x+runPad+runEdge, at.Max.Y-textLine/2, s)
	}
	head(at.Min.X, "ms")
	head(p.keyAt(at.Min.X), p.History.Key)
	for n, client := range p.shown {
		head(p.laneAt(at.Min.X, n), fmt.Sprintf("c%d", client+1))
	}
}

func (p *runPlot) row(c draw.Canvas, r *runRow, left, y vg.Length) {
	bottom := y - r.body()
	lines := func(x vg.Length, all []string, st draw.TextStyle) {
		for i, line := range all {
			write(c, st, x, y-runPad-textLine*(vg.Length(i)+0.5), line)
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
		st := normal
		if at.Paused {
			st = writing(textSize, faintInk)
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{2, 3}}, x+p.client-2*runPad, bottom, x+p.client-2*runPad, y)
		}
		lines(x+runEdge+2*runPad, r.lanes[n], st)
	}
	lines(left+runPad+runEdge, []string{r.time}, faint)
	lines(p.keyAt(left)+runPad, r.key, normal)
	for _, m := range r.marks {
		write(c, bold(writing(textSize, vermillion)), left+runTime+runEdge+2*runPad, bottom-textLine/2, m)
		bottom -= textLine
	}
}
