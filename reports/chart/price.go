package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A PriceChart draws what locks cost against the share of races that they survive.
type PriceChart struct{ Prices []cost.Price }

// Title returns the question of the chart.
func (c *PriceChart) Title(lang string) string { return say(lang, "price.title") }

// Assumptions say how the locks were counted.
func (c *PriceChart) Assumptions(lang string) string {
	s := cost.PriceSettings()
	return say(lang, "price.assumptions", "ttl", length(s.TTL), "retry", length(s.Retry))
}

// Takeaway names the efficient locks: those that no other lock beats in both.
func (c *PriceChart) Takeaway(lang string) string {
	var parts []string
	for _, s := range c.spots(byCommands) {
		if s.efficient {
			p := s.prices[0]
			parts = append(parts, say(lang, "price.step", "commands", decimal(s.cost), "locks", s.names(lang, 3), "share", percent(s.share),
				"survived", strconv.Itoa(p.Survived), "races", strconv.Itoa(p.Races)))
		}
	}
	return say(lang, "price.takeaway", "steps", text.Join(lang, "grid.join", parts))
}

// A spot are locks at the same place of the chart, the best-known first.
type spot struct {
	cost, share float64
	prices      []cost.Price
	efficient   bool // no other lock costs no more and survives as much
}

// spots are the places of all locks by a cost, from the cheapest and then the safest on.
func (c *PriceChart) spots(axis func(cost.Price) float64) (spots []*spot) {
	together := func(a, b cost.Price) bool { return axis(a) == axis(b) && a.Share() == b.Share() }
	for _, prices := range lists.Gather(c.excluding(), together) {
		slices.SortStableFunc(prices, func(a, b cost.Price) int { return cmp.Compare(fame(a.Strategy), fame(b.Strategy)) })
		spots = append(spots, &spot{cost: axis(prices[0]), share: prices[0].Share(), prices: prices})
	}
	slices.SortFunc(spots, func(a, b *spot) int { return cmp.Or(cmp.Compare(a.cost, b.cost), -cmp.Compare(a.share, b.share)) })
	best := -1.0
	for _, s := range spots {
		s.efficient = s.share > best
		best = max(best, s.share)
	}
	return spots
}

// excluding are the locks that exclude at all.
func (c *PriceChart) excluding() []cost.Price {
	return lists.Pick(c.Prices, func(p cost.Price) bool { return p.Excludes })
}

// fame is 0 for a milestone, and 1 for another lock.
func fame(id string) int {
	if slices.ContainsFunc(algorithms.Milestones(), func(e lock.Entry) bool { return e.ID == id }) {
		return 0
	}
	return 1
}

func byCommands(p cost.Price) float64   { return p.Commands }
func byRoundTrips(p cost.Price) float64 { return p.RoundTrips }

// names lists the locks of a spot, n at most.
func (s *spot) names(lang string, n int) string {
	out := text.Join(lang, "chart.list", lists.Each(s.prices[:min(n, len(s.prices))],
		func(p cost.Price) string { return p.Strategy }))
	if more := len(s.prices) - n; more > 0 {
		out = say(lang, "price.more", "names", out, "n", strconv.Itoa(more))
	}
	return out
}

// label names the first lock of a spot, and how many more there are.
func (s *spot) label() string {
	label := s.prices[0].Strategy
	if more := len(s.prices) - 1; more > 0 {
		label += " +" + strconv.Itoa(more)
	}
	return label
}

// efficient are the locks on the border of either chart.
func (c *PriceChart) efficient() map[string]bool {
	out := map[string]bool{}
	for _, spots := range [][]*spot{c.spots(byCommands), c.spots(byRoundTrips)} {
		for _, s := range spots {
			for _, p := range s.prices {
				out[p.Strategy] = out[p.Strategy] || s.efficient
			}
		}
	}
	return out
}

// text has one lock per line.
func (c *PriceChart) text(out *layout.Lines) {
	border := c.efficient()
	table := listing(2, 7, "price.head.", "lock family commands roundtrips contended handover survived share", c.Prices,
		func(p cost.Price) []string {
			mark := ""
			switch {
			case !p.Excludes:
				mark = "-"
			case border[p.Strategy]:
				mark = "<"
			}
			return []string{p.Strategy, string(p.Family), decimal(p.Commands), rounded(p.RoundTrips, 0), rounded(p.Contended, 1),
				length(p.Handover), fmt.Sprintf("%d/%d", p.Survived, p.Races), percent(p.Share()) + " %", mark}
		})
	show(out, saying(c.Title, c.Assumptions), table, saying(c.Takeaway, key("price.mark")))
}

