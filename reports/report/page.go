package report

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
)

// Version returns the versions that a page shows.
func Version() string {
	return fmt.Sprintf("trace format %d, output format %d", simulator.TraceVersion, reports.Schema)
}

// Built returns the version of the program, as it was built.
func Built() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Source says from which program and command a chart is.
func Source(command string) string { return "locklab " + Built() + ", " + command }

// assumptions are the keys of what every run takes for granted.
var assumptions = []string{"page.assumption.code", "page.assumption.lease", "page.assumption.story"}

// A Collector keeps the runs of a report as data, lock by lock.
type Collector struct {
	langs []string
	mu    sync.Mutex
	books map[string]*reports.Book
	code  map[string]map[string][]reports.Listing // until all runs are there: their order decides
}

// NewCollector returns a collector of runs whose texts are in some languages.
func NewCollector(langs []string) *Collector {
	return &Collector{langs: langs, books: map[string]*reports.Book{}, code: map[string]map[string][]reports.Listing{}}
}

// Add adds a run that has its history.
func (c *Collector) Add(o *race.Outcome) {
	if o.History == nil {
		return
	}
	run, listings := reports.RunOf(o.History, o.Judgement, o.Verdicts, c.langs, true)
	run.Replay = "locklab run " + o.Trace.Link()
	c.mu.Lock()
	defer c.mu.Unlock()
	lock := o.Lock.ID
	if c.books[lock] == nil {
		c.books[lock], c.code[lock] = &reports.Book{Runs: map[string]*reports.Run{}}, map[string][]reports.Listing{}
	}
	c.books[lock].Runs[o.Race.ID], c.code[lock][o.Race.ID] = run, listings
}

// Runs returns the books, the same whatever the order in which the runs were played.
func (c *Collector) Runs() map[string]*reports.Book {
	for lock, code := range c.code {
		for _, race := range slices.Sorted(maps.Keys(code)) {
			c.books[lock].Add(race, c.books[lock].Runs[race], code[race])
		}
	}
	c.code = nil
	return c.books
}

// boardFile is the page to play on, as "make page" writes it beside the report.
const boardFile = "page/locklab.html"

// page returns the page of a report.
func (r *Report) page(first *chart.Grid, figures []chart.Result) (page.Report, error) {
	report := page.Report{
		Lang: r.Lang, Title: r.First("page.title"), Version: Version(), Command: r.Command,
		Seeds: r.First("page.seeds", "last", fmt.Sprint(study.SweepRuns)), Grid: *r.Grid, First: first, Runs: r.Runs,
	}
	for _, key := range assumptions {
		report.Assumptions = append(report.Assumptions, r.First(key))
	}
	if _, err := os.Stat(filepath.Join(r.Dir, boardFile)); err == nil {
		report.Board = boardFile
	}
	for _, f := range figures {
		var svg bytes.Buffer
		if err := chart.SVG(&svg, chart.Of(f, r.Source), chart.Format{Lang: r.Langs()[0]}); err != nil {
			return page.Report{}, err
		}
		report.Charts = append(report.Charts, page.Chart{Texts: f, SVG: svg.Bytes(), CSV: f.Name() + ".csv"})
	}
	return report, nil
}

// SinglePage returns the page of one run, which opens on it. Its code is shown if the run can
// be played again.
func SinglePage(p *text.Printer, o *race.Outcome) page.Report {
	watched := o
	if again, err := search.ReplayWithCodeOn(o.Lock, o.Trace); err == nil {
		watched = again
	}
	c := NewCollector(p.Langs())
	watched.Race = o.Race
	c.Add(watched)
	grid := Grid([]lock.Entry{o.Lock}, []race.Race{o.Race}, [][]*race.Outcome{{o}})
	var question func(lang string) string
	if o.Race.ID != search.SearchID {
		question = func(lang string) string {
			return text.Say(lang, "lesson.ask", "race", text.RaceTitle(o.Race.ID, lang), "lock", o.Lock.ID)
		}
	}
	return page.Report{
		Lang: p.Lang, Title: p.First("page.run", "lock", o.Lock.ID, "race", o.Race.ID), Version: Version(),
		Command: "locklab run " + o.Trace.Link(), Seeds: fmt.Sprint(o.Settings.Seed),
		Assumptions: []string{p.First(assumptions[0])},
		Grid:        *grid, Runs: c.Runs(), Open: o.Lock.ID + "." + o.Race.ID, Question: question,
	}
}
