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

// Lanes draw the lanes of a run for a slide: what each client does, who is inside, whose the
// key is, and each verdict at its instant.
type Lanes struct {
	History   *history.History
	Judgement verdict.Judgement
	Verdicts  []verdict.Word
}

// The measures of the picture, in points.
const (
	lanesWidth vg.Length = 800
	lanesTime  vg.Length = 78  // column of the times
	lanesKey   vg.Length = 150 // column of the keys
	lanesPad   vg.Length = 3
	lanesEdge  vg.Length = 3 // beside a client that is inside
)

// lanesPlot is Lanes with its text folded.
type lanesPlot struct {
	*Lanes
	lang   string
	shown  []int // clients, from 0
	client vg.Length
}

type lanesRow struct {
	time  string
	lanes [][]string
	key   []string
	marks []string
	state reports.State
	both  bool // more than one client is inside
}

func (r *Lanes) picture(lang string) picture {
	p := &lanesPlot{Lanes: r, lang: lang}
	rows := reports.Rows(lang, r.History, r.Judgement)
	for c := range r.History.Clients {
		if slices.ContainsFunc(rows, func(row reports.Row) bool { return row.Lanes[c] != "" }) {
			p.shown = append(p.shown, c)
		}
	}
	p.client = (lanesWidth - 2*margin - lanesTime - lanesKey) / vg.Length(max(1, len(p.shown)))
	meaning := ""
	if len(r.Verdicts) > 0 {
		meaning = reports.Meaning(r.Verdicts[0], lang)
	}
	title := r.History.Strategy + ": " + text.ScenarioTitle(r.History.Scenario, lang)
	takeaway := say(lang, "chart.of", "names", JoinWords(r.Verdicts), "text", strings.TrimRight(meaning, ".。"))
	blocks := []block{
		titled(fitText(bold(writing(titleSize, ink)), title, lanesWidth-2*margin), takeaway, lanesWidth-2*margin),
		{textLine + 2*lanesPad, p.heads},
	}
	for i := range rows {
		row := p.fold(&rows[i])
		blocks = append(blocks, block{row.height(), func(c draw.Canvas) {
			p.row(c, &row, c.Min.X, c.Max.Y)
		}})
	}
	return stacked(lanesWidth, blocks...)
}

func (p *lanesPlot) fold(r *reports.Row) lanesRow {
	row := lanesRow{time: reports.Millis(r.From, 1), state: r.State}
	if r.To != r.From {
		row.time += "–" + reports.Millis(r.To, 1)
	}
	inside := 0
	for _, c := range p.shown {
		var lines []string
		if r.Lanes[c] != "" {
			lines = foldText(normal, r.Lanes[c], p.client-3*lanesPad-lanesEdge)
		}
		row.lanes = append(row.lanes, lines)
		if r.State.Clients[c].Stage == verdict.Inside {
			inside++
		}
	}
	row.both = inside > 1
	row.key = p.keys(r)
	if r.Servers != "" {
		row.key = append(row.key, foldText(normal, r.Servers, lanesKey-2*lanesPad)...)
	}
	for _, m := range r.Marks {
		row.marks = append(row.marks, foldText(strong, m, lanesWidth-2*margin-lanesTime)...)
	}
	return row
}

// keys are whose the key is, and for how long; neighbours of which the same is said are one.
func (p *lanesPlot) keys(r *reports.Row) (all []string) {
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
func (r *lanesRow) body() vg.Length {
	lines := max(1, len(r.key))
	for _, l := range r.lanes {
		lines = max(lines, len(l))
	}
	return textLine*vg.Length(lines) + 2*lanesPad
}

func (r *lanesRow) height() vg.Length { return r.body() + textLine*vg.Length(len(r.marks)) }

// laneAt returns the beginning of the lane of the n-th client: the key stands beside the first.
func (p *lanesPlot) laneAt(left vg.Length, n int) vg.Length {
	x := left + lanesTime + p.client*vg.Length(n)
	if n > 0 {
		x += lanesKey
	}
	return x
}

func (p *lanesPlot) keyAt(left vg.Length) vg.Length {
	if len(p.shown) == 0 {
		return left + lanesTime
	}
	return left + lanesTime + p.client
}

// heads names the columns.
func (p *lanesPlot) heads(c draw.Canvas) {
	head := func(x vg.Length, s string) {
		write(c, bold(writing(textSize, faintInk)), x+lanesPad+lanesEdge, c.Max.Y-textLine/2, s)
	}
	head(c.Min.X, "ms")
	head(p.keyAt(c.Min.X), p.History.Key)
	for n, client := range p.shown {
		head(p.laneAt(c.Min.X, n), fmt.Sprintf("c%d", client+1))
	}
}

func (p *lanesPlot) row(c draw.Canvas, r *lanesRow, left, y vg.Length) {
	bottom := y - r.body()
	lines := func(x vg.Length, all []string, st draw.TextStyle) {
		for i, line := range all {
			write(c, st, x, y-lanesPad-textLine*(vg.Length(i)+0.5), line)
		}
	}
	for n, client := range p.shown {
		x, at := p.laneAt(left, n), r.state.Clients[client]
		if at.Stage == verdict.Inside {
			ground, edge := color.NRGBA(paleGreen), color.NRGBA(green)
			if r.both {
				ground, edge = paleGrey, vermillion
			}
			fillBox(c, box(x, bottom, x+p.client-lanesPad, y), ground)
			fillBox(c, box(x, bottom, x+lanesEdge, y), edge)
		}
		st := normal
		if at.Paused {
			st = writing(textSize, faintInk)
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{2, 3}}, x+p.client-2*lanesPad, bottom, x+p.client-2*lanesPad, y)
		}
		lines(x+lanesEdge+2*lanesPad, r.lanes[n], st)
	}
	lines(left+lanesPad+lanesEdge, []string{r.time}, faint)
	lines(p.keyAt(left)+lanesPad, r.key, normal)
	for _, m := range r.marks {
		write(c, bold(writing(textSize, vermillion)), left+lanesTime+lanesEdge+2*lanesPad, bottom-textLine/2, m)
		bottom -= textLine
	}
}
