package chart

import (
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"locklab/algorithms"
	"locklab/reports/text"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// cellFrom is a cell of the grid from its row in the table.
func cellFrom(r record) Cell {
	words := lists.Each(strings.Fields(r.text("verdicts")), func(w string) verdict.Word { return verdict.Word(w) })
	blocked := r.number("blocked_ms") * float64(time.Millisecond)
	return Cell{Verdicts: words, Triggered: r.is("triggered"), AsExpected: r.is("as_expected"),
		Uncontracted: r.text("expected") == noContract, Blocked: time.Duration(blocked), Votes: r.text("votes")}
}

// drawn is a cell of the grid as a mark; brief: its glyph only. What was not expected has a border, and a dashed one
// what nothing was expected of.
func (c *Cell) drawn(lang string, brief bool) cell {
	m := cell{}.like(LookOf(c.Word()))
	if !brief {
		m.words = c.Label(lang)
	}
	switch {
	case c.Uncontracted:
		m.border, m.dashes = 1.2, []vg.Length{3, 2}
	case c.Surprising():
		m.border = 2.4
	}
	return m
}

// mostWide is the number of races for whose two lines a picture of 16:9 has room.
const mostWide = 20

// drawGrid has races as lines, locks as columns; many make an overview.
func drawGrid(c *Chart, lang string) frame {
	all := c.Table.records()
	locks := values("lock", all)
	brief := c.narrow || len(locks) >= overviewFrom
	f := frame{below: []string{say(lang, "grid.counted")}, foot: append(meanings(all, lang, brief),
		signsOf(all, lang, brief)...)}
	if len(locks) >= overviewFrom {
		return f.overview(all, lang)
	}
	var races []string
	var rows [][]cell
	room := vg.Length(c.aside(160, 140)) // for races in two lines, or three
	for _, of := range by("race", all) {
		title := of[0].text("code") + "  " + text.RaceTitle(of[0].text("race"), lang)
		races = append(races, strings.Join(foldText(small, title, room), "\n"))
		rows = append(rows, lists.Each(of, func(r record) cell { c := cellFrom(r); return c.drawn(lang, false) }))
	}
	boxes := c.boxes(lang, races, locks, func(l, k int) cell { return rows[l][k] })
	f.body, f.least, f.tall = boxes.body, boxes.least, len(races) > mostWide
	return f
}

// viewGrid has a race a line and a lock a column: the verdicts.
func viewGrid(c *Chart, _ string) *Table {
	return across(c.Table.records(), []string{"race"}, "lock", func(of []record) any { return of[0].text("verdicts") })
}

// headed names columns above the first line.
func headed(p *plot.Plot, names []string, room float64, turned bool) {
	name(&p.X, 1, names)
	p.X.Tick.Marker, p.Y.Max = plot.ConstantTicks{}, p.Y.Max+room
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.Add(dots(lists.Each(lists.Indices(names), func(i int) dot {
		left := map[bool]float64{false: 0.45}[turned]
		return dot{x: float64(i) - left, y: 0.82, color: ink, label: names[i], bold: true, turned: turned}
	})))
}

// overview has a lock a line, in families, and a race a column.
func (f frame) overview(all []record, lang string) frame {
	families := lists.Gather(by("lock", all), func(a, b []record) bool { return familyOf(a[0]) == familyOf(b[0]) })
	races := lists.Each(by("race", all), func(of []record) Column {
		return Column{ID: of[0].text("race"), Code: of[0].text("code")}
	})
	var lines []string
	var marks cells
	var titles dots
	for _, family := range families {
		titles = append(titles, dot{x: -0.5, y: -float64(len(lines)), color: ink, bold: true,
			label: text.FamilyTitle(familyOf(family[0][0]), lang)})
		lines = append(lines, "")
		for _, of := range family {
			for i, r := range of {
				one := cellFrom(r)
				m := one.drawn(lang, true)
				m.x, m.y = float64(i), -float64(len(lines))
				marks = append(marks, m)
			}
			lines = append(lines, of[0].text("lock"))
		}
	}
	p := panel("")
	name(&p.Y, -1, lines)
	headed(p, lists.Each(races, Column.short), 3, true)
	p.Add(marks, titles)
	f.foot = append(f.foot, text.Join(lang, "chart.list", lists.Each(races, Column.name)))
	f.least = vg.Point{X: max(110+23*vg.Length(len(races)), 520), Y: 15 * vg.Length(len(lines)+3)}
	f.tall, f.body = true, panels(1, p)
	return f
}

// meanings explain, in a line, the verdicts that there are.
func meanings(all []record, lang string, brief bool) []string {
	words := lists.Pick(words, func(w verdict.Word) bool {
		is := func(r record) bool { c := cellFrom(r); return c.Word() == w }
		return (brief || w != verdict.Holds) && slices.ContainsFunc(all, is)
	})
	said := lists.Each(words, func(w verdict.Word) string { return meaning(lang, w) })
	return []string{say(lang, "grid.stop", "text", text.Join(lang, "grid.join", said))}
}

// meaning is the sign of a verdict, its word and what that means.
func meaning(lang string, w verdict.Word) string {
	named := LookOf(w).Glyph + " " + worded(lang, w)[0]
	return say(lang, "chart.means", "of", named, "is", say(lang, "grid.word."+string(w)))
}

// familyOf is the family of a row's lock; "": it is not in the list.
func familyOf(r record) string {
	e, _ := algorithms.ByName(r.text("lock"))
	return string(e.Family)
}

// signsOf explains, in a line, the borders that there are, and, unless cells are brief, what stands beside a verdict.
func signsOf(all []record, lang string, brief bool) []string {
	caption := func(key string) string { return say(lang, key) + ": " + say(lang, key+".means") }
	var said []string
	for _, sign := range []struct {
		says string
		has  func(*Cell) bool
	}{
		{caption("grid.caption.thick"), (*Cell).Surprising},
		{caption("grid.caption.dashed"), func(c *Cell) bool { return c.Uncontracted }},
		{"+n: " + say(lang, "grid.legend.more"), func(c *Cell) bool { return !brief && c.more() > 0 }},
	} {
		if slices.ContainsFunc(all, func(r record) bool { c := cellFrom(r); return sign.has(&c) }) {
			said = append(said, sign.says)
		}
	}
	if votes := votesIn(all, lang, brief); votes != "" {
		said = append(said, votes)
	}
	if said == nil {
		return nil
	}
	return []string{say(lang, "grid.stop", "text", strings.TrimRight(text.Join(lang, "grid.join", said), ".。"))}
}
