package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
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
	for _, prices := range gather(c.excluding(), together) {
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
	return pick(c.Prices, func(p cost.Price) bool { return p.Excludes })
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
	out := text.Join(lang, "chart.list", each(s.prices[:min(n, len(s.prices))],
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
	priceHead   vg.Length = 30 // of a panel: what its columns are
	priceFoot   vg.Length = 24
	priceLine   vg.Length = 9.5 // between two labels
	priceLeft   vg.Length = 34
	priceLeader vg.Length = 14 // from a mark to its label
	priceRadius vg.Length = 3
)

// picture has the share of races survived against server commands, and against latency in
// round trips: a column for each cost that some lock has. Locks at one place share a
// label; the key below lists them.
func (c *PriceChart) picture(lang string) picture {
	byFamily := gather(c.excluding(), func(a, b cost.Price) bool { return a.Family == b.Family })
	p := pricePlot{styles: map[string]style{}, least: 1}
	for i, of := range byFamily {
		p.styles[string(of[0].Family)] = styleAt(i)
	}
	families := each(byFamily, func(of []cost.Price) string { return string(of[0].Family) })
	signs := legend(families, 12, 10, func(c draw.Canvas, i int, x, y vg.Length) {
		c.DrawGlyph(styleAt(i).glyph(priceRadius), vg.Point{X: x + 5, Y: y})
	})
	var key []string
	for _, s := range c.spots(byCommands) {
		p.least, p.most = min(p.least, s.share), max(p.most, s.share)
		if len(s.prices) > 1 {
			key = append(key, s.label()+": "+s.names(lang, len(s.prices)))
		}
	}
	p.least, p.most = math.Floor(p.least*10)/10, math.Ceil(p.most*10)/10
	if p.most <= p.least {
		p.least, p.most = 0, 1
	}
	return stacked(usualWidth, heading(c, lang, inner), signs,
		p.panel(say(lang, "price.axis.commands"), c.spots(byCommands)),
		p.panel(say(lang, "price.axis.roundtrips"), c.spots(byRoundTrips)),
		notes(small, inner, key...), notes(faint, inner, c.Assumptions(lang), say(lang, "price.legend")), space(12))
}

// A pricePlot is what the panels share: the styles of families, and the shares at bottom and top.
type pricePlot struct {
	styles      map[string]style
	least, most float64
}

// panel is one measure of cost, with a column for each value.
func (p *pricePlot) panel(title string, spots []*spot) block {
	columns := gather(spots, func(a, b *spot) bool { return a.cost == b.cost })
	height := vg.Length(120)
	for _, column := range columns {
		height = max(height, priceLine*vg.Length(len(column)+2))
	}
	return block{priceHead + height + priceFoot, func(c draw.Canvas) {
		f := crop(c, box(c.Min.X+priceLeft, c.Min.Y+priceFoot, c.Max.X, c.Max.Y-priceHead))
		write(f, strong, c.Min.X, f.Max.Y+16, title)
		y := func(share float64) vg.Length { return f.Y(plot.LinearScale{}.Normalize(p.least, p.most, share)) }
		var shares []plot.Tick
		for share := p.least; share < p.most+0.001; share += 0.1 {
			shares = append(shares, plot.Tick{Value: share, Label: percent(math.Round(share*100)/100) + " %"})
		}
		rulesY(f, small, y, shares)
		width := f.Size().X / vg.Length(max(len(columns), 1))
		x := func(i int) vg.Length { return f.Min.X + width*vg.Length(i) + 8 }
		border(f, columns, x, y)
		for i, column := range columns {
			write(f, aligned(small, draw.XCenter), x(i), f.Min.Y-10, decimal(math.Round(column[0].cost*10)/10))
			p.column(f, column, x(i), y, width)
		}
	}}
}

// column draws the spots of one cost, and their labels beside them.
func (p *pricePlot) column(f draw.Canvas, column []*spot, x vg.Length, y func(float64) vg.Length, width vg.Length) {
	at := each(column, func(s *spot) vg.Length { return y(s.share) })
	for n, place := range spread(at, priceLine, f.Min.Y, f.Max.Y) {
		style := writing(smallSize-0.5, ink)
		if column[n].efficient {
			style = bold(style)
		}
		label := fitText(style, column[n].label(), width-priceLeader-6)
		f.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.7}, x, at[n], x+priceLeader-2, place)
		fillBox(f, box(x+priceLeader-1, place-4.5, x+priceLeader+style.Width(label)+1, place+4.5), white)
		write(f, style, x+priceLeader, place, label)
	}
	for n, s := range column {
		f.DrawGlyph(p.styles[string(s.prices[0].Family)].glyph(priceRadius), vg.Point{X: x, Y: at[n]})
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
		for _, s := range pick(column, func(s *spot) bool { return s.efficient }) {
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
