package chart

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/lists"
)

// overviewFrom is the number of locks from which a grid is drawn as an overview: a lock
// per line, in groups, a race per column, and only the glyph in each cell. Locks of one
// group that came out the same share a line.
const overviewFrom = 12

// Many reports whether the grid is drawn as an overview.
func (g *Grid) Many() bool { return len(g.Strategies) >= overviewFrom }

// A Band is one group of an overview.
type Band struct {
	Group string // id of the family
	Lines []Line
}

// A Line is a lock, with those that came out the same: indices of Grid.Strategies.
type Line struct {
	First int
	Same  []int
}

// Bands gathers the groups, in the order of their first locks.
func (g *Grid) Bands() []Band {
	sameGroup := func(a, b int) bool { return g.Strategies[a].Group == g.Strategies[b].Group }
	return lists.Each(lists.Gather(lists.Indices(g.Strategies), sameGroup), func(group []int) Band {
		alike := lists.Gather(group, g.sameVerdicts)
		lines := lists.Each(alike, func(same []int) Line { return Line{same[0], same[1:]} })
		return Band{g.Strategies[group[0]].Group, lines}
	})
}

// sameVerdicts reports whether two locks have the same verdicts everywhere. The time for
// which clients were blocked does not count.
func (g *Grid) sameVerdicts(a, b int) bool {
	for j := range g.Scenarios {
		x, y := g.cell(a, j), g.cell(b, j)
		same := x.AsExpected == y.AsExpected && x.Uncontracted == y.Uncontracted && x.Word() == y.Word()
		if !same || !slices.Equal(x.Verdicts, y.Verdicts) {
			return false
		}
	}
	return true
}

// mark is the cell in an overview: its glyph behind its bracket.
func (c *Cell) mark() string {
	open, _ := c.brackets()
	return open + LookOf(c.Word()).Glyph
}

// short heads a scenario's column, and name stands in sentences.
func (c Column) short() string { return cmp.Or(c.Race, c.ID) }
func (c Column) name() string  { return strings.TrimSpace(c.Race + " " + c.ID) }

func (g *Grid) lineName(l Line) string {
	name := g.Strategies[l.First].ID
	if len(l.Same) > 0 {
		name += " +" + strconv.Itoa(len(l.Same))
	}
	return name
}

// overview prints it.
func (g *Grid) overview(out *layout.Lines) {
	bands := g.Bands()
	label := 0
	for _, b := range bands {
		for _, l := range b.Lines {
			label = max(label, 2+layout.Width(g.lineName(l)))
		}
	}
	perBlock := len(g.Scenarios)
	if out.Width() > 0 {
		perBlock = max(1, (out.Width()-label)/2)
	}
	for from := 0; from < len(g.Scenarios); from += perBlock {
		if from > 0 {
			out.Put("", 0)
		}
		g.overviewBlock(out, bands, label, from, min(from+perBlock, len(g.Scenarios)))
	}
	out.Put("", 0)
	for _, b := range bands {
		for _, l := range b.Lines {
			if len(l.Same) > 0 {
				out.Put(layout.PadRight(g.lineName(l), label)+" "+sayAll(out, "grid.also")+" "+g.names(l.Same), label+1)
			}
		}
	}
	out.Put(strings.Join(lists.Each(g.Scenarios, Column.name), ", "), 0)
}

func (g *Grid) names(places []int) string {
	return strings.Join(lists.Each(places, func(i int) string { return g.Strategies[i].ID }), ", ")
}

// overviewBlock prints the columns of some scenarios, with their races written
// downwards.
func (g *Grid) overviewBlock(out *layout.Lines, bands []Band, label, from, to int) {
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
		out.Put(line, 0)
	}
	for _, b := range bands {
		if b.Group != "" {
			out.Put(out.Each(func(lang string) string { return text.FamilyTitle(b.Group, lang) }), 0)
		}
		for _, l := range b.Lines {
			line := layout.PadRight("  "+g.lineName(l), label)
			for j := from; j < to; j++ {
				line += g.cell(l.First, j).mark()
			}
			out.Put(line, 0)
		}
	}
}
