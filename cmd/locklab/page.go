package main

import (
	"bytes"
	"fmt"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/simulator"
)

// version is what a page says of the program that made it.
func version() string {
	return fmt.Sprintf("trace format %d, output format %d", simulator.TraceVersion, schema)
}

// assumptions are what every run of the lab takes for granted.
var assumptions = []string{
	"Every lock is its own Go code on the go-redis client, or on a ZooKeeper session; a Redis is a miniredis, a ZooKeeper the lab's own, held against a real one. Time moves only when the run says so.",
	"A lease of 10 s, half a millisecond each way, a refused client asks again after a second, unless a race says otherwise.",
	"A story is one run chosen to show a race. It proves that a lock can fall; that it holds here does not prove that it holds everywhere.",
}

func reportPage(grid *reports.Grid, charts []chart, outcomes []*race.Outcome, command string) (reports.Report, error) {
	page := reports.Report{
		Title: "locklab: which lock falls to what", Version: version(), Command: command,
		Seeds: fmt.Sprintf("0 for the stories; 1 to %d for the chart of pauses", defaultRuns), Assumptions: assumptions,
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

// singlePage is the page of one run.
func singlePage(o *race.Outcome) reports.Report {
	grid := gridOf([]lock.Entry{o.Strategy}, []race.Scenario{o.Scenario}, [][]*race.Outcome{{o}})
	return reports.Report{
		Title: o.Strategy.ID + " in " + o.Scenario.ID, Version: version(),
		Command: "locklab replay " + o.Trace.Link(), Seeds: fmt.Sprint(o.Settings.Seed), Assumptions: assumptions[:1],
		Grid: *grid, Runs: evidence([]*race.Outcome{o}),
	}
}
