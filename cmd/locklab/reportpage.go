package main

import (
	"bytes"
	"fmt"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator"
)

// version returns the versions that a page shows.
func version() string {
	return fmt.Sprintf("trace format %d, output format %d", simulator.TraceVersion, schema)
}

// assumptions are the keys of what every run takes for granted.
var assumptions = []string{"page.assumption.code", "page.assumption.lease", "page.assumption.story"}

func englishTexts(keys []string) []string {
	return each(keys, func(key string) string { return text.Say("en", key) })
}

func reportPage(grid *reports.Grid, charts []chart, outcomes []*race.Outcome, command string) (reports.Report, error) {
	page := reports.Report{
		Title: text.Say("en", "page.title"), Version: version(), Command: command,
		Seeds: text.Say("en", "page.seeds", "last", fmt.Sprint(defaultRuns)), Assumptions: englishTexts(assumptions),
		Grid: *grid, Runs: evidence(outcomes),
	}
	for _, c := range charts {
		var svg bytes.Buffer
		if err := c.SVG(&svg); err != nil {
			return reports.Report{}, err
		}
		page.Charts = append(page.Charts, reports.Chart{
			TitleEN: c.Title("en"), TakeawayEN: c.Takeaway("en"), TitleZH: c.Title("zh"), TakeawayZH: c.Takeaway("zh"),
			SVG: svg.Bytes(), CSV: c.name + ".csv",
		})
	}
	return page, nil
}

func evidence(outcomes []*race.Outcome) map[reports.RunKey]reports.Run {
	runs := map[reports.RunKey]reports.Run{}
	for _, o := range outcomes {
		if o.History != nil {
			runs[reports.RunKey{Strategy: o.Strategy.ID, Scenario: o.Scenario.ID}] = reports.Run{
				History: o.History, Judgement: o.Judgement, Replay: "locklab replay " + o.Trace.Link(),
			}
		}
	}
	return runs
}

// singlePage returns the page of one run.
func singlePage(o *race.Outcome) reports.Report {
	grid := gridOf([]lock.Entry{o.Strategy}, []race.Scenario{o.Scenario}, [][]*race.Outcome{{o}})
	return reports.Report{
		Title: text.Say("en", "page.run", "lock", o.Strategy.ID, "race", o.Scenario.ID), Version: version(),
		Command: "locklab replay " + o.Trace.Link(), Seeds: fmt.Sprint(o.Settings.Seed), Assumptions: englishTexts(assumptions[:1]),
		Grid: *grid, Runs: evidence([]*race.Outcome{o}),
	}
}
