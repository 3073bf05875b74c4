package chart

import (
	"cmp"
	"fmt"
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
	lanesWidth vg.Length = 800 - 2*margin
	lanesTime  vg.Length = 78  // column of the times
	lanesKey   vg.Length = 150 // column of the keys, beside the first client
	lanesPad   vg.Length = 3   // also the edge of a client that is inside
)

// lanesPlot is Lanes in a language.
type lanesPlot struct {
	*Lanes
	lang   string
	shown  []int     // clients, from 0
	client vg.Length // width of a lane
}

func (r *Lanes) picture(f Format) picture {
	lang := f.Lang
	p, rows := &lanesPlot{Lanes: r, lang: lang}, reports.Rows(lang, r.History, r.Judgement)
	for c := range r.History.Clients {
		if slices.ContainsFunc(rows, func(row reports.Row) bool { return row.Lanes[c] != "" }) {
			p.shown = append(p.shown, c)
		}
	}
	p.client = (lanesWidth - lanesTime - lanesKey) / vg.Length(max(1, len(p.shown)))
	meaning := ""
	if len(r.Verdicts) > 0 {
		meaning = reports.Meaning(r.Verdicts[0], lang)
	}
	title := r.History.Strategy + ": " + text.ScenarioTitle(r.History.Scenario, lang)
	takeaway := say(lang, "chart.of", "names", JoinWords(r.Verdicts), "text", strings.TrimRight(meaning, ".。"))
	blocks := []block{
		titled(cmp.Or(f.Title, title), foldText(normal, takeaway, lanesWidth), lanesWidth),
		{height: textLine + 2*lanesPad, draw: p.heads},
	}
	for i := range rows {
		blocks = append(blocks, p.row(&rows[i]))
	}
	return stacked(lanesWidth+2*margin, blocks...)
}

// keys are whose the key is, and for how long; neighbours of which the same is said are one.
func (p *lanesPlot) keys(r *reports.Row) []string {
	said := each(r.State.Keys, func(k reports.KeyState) string {
		owner := "?"
		if k.Owner > 0 {
			owner = fmt.Sprintf("c%d", k.Owner)
		}
		switch {
		case k.Down:
			return say(p.lang, "motion.down")
		case !k.Held:
			return say(p.lang, "motion.free")
		case k.Until == history.Forever:
			return owner
		}
		return owner + "  " + reports.Millis(max(k.Until-r.To, 0).Round(time.Millisecond), 0) + " ms"
	})
	if len(said) == 1 {
		return said
	}
	owner := func(n int) string { return strings.Fields(said[n])[0] }
	return each(neighbours(said, func(a, b int) bool { return owner(a) == owner(b) }), func(same []int) string {
		first, last := same[0], same[len(same)-1]
		if first == last {
			return fmt.Sprintf("n%d %s", first+1, said[first])
		}
		return fmt.Sprintf("n%d–n%d %s", first+1, last+1, said[first])
	})
}

// laneAt returns the beginning of the lane of the n-th client: the key stands beside the first.
func (p *lanesPlot) laneAt(left vg.Length, n int) vg.Length {
	x := left + lanesTime + p.client*vg.Length(n)
	if n > 0 {
		x += lanesKey
	}
	return x
}

func (p *lanesPlot) keyAt(left vg.Length) vg.Length {
	return left + lanesTime + p.client*vg.Length(min(1, len(p.shown)))
}

// heads names the columns.
func (p *lanesPlot) heads(c draw.Canvas) {
	head := func(x vg.Length, s string) {
		write(c, bold(writing(textSize, faintInk)), x+2*lanesPad, c.Max.Y-textLine/2, s)
	}
	head(c.Min.X, "ms")
	head(p.keyAt(c.Min.X), p.History.Key)
	for n, client := range p.shown {
		head(p.laneAt(c.Min.X, n), fmt.Sprintf("c%d", client+1))
	}
}

// row draws one time: the lanes, beside them the keys, and below them the verdicts.
func (p *lanesPlot) row(r *reports.Row) block {
	when, keys, height := reports.Millis(r.From, 1), p.keys(r), 1
	if r.To != r.From {
		when += "–" + reports.Millis(r.To, 1)
	}
	if r.Servers != "" {
		keys = append(keys, foldText(normal, r.Servers, lanesKey-2*lanesPad)...)
	}
	lanes := each(p.shown, func(c int) []string {
		if r.Lanes[c] == "" {
			return nil
		}
		return foldText(normal, r.Lanes[c], p.client-4*lanesPad)
	})
	for _, column := range append(lanes, keys) {
		height = max(height, len(column))
	}
	var marks []string
	for _, m := range r.Marks {
		marks = append(marks, foldText(strong, m, lanesWidth-lanesTime)...)
	}
	body := textLine*vg.Length(height) + 2*lanesPad
	return block{height: body + textLine*vg.Length(len(marks)), draw: func(c draw.Canvas) {
		left, y := c.Min.X, c.Max.Y-lanesPad
		for n, lane := range lanes {
			x := p.laneAt(left, n)
			lines(c, p.lane(c, r, p.shown[n], box(x, c.Max.Y-body, x+p.client-lanesPad, c.Max.Y)), x+3*lanesPad, y, lane)
		}
		lines(c, faint, left+2*lanesPad, y, []string{when})
		lines(c, normal, p.keyAt(left)+lanesPad, y, keys)
		lines(c, bold(writing(textSize, vermillion)), left+lanesTime+3*lanesPad, c.Max.Y-body, marks)
	}}
}

// lane draws how a client is in its place of a row, and returns the letters for what it does.
func (p *lanesPlot) lane(c draw.Canvas, r *reports.Row, client int, at vg.Rectangle) draw.TextStyle {
	if r.State.Clients[client].Stage == verdict.Inside {
		ground, edge := paleGreen, green
		if len(pick(p.shown, func(c int) bool { return r.State.Clients[c].Stage == verdict.Inside })) > 1 {
			ground, edge = paleGrey, vermillion
		}
		fillBox(c, at, ground)
		fillBox(c, box(at.Min.X, at.Min.Y, at.Min.X+lanesPad, at.Max.Y), edge)
	}
	if !r.State.Clients[client].Paused {
		return normal
	}
	x := at.Max.X - lanesPad
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{2, 3}}, x, at.Min.Y, x, at.Max.Y)
	return writing(textSize, faintInk)
}

// lines writes lines of text, the first one below y.
func lines(c draw.Canvas, style draw.TextStyle, x, y vg.Length, all []string) {
	for i, line := range all {
		write(c, style, x, y-textLine*(vg.Length(i)+0.5), line)
	}
}
