package main

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios/race"
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

func (a *app) printVersion() error {
	v := versionJSON{Version: schema, Locklab: "(devel)", Go: runtime.Version(), Trace: simulator.TraceVersion}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v.Locklab = info.Main.Version
	}
	if a.json {
		return a.printJSON(v)
	}
	a.Printf("locklab %s, %s, %s\n", v.Locklab, v.Go, version())
	return nil
}

// assumptions are the keys of what every run takes for granted.
var assumptions = []string{"page.assumption.code", "page.assumption.lease", "page.assumption.story"}

func englishTexts(keys []string) []string {
	return each(keys, func(key string) string { return text.Say("en", key) })
}

func reportPage(grid *chart.Grid, figures []figure, outcomes []*race.Outcome, command string) (page.Report, error) {
	report := page.Report{
		Title: text.Say("en", "page.title"), Version: version(), Command: command,
		Seeds: text.Say("en", "page.seeds", "last", fmt.Sprint(defaultRuns)), Assumptions: englishTexts(assumptions),
		Grid: *grid, Runs: evidence(outcomes),
	}
	for _, f := range figures {
		var svg bytes.Buffer
		if err := f.SVG(&svg); err != nil {
			return page.Report{}, err
		}
		report.Charts = append(report.Charts, page.Chart{Texts: f, SVG: svg.Bytes(), CSV: f.name + ".csv"})
	}
	return report, nil
}

func evidence(outcomes []*race.Outcome) map[page.RunKey]page.Run {
	runs := map[page.RunKey]page.Run{}
	for _, o := range outcomes {
		if o.History != nil {
			runs[page.RunKey{Strategy: o.Strategy.ID, Scenario: o.Scenario.ID}] = page.Run{
				History: o.History, Judgement: o.Judgement, Replay: "locklab replay " + o.Trace.Link(),
			}
		}
	}
	return runs
}

// singlePage returns the page of one run.
func singlePage(o *race.Outcome) page.Report {
	grid := gridOf([]lock.Entry{o.Strategy}, []race.Scenario{o.Scenario}, [][]*race.Outcome{{o}})
	return page.Report{
		Title: text.Say("en", "page.run", "lock", o.Strategy.ID, "race", o.Scenario.ID), Version: version(),
		Command: "locklab replay " + o.Trace.Link(), Seeds: fmt.Sprint(o.Settings.Seed), Assumptions: englishTexts(assumptions[:1]),
		Grid: *grid, Runs: evidence([]*race.Outcome{o}),
	}
}
