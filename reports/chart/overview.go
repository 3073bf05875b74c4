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

// overviewFrom is the number of locks from which a grid is drawn as an overview: a lock per line, in groups, a race per
// column, and only the glyph in each cell. Locks of one group that came out the same share a line.
const overviewFrom = 12

// Many reports whether the grid is drawn as an overview.
func (g *Grid) Many() bool { return len(g.Locks) >= overviewFrom }

// A Band is one group of an overview.
type Band struct {
	Group string // id of the family
	Lines []Line
}

// A Line is a lock, with those that came out the same: indices of Grid.Locks.
type Line struct {
	First int
	Same  []int
}

// Bands gathers the groups, in the order of their first locks.
func (g *Grid) Bands() []Band {
	sameGroup := func(a, b int) bool { return g.Locks[a].Group == g.Locks[b].Group }
	return lists.Each(lists.Gather(lists.Indices(g.Locks), sameGroup), func(group []int) Band {
		alike := lists.Gather(group, g.sameVerdicts)
		lines := lists.Each(alike, func(same []int) Line { return Line{same[0], same[1:]} })
		return Band{g.Locks[group[0]].Group, lines}
	})
}

// sameVerdicts reports whether two locks agree everywhere. How long clients were blocked does not count.
func (g *Grid) sameVerdicts(a, b int) bool {
	for j := range g.Races {
		x, y := g.cell(a, j), g.cell(b, j)
		same := x.AsExpected == y.AsExpected && x.Uncontracted == y.Uncontracted && x.Word() == y.Word()
		if !same || !slices.Equal(x.Verdicts, y.Verdicts) {
			return false
		}
	}
	return true
}

// short heads a race's column, and name stands in sentences.
func (c Column) short() string { return cmp.Or(c.Code, c.ID) }
func (c Column) name() string  { return strings.TrimSpace(c.Code + " " + c.ID) }

func (g *Grid) lineName(l Line) string {
	name := g.Locks[l.First].ID
	if len(l.Same) > 0 {
		name += " +" + strconv.Itoa(len(l.Same))
	}
	return name
}

// overview prints it, in blocks of as many races as fit, whose names are written downwards.
func (g *Grid) overview(out *layout.Lines) {
	bands, rows, label := g.Bands(), g.raceRows(), 0
	for _, b := range bands {
		if b.Group != "" {
			rows = append(rows, []string{out.Each(func(lang string) string { return text.FamilyTitle(b.Group, lang) })})
		}
		for _, l := range b.Lines {
			marks := lists.Each(g.Cells[l.First], func(c Cell) string {
				open, _ := c.brackets()
				return open + LookOf(c.Word()).Glyph
			})
			rows = append(rows, append([]string{"  " + g.lineName(l)}, marks...))
			label = max(label, 2+layout.Width(g.lineName(l)))
		}
	}
	perBlock := max(len(g.Races), 1)
	if out.Width() > 0 {
		perBlock = max(1, (out.Width()-label)/2)
	}
	for some := range slices.Chunk(lists.Indices(g.Races), perBlock) {
		if some[0] > 0 {
			out.Put("", 0)
		}
		for _, row := range rows {
			if len(row) > 1 {
				row = []string{layout.PadRight(row[0], label), strings.Join(row[1+some[0]:1+some[0]+len(some)], "")}
			}
			out.Put(strings.Join(row, ""), 0)
		}
	}
	out.Put("", 0)
	for _, b := range bands {
		for _, l := range b.Lines {
			if len(l.Same) > 0 {
				also := sayAll(out, "grid.also") + " " + g.names(l.Same, "en")
				out.Put(layout.PadRight(g.lineName(l), label)+" "+also, label+1)
			}
		}
	}
	out.Put(strings.Join(lists.Each(g.Races, Column.name), ", "), 0)
}

// raceRows are the names of the races, a letter a row.
func (g *Grid) raceRows() (rows [][]string) {
	height := slices.Max(append(lists.Each(g.Races, func(c Column) int { return len(c.short()) }), 0))
	for n := range height {
		letters := lists.Each(g.Races, func(c Column) string {
			return " " + (c.short() + strings.Repeat(" ", height))[n:n+1]
		})
		rows = append(rows, append([]string{""}, letters...))
	}
	return rows
}

func (g *Grid) names(places []int, lang string) string {
	return text.Join(lang, "chart.list", lists.Each(places, func(i int) string { return g.Locks[i].ID }))
}