// records has one line for each lock.
func (c *PriceChart) records() [][]any {
	return csvLines("strategy family commands round_trips commands_contended handover_mean_s handover_longest_s "+
		"races_survived races", c.Prices, func(p cost.Price) []any {
		return []any{p.Strategy, p.Family, decimal(p.Commands), p.RoundTrips, p.Contended, p.Handover, p.LongestHandover, p.Survived, p.Races}
	})
}

func (c *PriceChart) data() object {
	return object{"takeaway", c.Takeaway("en"), "assumptions", c.Assumptions("en"), "prices", c.Prices}
}

// The measures of a chart of prices, in points.
const (
	pricePanel  vg.Length = 170 // least height of a panel
	priceHead   vg.Length = 22  // of a panel: what its columns are
	priceFoot   vg.Length = 28
	priceLine   vg.Length = 9.5 // between two labels
	priceLeft   vg.Length = 34
	priceRight  vg.Length = 62 // for the labels of the dearest
	priceNames  vg.Length = 46 // for those of the cheapest
	priceLeader vg.Length = 14 // from a mark to its label
	priceRadius vg.Length = 3
)

// Finding compares the best that is cheap with the best of all.
func (c *PriceChart) Finding(lang string) string {
	best := lists.Pick(c.spots(byCommands), func(s *spot) bool { return s.efficient })
	if len(best) == 0 {
		return c.Title(lang)
	}
	one := func(s *spot) []string {
		return []string{"lock", s.prices[0].Strategy, "commands", decimal(s.cost), "share", percent(s.share)}
	}
	first := say(lang, "price.finding", one(best[0])...)
	if len(best) == 1 {
		return first
	}
	return say(lang, "price.finding.more", append(one(best[len(best)-1]), "first", first)...)
}

func (c *PriceChart) panels() []string { return []string{"commands", "roundtrips"} }

// picture has the share of races in which the data is kept against server commands, and against latency in
// round trips. The best locks and the milestones have names.
func (c *PriceChart) picture(f Format) picture {
	lang := f.Lang
	byFamily := lists.Gather(c.excluding(), func(a, b cost.Price) bool { return a.Family == b.Family })
	p := pricePlot{styles: map[string]style{}, least: 1}
	for i, of := range byFamily {
		p.styles[string(of[0].Family)] = styleAt(i)
	}
	families := lists.Each(byFamily, func(of []cost.Price) string { return string(of[0].Family) })
	signs := legend(families, 12, 10, func(c draw.Canvas, i int, x, y vg.Length) {
		c.DrawGlyph(styleAt(i).glyph(priceRadius), vg.Point{X: x + 5, Y: y})
	})
	for _, s := range c.spots(byCommands) {
		p.least, p.most = min(p.least, s.share), max(p.most, s.share)
	}
	p.least, p.most = math.Floor(p.least*10)/10, math.Ceil(p.most*10)/10
	if p.most <= p.least {
		p.least, p.most = 0, 1
	}
	chosen := f.chosen(c.panels())
	both := panels(len(chosen), len(chosen), pricePanel, func(place draw.Canvas, i int) {
		name := c.panels()[chosen[i]]
		p.panel(place, say(lang, "price.axis."+name), c.spots([]func(cost.Price) float64{byCommands, byRoundTrips}[chosen[i]]))
	})
	return f.fitted(c, []string{say(lang, "price.below")}, 0, func(vg.Length) []block { return []block{signs, both} })
}

// Notes implements Chart.
func (c *PriceChart) Notes(lang string) []string {
	shared := lists.Each(lists.Pick(c.spots(byCommands), func(s *spot) bool { return len(s.prices) > 1 }), func(s *spot) string { return s.names(lang, len(s.prices)) })
	notes := []string{c.Assumptions(lang), say(lang, "price.legend")}
	if shared != nil {
		notes = append(notes, say(lang, "price.shared", "locks", text.Join(lang, "grid.join", shared)))
	}
	return notes
}

// A pricePlot is what the panels share: the styles of families, and the shares at bottom and top.
type pricePlot struct {
	styles      map[string]style
	least, most float64
}

