package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/scenarios/study"
)

// toleranceLocks are locks whose tolerances differ: a lease, one whose holder stops early, one
// that is renewed, one by clients' clocks, a majority, and a session.
var toleranceLocks = []string{"token", "lock-delay", "watchdog", "client-expiry", "redlock", "zk-protected"}

func (a *app) tolerance() *cobra.Command {
	var chosen chartFlags
	c := &cobra.Command{
		Use:     "tolerance",
		Example: a.examples("tolerance", "tolerance", "tolerance --strategies token,redlock -o tolerance.png -o tolerance.csv"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			usual, err := a.named(toleranceLocks)
			if err != nil {
				return internal(err)
			}
			entries, err := chosen.pickOr(a, usual)
			if err != nil {
				return err
			}
			drawn, err := a.findTolerance(c.Context(), entries)
			if err == nil {
				drawn.Rates, err = a.playRates(c.Context(), entries)
			}
			out := toleranceJSON{searchedToJSON(drawn, err), "lease", study.MaxLeases, drawn.Limits, drawn.Rates}
			return cmp.Or(a.showChart(drawn, err, chosen.files, out,
				"locklab tolerance -o tolerance.png", "locklab par", "locklab sweep pause/ttl"), a.conclude(drawn))
		},
	}
	chosen.addUsual(a, c.Flags(), "tolerance", strings.Join(toleranceLocks, ","))
	return c
}

// findTolerance makes the searches and returns the chart of their limits.
func (a *app) findTolerance(ctx context.Context, entries []lock.Entry) (*chart.Tolerance, error) {
	done, end := a.progress(study.ToleranceCells(len(entries)), "progress.limits")
	found, err := study.FindTolerance(ctx, entries, done)
	end()
	return &chart.Tolerance{Tolerance: *found}, err
}

// rateRaces are the races in which a clock runs at a wrong rate: a client's, and servers'.
var rateRaces = []string{"clock-drift", "server-drift"}

// playRates plays how wrong a clock may run.
func (a *app) playRates(ctx context.Context, entries []lock.Entry) ([]study.RateLimit, error) {
	races, err := a.pickRaces(rateRaces)
	if err != nil {
		return nil, err
	}
	return study.FindRates(ctx, entries, races)
}

type toleranceJSON struct {
	searchedJSON
	Unit   string            `json:"unit"`
	Max    float64           `json:"largest_searched"`
	Limits []study.Limit     `json:"limits"`
	Rates  []study.RateLimit `json:"rates,omitempty"` // played, not searched
}
