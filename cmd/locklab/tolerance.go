package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/study"
)

func (a *app) frontier() *cobra.Command {
	var (
		locks lockFlags
		files []string
	)
	c := &cobra.Command{
		Use:   "frontier",
		Short: "how large a single fault each lock survives",
		Long: `Searches, for each lock and each fault, how large one strike may be before two
clients are inside at once: by bisection, in twentieths of a lease, up to two
leases. Every answer rests on a complete search of all interleavings.

Two clients that are alike ask at once and, refused, again and again for more
than two leases; who has the lock works for two fifths of one. A lock that wants
more than three servers gets three.

A search cannot say how long a replica lags, only whether it had heard of a
write when it was made master; failover and restart have no size for that
reason.`,
		Example: "  locklab tolerance\n  locklab tolerance --strategies token,redlock -o frontier.png -o frontier.csv",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := locks.pick(algorithms.Milestones())
			if err != nil {
				return err
			}
			if err := checkCharts(files, "a frontier"); err != nil {
				return err
			}
			return a.showFrontier(c.Context(), entries, files)
		},
	}
	f := c.Flags()
	locks.add(f, "the six of the tour")
	f.StringArrayVarP(&files, "out", "o", nil, "write to FILE: .png, .svg or .csv (repeatable)")
	return c
}

// hazardNames say what the faults of a frontier are, below their ids.
var hazardNames = map[string]string{
	"pause":        "one client stands still, once",
	"client-clock": "one client's clock jumps, once",
	"node-clock":   "one server's clock jumps, once",
	"failover":     "to a stale replica",
	"restart":      "without its data",
}

// guides are the sizes that theory expects: a lease that is never renewed outlasts
// the work by three fifths of itself, and one that is renewed every third of a
// lease has two thirds left when the next renewal is due.
var guides = map[string][]reports.Guide{
	"pause":        {{At: 0.6, Name: "lease - work"}, {At: 2.0 / 3, Name: "lease - renewal"}},
	"client-clock": {{At: 0.6, Name: "lease - work"}},
	"node-clock":   {{At: 0.6, Name: "lease - work"}, {At: 2.0 / 3, Name: "lease - renewal"}},
}

// searchFrontier searches, and puts what was found into words for the chart.
func (a *app) searchFrontier(ctx context.Context, entries []lock.Entry) (*reports.Tolerance, error) {
	done, end := a.progress(study.ToleranceCells(len(entries)), "limits")
	limits, err := study.Tolerance(ctx, entries, done)
	end()
	const parts = study.LeaseParts
	chart := &reports.Tolerance{Max: float64(study.MaxParts) / parts}
	for _, e := range entries {
		note := ""
		if n := study.FewServers(e); n > 1 {
			note = fmt.Sprintf("%d servers", n)
		}
		chart.Locks, chart.Notes = append(chart.Locks, e.ID), append(chart.Notes, note)
	}
	for n, h := range study.Hazards() {
		one := reports.Hazard{ID: h.Fault, Name: hazardNames[h.Fault], Sized: h.Sized, Guides: guides[h.Fault]}
		for l := range entries {
			limit := limits[l][n]
			if limit == nil {
				one.Limits = append(one.Limits, reports.Limit{Untold: true})
				continue
			}
			told := reports.Limit{Untold: !limit.Complete, Holds: float64(limit.Holds) / parts, Falls: float64(limit.Falls) / parts}
			if limit.Falls > 0 {
				told.Trace = limit.Trace.Link()
			}
			one.Limits = append(one.Limits, told)
		}
		chart.Hazards = append(chart.Hazards, one)
	}
	return chart, err
}

type frontierJSON struct {
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

func frontierToJSON(chart *reports.Tolerance, stopped bool) frontierJSON {
	out := frontierJSON{Version: schema, Incomplete: stopped, Takeaway: chart.Takeaway("en"), Bounds: chart.Bounds("en"), Unit: "lease", Max: chart.Max, Limits: []limitJSON{}}
	for i, id := range chart.Locks {
		for n := range chart.Hazards {
			h := &chart.Hazards[n]
			l := h.Limits[i]
			one := limitJSON{Strategy: id, Fault: h.ID, Result: h.Result(l), Trace: l.Trace}
			if h.Sized && !l.Untold {
				one.Holds, one.Falls = known(l.Holds), known(l.Falls)
			}
			out.Limits = append(out.Limits, one)
		}
	}
	return out
}

// known is nil for a size that there is not.
func known(x float64) *float64 {
	if x == 0 {
		return nil
	}
	return &x
}

func (a *app) showFrontier(ctx context.Context, entries []lock.Entry, files []string) error {
	chart, err := a.searchFrontier(ctx, entries)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	next := []string{"locklab tolerance -o frontier.png", "locklab par", "locklab sweep pause/ttl"}
	return a.showSearched(chart, stopped, files, frontierToJSON(chart, stopped), next)
}
