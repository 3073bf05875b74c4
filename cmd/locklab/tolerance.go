package main

import (
	"context"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/study"
)

func (a *app) tolerance() *cobra.Command {
	var (
		locks lockFlags
		files []string
	)
	c := &cobra.Command{
		Use:     "tolerance",
		Example: a.examples("tolerance", "tolerance", "tolerance --strategies token,redlock -o tolerance.png -o tolerance.csv"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := locks.pick(a, algorithms.Milestones())
			if err != nil {
				return err
			}
			if err := a.checkCharts(files); err != nil {
				return err
			}
			return a.showTolerance(c.Context(), entries, files)
		},
	}
	f, usage := c.Flags(), a.usage("tolerance")
	locks.add(a, f, "milestones")
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
}

// guides are the sizes that theory predicts: work takes two fifths of a lease, so that a
// lease that is never renewed has three fifths left when the work begins; one that is
// renewed every third of a lease has two thirds left when the next renewal is due.
var guides = map[string][]chart.Guide{
	"pause":        {{At: 0.6, Name: "work"}, {At: 2.0 / 3, Name: "renewal"}},
	"client-clock": {{At: 0.6, Name: "work"}},
	"node-clock":   {{At: 0.6, Name: "work"}, {At: 2.0 / 3, Name: "renewal"}},
}

// searchTolerance makes the searches and returns the chart of their limits.
func (a *app) searchTolerance(ctx context.Context, entries []lock.Entry) (*chart.Tolerance, error) {
	done, end := a.progress(study.ToleranceCells(len(entries)), "progress.limits")
	limits, err := study.Tolerance(ctx, entries, done)
	end()
	const parts = study.LeaseParts
	drawn := &chart.Tolerance{Max: float64(study.MaxParts) / parts}
	for _, e := range entries {
		drawn.Locks, drawn.Servers = append(drawn.Locks, e.ID), append(drawn.Servers, study.FewServers(e))
	}
	for n, h := range study.Hazards() {
		one := chart.Hazard{ID: h.Fault, Sized: h.Sized, Guides: guides[h.Fault]}
		for l := range entries {
			limit := limits[l][n]
			if limit == nil {
				one.Limits = append(one.Limits, chart.Limit{Inconclusive: true})
				continue
			}
			told := chart.Limit{Inconclusive: !limit.Complete, Holds: float64(limit.Holds) / parts, Falls: float64(limit.Falls) / parts}
			if limit.Falls > 0 {
				told.Trace = limit.Trace.Link()
			}
			one.Limits = append(one.Limits, told)
		}
		drawn.Hazards = append(drawn.Hazards, one)
	}
	return drawn, err
}

type toleranceJSON struct {
	Version    int         `json:"version"`
	Incomplete bool        `json:"incomplete,omitempty"`
	Takeaway   string      `json:"takeaway"`
	Bounds     string      `json:"bounds"`
	Unit       string      `json:"unit"`
	Max        float64     `json:"largest_searched"`
	Limits     []limitJSON `json:"limits"`
}

type limitJSON struct {
	Strategy string   `json:"strategy"`
	Fault    string   `json:"fault"`
	Result   string   `json:"result"`
	Holds    *float64 `json:"holds_up_to,omitempty"`
	Falls    *float64 `json:"falls_at,omitempty"`
	Trace    string   `json:"trace,omitempty"`
}

func toleranceToJSON(drawn *chart.Tolerance, stopped bool) any {
	out := toleranceJSON{Version: schema, Incomplete: stopped, Takeaway: drawn.Takeaway("en"), Bounds: drawn.Bounds("en"), Unit: "lease", Max: drawn.Max, Limits: []limitJSON{}}
	for i, id := range drawn.Locks {
		for n := range drawn.Hazards {
			h := &drawn.Hazards[n]
			l := h.Limits[i]
			one := limitJSON{Strategy: id, Fault: h.ID, Result: h.Result(l), Trace: l.Trace}
			if h.Sized && !l.Inconclusive {
				one.Holds, one.Falls = known(l.Holds), known(l.Falls)
			}
			out.Limits = append(out.Limits, one)
		}
	}
	return out
}

// known returns nil for a size of 0, which means none.
func known(x float64) *float64 {
	if x == 0 {
		return nil
	}
	return &x
}

func (a *app) showTolerance(ctx context.Context, entries []lock.Entry, files []string) error {
	drawn, err := a.searchTolerance(ctx, entries)
	next := []string{"locklab tolerance -o tolerance.png", "locklab par", "locklab sweep pause/ttl"}
	return showSearched(a, drawn, err, files, toleranceToJSON, next)
}
