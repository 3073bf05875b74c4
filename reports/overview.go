package reports

import (
	"slices"
	"strconv"
	"strings"

	"locklab/simulator/verdict"
)

// Of many locks a grid of words would be read by nobody. An overview turns it
// round: a lock per line, in groups, a race per column, and in each cell only
// the glyph. Locks of one group that came out the same share a line.

// overviewFrom is how many locks make an overview.
const overviewFrom = 12

func (g *Grid) many() bool { return len(g.Strategies) >= overviewFrom }

// A band is one group of an overview.
type band struct {
	group Text
	lines []overviewLine
}

// An overviewLine is a lock, with those that came out the same: places in
// Grid.Strategies.
type overviewLine struct {
	first int
	same  []int
}

// bands gathers the groups, each where its first lock stands.
func (g *Grid) bands() []band {
	var out []band
	for i, s := range g.Strategies {
		n := slices.IndexFunc(out, func(b band) bool { return b.group == s.Group })
		if n < 0 {
			n = len(out)
			out = append(out, band{group: s.Group})
		}
		b := &out[n]
		if twin := slices.IndexFunc(b.lines, func(l overviewLine) bool { return g.alike(l.first, i) }); twin >= 0 {
			b.lines[twin].same = append(b.lines[twin].same, i)
			continue
		}
		b.lines = append(b.lines, overviewLine{first: i})
	}
	return out
}

// alike says whether two locks have the same verdicts everywhere. How long
// somebody was blocked does not count.
func (g *Grid) alike(a, b int) bool {
	for j := range g.Scenarios {
		x, y := g.cell(a, j), g.cell(b, j)
		if x.AsExpected != y.AsExpected || x.Uncontracted != y.Uncontracted || x.word() != y.word() || !slices.Equal(x.Verdicts, y.Verdicts) {
			return false
		}
	}
	return true
}

// mark is the cell in an overview: its glyph, after a bracket where it is not
// what was expected, a round one where nothing was.
func (c *Cell) mark() string {
	switch {
	case c.Uncontracted:
		return "(" + lookOf(c.word()).glyph
	case c.surprising():
		return "[" + lookOf(c.word()).glyph
	}
	return " " + lookOf(c.word()).glyph
}

// short is what heads a scenario's column.
func (c Column) short() string {
	if c.Race != "" {
		return c.Race
	}
	return c.ID
}

func (g *Grid) lineName(l overviewLine) string {
	name := g.Strategies[l.first].ID
	if len(l.same) > 0 {
		name += " +" + strconv.Itoa(len(l.same))
	}
	return name
}

// overview prints it.
func (g *Grid) overview(out *lines) {
	bands := g.bands()
	label := 0
	for _, b := range bands {
		for _, l := range b.lines {
			label = max(label, 2+textWidth(g.lineName(l)))
		}
	}
	perBlock := len(g.Scenarios)
	if out.width > 0 {
		perBlock = max(1, (out.width-label)/2)
	}
	for from := 0; from < len(g.Scenarios); from += perBlock {
		if from > 0 {
			out.put("", 0)
		}
		g.overviewBlock(out, bands, label, from, min(from+perBlock, len(g.Scenarios)))
	}
	out.put("", 0)
	for _, b := range bands {
		for _, l := range b.lines {
			if len(l.same) > 0 {
				out.put(padRight(g.lineName(l), label)+" "+out.say("grid.also")+" "+g.names(l.same), label+1)
			}
		}
	}
	var races []string
	for _, s := range g.Scenarios {
		races = append(races, strings.TrimSpace(s.Race+" "+s.ID))
	}
	out.put(strings.Join(races, ", "), 0)
}

func (g *Grid) names(places []int) string {
	var s []string
	for _, i := range places {
		s = append(s, g.Strategies[i].ID)
	}
	return strings.Join(s, ", ")
}

// overviewBlock prints the columns of some scenarios, with their races written
// downwards.
func (g *Grid) overviewBlock(out *lines, bands []band, label, from, to int) {
	height := 0
	for _, s := range g.Scenarios[from:to] {
		height = max(height, len(s.short()))
	}
	for n := range height {
		line := strings.Repeat(" ", label)
		for _, s := range g.Scenarios[from:to] {
			letter := " "
			if n < len(s.short()) {
				letter = s.short()[n : n+1]
			}
			line += " " + letter
		}
		out.put(line, 0)
	}
	for _, b := range bands {
		if b.group != (Text{}) {
			out.put(out.each(b.group.in), 0)
		}
		for _, l := range b.lines {
			line := padRight("  "+g.lineName(l), label)
			for j := from; j < to; j++ {
				line += g.cell(l.first, j).mark()
			}
			out.put(line, 0)
		}
	}
}

// occurs says whether a word stands for any cell.
func (g *Grid) occurs(w verdict.Word) bool {
	return g.count(func(c *Cell) bool { return c.word() == w }) > 0
}