// panel is one measure of cost, from 0 on.
func (p *pricePlot) panel(place draw.Canvas, title string, spots []*spot) {
	columns := lists.Gather(spots, func(a, b *spot) bool { return a.cost == b.cost })
	f := draw.Crop(place, priceLeft, -priceRight, priceFoot, -priceHead)
	write(f, strong, place.Min.X, f.Max.Y+14, fitText(strong, title, place.Size().X-8))
	y := func(share float64) vg.Length { return f.Y(plot.LinearScale{}.Normalize(p.least, p.most, share)) }
	var shares, costs []plot.Tick
	for share := p.least; share < p.most+0.001; share += 0.1 {
		shares = append(shares, plot.Tick{Value: share, Label: percent(math.Round(share*100)/100) + " %"})
	}
	rulesY(f, small, y, shares)
	top := 1.0
	for _, column := range columns {
		top = max(top, column[0].cost)
	}
	for v := 0.0; v <= top; v += max(1, math.Ceil(top/6)) {
		costs = append(costs, plot.Tick{Value: v, Label: decimal(v)})
	}
	at := func(cost float64) vg.Length { return f.X(cost/top) + priceNames*vg.Length(1-cost/top) }
	marksX(f, small, 9, at, costs)
	x := func(i int) vg.Length { return at(columns[i][0].cost) }
	border(f, columns, x, y)
	for i, column := range columns {
		side := vg.Length(1) // there is room left of the cheapest
		if i == 0 {
			side = -1
		}
		p.column(f, column, x(i), y, side)
	}
}

// column draws the spots of one cost, and on a side of them (-1: the left one) the names of the best and of the milestones.
func (p *pricePlot) column(f draw.Canvas, column []*spot, x vg.Length, y func(float64) vg.Length, side vg.Length) {
	named := lists.Pick(column, func(s *spot) bool { return s.efficient || fame(s.prices[0].Strategy) == 0 })
	at := lists.Each(named, func(s *spot) vg.Length { return y(s.share) })
	for n, place := range spread(at, priceLine, f.Min.Y, f.Max.Y) {
		style := writing(smallSize-0.5, ink)
		if named[n].efficient {
			style = bold(style)
		}
		label := named[n].label()
		left := x + priceLeader
		if side < 0 {
			left = x - priceLeader - style.Width(label)
		}
		f.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.7}, x, at[n], x+side*(priceLeader-2), place)
		fillBox(f, box(left-1, place-4.5, left+style.Width(label)+1, place+4.5), white)
		write(f, style, left, place, label)
	}
	for _, s := range column {
		at := vg.Point{X: x, Y: y(s.share)}
		f.DrawGlyph(p.styles[string(s.prices[0].Family)].glyph(priceRadius), at)
		hover(f, at, fmt.Sprintf("%s: %s %%, %s", strings.Join(lists.Each(s.prices, func(p cost.Price) string { return p.Strategy }), ", "), percent(s.share), decimal(s.cost)))
	}
}

// border joins the efficient spots by steps.
func border(f draw.Canvas, columns [][]*spot, x func(int) vg.Length, y func(float64) vg.Length) {
	var line []vg.Point
	along := func(to vg.Length) {
		if len(line) > 0 {
			line = append(line, vg.Point{X: to, Y: line[len(line)-1].Y})
		}
	}
	for i, column := range columns {
		for _, s := range lists.Pick(column, func(s *spot) bool { return s.efficient }) {
			along(x(i))
			line = append(line, vg.Point{X: x(i), Y: y(s.share)})
		}
	}
	along(f.Max.X)
	f.StrokeLines(draw.LineStyle{Color: green, Width: 1.2, Dashes: []vg.Length{4, 2}}, line)
}

// spread moves falling positions apart, so that they are at least a gap from each other,
// as little as that takes, and keeps them between low and high if there is room.
func spread(at []vg.Length, gap, low, high vg.Length) []vg.Length {
	type cluster struct {
		sum vg.Length // of the wanted positions of its top
		n   int
	}
	top := func(c cluster) vg.Length { return c.sum / vg.Length(c.n) }
	var all []cluster
	for _, y := range at {
		all = append(all, cluster{y, 1})
		for n := len(all); n > 1 && top(all[n-2])-gap*vg.Length(all[n-2].n) < top(all[n-1]); n = len(all) {
			a, b := all[n-2], all[n-1]
			all = append(all[:n-2], cluster{a.sum + b.sum + gap*vg.Length(a.n*b.n), a.n + b.n})
		}
	}
	var out []vg.Length
	for _, c := range all {
		first := min(max(top(c), low+gap*vg.Length(c.n-1)), high)
		for i := range c.n {
			out = append(out, first-gap*vg.Length(i))
		}
	}
	return out
}
