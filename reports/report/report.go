// Package report makes the files of a report: the grid of all locks in all races, the charts beside it that a command
// has drawn, and the page on which every run can be watched.
package report

import (
	"io"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Report is what its files show.
type Report struct {
	*text.Printer        // its languages
	Command       string // the line that makes it again
	Source        string // of its charts: see Source
	Dir           string // that it is for
	Locks         []lock.Entry
	Grid          *chart.Grid
	Outcomes      []*race.Outcome // of all cells
	Runs          map[string]*reports.Book
	Waits         bool // in the charts of pauses; see study.Situation
}

// Whole reports whether the report is about all locks, and not about some that were chosen.
func (r *Report) Whole() bool { return len(r.Locks) >= len(algorithms.Known()) }

// A File is one of a report.
type File struct {
	Name string
	Fill func(io.Writer) error
}

// Files returns the files of a report, with charts and tables beside the grid.
func (r *Report) Files(figures []chart.Result) []File {
	files := []File{
		{"grid.txt", func(w io.Writer) error {
			return chart.Text(w, r.Grid, reports.Look{Width: reports.NarrowWidth})
		}},
		{"grid.csv", func(w io.Writer) error {
			AddLinks(r.Grid, r.Outcomes)
			return r.Grid.Table().CSV(w)
		}},
	}
	add := func(of chart.Result, source, name string, endings ...string) {
		c := chart.Of(of, source)
		for _, ending := range endings {
			files = append(files, File{name + ending,
				func(w io.Writer) error { return c.Write(w, ending, chart.Format{Lang: r.Langs()[0]}) }})
		}
	}
	first := First(r.Grid) // without the links that the CSV has
	if first != nil {
		locks := lists.Each(first.Locks, func(l chart.Row) string { return l.ID })
		races := lists.Each(first.Races, func(c chart.Column) string { return c.Code })
		add(first, Source("locklab matrix --locks="+strings.Join(locks, ",")+
			" --races="+strings.Join(races, ",")+" -o out"), "grid", ".json", ".png", ".svg")
		add(r.Grid, r.Source, "poster", ".svg")
	} else {
		add(r.Grid, r.Source, "grid", ".json", ".png", ".svg")
	}
	for _, f := range figures {
		add(f, r.Source, f.Name(), ".csv", ".json", ".png", ".svg")
	}
	return append(files, File{"report.html", func(w io.Writer) error {
		report, err := r.page(figures)
		if err != nil {
			return err
		}
		return page.Write(w, report)
	}})
}

// KnownRaces are the best-known races of the milestones.
var KnownRaces = strings.Fields("R01 R02 R03 R09 R14 R15 R16 R18 R18F R21 S5 R24 R25 R32")

// Grid turns outcomes into what charts draw. A nil outcome was not played.
func Grid(entries []lock.Entry, scs []race.Race, cells [][]*race.Outcome) *chart.Grid {
	g := &chart.Grid{}
	for _, sc := range scs {
		g.Races = append(g.Races, chart.Column{ID: sc.ID, Code: sc.Code})
	}
	for l, e := range entries {
		g.Locks = append(g.Locks, chart.Row{ID: e.ID, Article: e.Article, Group: string(e.Family)})
		row := make([]chart.Cell, len(scs))
		for s := range scs {
			row[s] = cellOf(e, scs[s], cells[s][l])
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

func cellOf(e lock.Entry, sc race.Race, o *race.Outcome) chart.Cell {
	c := chart.Cell{Lock: e.ID, Article: e.Article, Race: sc.ID, Code: sc.Code,
		Why: string(contract.Why(e, sc)), Verdicts: []verdict.Word{verdict.Unknown},
		Uncontracted: contract.Uncontracted(e, sc), Votes: sc.Votes(e.Asked())}
	if o != nil { // nil was not played: unknown, and not as expected
		c.Verdicts, c.Triggered = o.Verdicts, o.Triggered
		c.Expected, c.AsExpected = contract.Expected(o), contract.AsExpected(o)
		c.NotApplicable = string(o.NotApplicable)
		c.Blocked, c.Overlap = lessons.Longest(o, verdict.Blocked), lessons.Longest(o, verdict.Overlap)
	}
	return c
}

// AddLinks adds the links of the runs to the cells of a grid. They take seconds, and no picture shows them.
func AddLinks(grid *chart.Grid, outcomes []*race.Outcome) {
	links := map[[2]string]string{}
	for _, o := range outcomes {
		links[[2]string{o.Lock.ID, o.Race.ID}] = o.Trace.Link()
	}
	for _, row := range grid.Cells {
		for i := range row {
			row[i].Trace = links[[2]string{row[i].Lock, row[i].Race}]
		}
	}
}

// First returns the part of a large grid that introduces it: the milestones in the best-known races; nil: it has none.
func First(g *chart.Grid) *chart.Grid {
	milestone := func(r chart.Row) bool { return algorithms.IsMilestone(r.ID) }
	some := len(lists.Pick(g.Locks, milestone)) < len(algorithms.Milestones())
	if !g.Many() && (some || len(g.Races) <= 2*len(KnownRaces)) {
		return nil
	}
	first := g.Part(milestone, func(c chart.Column) bool { return slices.Contains(KnownRaces, c.Code) })
	if len(first.Locks) == 0 || len(first.Races) == 0 {
		return nil
	}
	return first
}

// Charted returns the locks that charts show: at most a dozen lines can be distinguished.
func Charted(entries []lock.Entry) []lock.Entry {
	if len(entries) <= 12 {
		return entries
	}
	return lists.Pick(entries, func(e lock.Entry) bool { return algorithms.IsMilestone(e.ID) })
}
