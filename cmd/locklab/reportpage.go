package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/motion"
	"locklab/reports/page"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
)

// version returns the versions that a page shows.
func version() string {
	return fmt.Sprintf("trace format %d, output format %d", simulator.TraceVersion, schema)
}

// versionJSON is what --version prints.
type versionJSON struct {
	Version int    `json:"version"` // of the output
	Locklab string `json:"locklab"` // as the Go module system names it
	Go      string `json:"go"`
	Trace   int    `json:"trace"` // version of links
}

func printVersion(e *env) error {
	v := versionJSON{Version: schema, Locklab: "(devel)", Go: runtime.Version(), Trace: simulator.TraceVersion}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v.Locklab = info.Main.Version
	}
	if e.json {
		return e.printJSON(v)
	}
	e.Printf("locklab %s, %s, %s\n", v.Locklab, v.Go, version())
	return nil
}

// assumptions are the keys of what every run takes for granted.
var assumptions = []string{"page.assumption.code", "page.assumption.lease", "page.assumption.story"}

// collector keeps the runs of a report as data, lock by lock.
type collector struct {
	langs []string
	mu    sync.Mutex
	books map[string]*motion.Book
	code  map[string]map[string][]reports.Listing // until all runs are there: their order decides
}

func newCollector(langs []string) *collector {
	return &collector{langs: langs, books: map[string]*motion.Book{}, code: map[string]map[string][]reports.Listing{}}
}

// add adds a run that has its history.
func (c *collector) add(o *race.Outcome) {
	if o.History == nil {
		return
	}
	run, listings := motion.Of(o.History, o.Judgement, o.Verdicts, c.langs, true)
	run.Replay = "locklab replay " + o.Trace.Link()
	c.mu.Lock()
	defer c.mu.Unlock()
	lock := o.Strategy.ID
	if c.books[lock] == nil {
		c.books[lock], c.code[lock] = &motion.Book{Runs: map[string]*motion.Run{}}, map[string][]reports.Listing{}
	}
	c.books[lock].Runs[o.Scenario.ID], c.code[lock][o.Scenario.ID] = run, listings
}

// runs are the books, the same whatever the order in which the runs were played.
func (c *collector) runs() map[string]*motion.Book {
	for lock, code := range c.code {
		for _, race := range slices.Sorted(maps.Keys(code)) {
			c.books[lock].Add(race, c.books[lock].Runs[race], code[race])
		}
	}
	c.code = nil
	return c.books
}

// boardFile is where "make page" writes the page to play on, beside the report.
const boardFile = "page/locklab.html"

func reportPage(e *env, grid, first *chart.Grid, figures []figure, runs map[string]*motion.Book, dir, command string) (page.Report, error) {
	report := page.Report{
		Lang: e.Lang, Title: e.First("page.title"), Version: version(), Command: command,
		Seeds: e.First("page.seeds", "last", fmt.Sprint(defaultRuns)), Assumptions: each(assumptions, func(key string) string { return e.First(key) }),
		Grid: *grid, First: first, Runs: runs,
	}
	if _, err := os.Stat(filepath.Join(dir, boardFile)); err == nil {
		report.Board = boardFile
	}
	for _, f := range figures {
		var svg bytes.Buffer
		if err := chart.SVG(&svg, f, e.Langs()[0]); err != nil {
			return page.Report{}, err
		}
		report.Charts = append(report.Charts, page.Chart{Texts: f, SVG: svg.Bytes(), CSV: f.name + ".csv"})
	}
	return report, nil
}

// singlePage returns the page of one run, which opens on it. Its code is shown if the run can
// be played again.
func singlePage(e *env, o *race.Outcome) page.Report {
	watched := o
	if again, err := study.ReplayWithCodeOn(o.Strategy, o.Trace); err == nil {
		watched = again
	}
	c := newCollector(e.Langs())
	watched.Scenario = o.Scenario
	c.add(watched)
	grid := gridOf([]lock.Entry{o.Strategy}, []race.Scenario{o.Scenario}, [][]*race.Outcome{{o}})
	return page.Report{
		Lang: e.Lang, Title: e.First("page.run", "lock", o.Strategy.ID, "race", o.Scenario.ID), Version: version(),
		Command: "locklab replay " + o.Trace.Link(), Seeds: fmt.Sprint(o.Settings.Seed), Assumptions: []string{e.First(assumptions[0])},
		Grid: *grid, Runs: c.runs(), Open: o.Strategy.ID + "." + o.Scenario.ID,
	}
}
