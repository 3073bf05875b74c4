// Package report makes the files of a report: the grid of all locks in all races, the charts
// beside it, and the page on which every run can be watched.
package report

import (
	"context"
	"io"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/motion"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios/race"
)

// A Report is what its files show.
type Report struct {
	*text.Printer        // its languages
	Command       string // the line that makes it again
	Dir           string // that it is for
	Locks         []lock.Entry
	Grid          *chart.Grid
	Outcomes      []*race.Outcome // of all cells
	Runs          map[string]*motion.Book
	Waits         bool // in the charts of pauses; see study.Situation
}

// A File is one of a report.
type File struct {
	Name string
	Fill func(io.Writer) error
}

// Files computes the charts, those that take seconds or all, and returns the files of a report.
func (r *Report) Files(ctx context.Context, work Worker, all bool) (files []File, err error) {
	figures, err := r.figures(ctx, work, all)
	if err != nil {
		return nil, err
	}
	files = []File{
		{"grid.txt", func(w io.Writer) error { return chart.Text(w, r.Grid, reports.Look{Width: reports.NarrowWidth}) }},
		{"grid.csv", func(w io.Writer) error {
			AddLinks(r.Grid, r.Outcomes)
			return chart.CSV(w, r.Grid)
		}},
	}
	add := func(c chart.Chart, name string, endings ...string) {
		for _, ending := range endings {
			files = append(files, File{name + ending, func(w io.Writer) error { return chart.Formats[ending](w, c, chart.Format{Lang: r.Langs()[0]}) }})
		}
	}
	first := First(r.Grid) // without the links that the CSV has
	if first != nil {
		add(first, "grid", ".png", ".svg")
		add(r.Grid, "poster", ".svg")
	} else {
		add(r.Grid, "grid", ".png", ".svg")
	}
	for _, f := range figures {
		if c, drawn := f.Table.(chart.Chart); drawn {
			add(c, f.name, ".csv", ".png", ".svg")
			continue
		}
		files = append(files, File{f.name + ".csv", func(w io.Writer) error { return chart.CSV(w, f.Table) }},
			File{f.name + ".txt", func(w io.Writer) error { return chart.Text(w, f.Table, reports.Look{Width: reports.NarrowWidth}) }})
	}
	return append(files, File{"report.html", func(w io.Writer) error {
		report, err := r.page(first, figures)
		if err != nil {
			return err
		}
		return page.Write(w, report)
	}}), nil
}
