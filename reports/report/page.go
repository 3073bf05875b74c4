package report

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
)

// Version says of which version a program is, in some words, and of which its links and its output.
func Version(lang string, built ...string) string {
	of := strings.Replace(text.Join(lang, "lane.join", built), "(devel)", text.Say(lang, "version.devel"), 1)
	return text.Say(lang, "version.formats", "built", of, "trace", fmt.Sprint(simulator.TraceVersion),
		"output", fmt.Sprint(reports.Schema))
}

// Built returns the version of the program, as it was built.
func Built() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Source says from which program and command a chart is, without a version that names no release.
func Source(command string) string {
	return strings.TrimPrefix("locklab "+Built()+", "+command, "locklab (devel), ")
}

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
func (r *Report) page(figures []chart.Result) (page.Report, error) {
	needs, err := lessons.Needs(r.Printer, r.Locks)
	if err != nil {
		return page.Report{}, err
	}
	report := page.Report{
		Lang: r.Lang, Title: r.First("page.title"), Version: Version(r.Langs()[0], Built()), Command: r.Command,
		Seeds: r.First("page.seeds", "last", fmt.Sprint(study.SweepRuns)), Grid: *r.Grid, Needs: needs, Runs: r.Runs,
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

// RunPage returns the page of one run, which a command has made. Its code is shown if the run can be played again.
func RunPage(p *text.Printer, o *race.Outcome, command string) page.Runs {
	watched := o
	if again, err := search.ReplayWithCodeOn(o.Lock, o.Trace); err == nil {
		watched = again
	}
	run, listings := reports.RunOf(watched.History, watched.Judgement, watched.Verdicts, p.Langs(), true)
	found := &chart.Timeline{History: watched.History, Judgement: watched.Judgement, Verdicts: watched.Verdicts}
	title := p.Each(func(lang string) string {
		return text.Label(text.Say(lang, "explain.head", "text", o.Race.ID)) + lessons.RunTitle(lang, o)
	})
	named := func(lang string) string { // by its name in pictures, and by that for commands
		id, name := o.Lock.ID, text.Named(o.Lock.ID, lang)
		if name == id {
			return found.Finding(lang)
		}
		return strings.Replace(found.Finding(lang), name, text.Say(lang, "explain.aside", "text", name, "aside", id), 1)
	}
	return page.Runs{
		Lang: p.Lang, Title: p.Each(named), Parts: []page.Part{{Text: title, Run: run, Listings: listings}},
		Command: command, Version: Version(p.Langs()[0], Built()),
	}
}
