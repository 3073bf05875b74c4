package study

import (
	"context"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator/i18n"
)

// ShowcaseDoom computes the doom curve of the report: the usual lock with one pause.
func ShowcaseDoom(ctx context.Context) (*Doom, error) {
	entry, err := race.Strategy("token")
	if err != nil {
		return nil, err
	}
	b := DefaultBounds()
	b.Budget = "pause=1"
	s, err := Explore(ctx, entry, b)
	if err != nil {
		return nil, err
	}
	if len(s.Witnesses) == 0 {
		return nil, i18n.Errorf("error.doom.survives", "lock", entry.ID)
	}
	w := s.Witnesses[0]
	return DoomOn(ctx, entry, w.Trace, w.Verdict)
}

// ownClockLocks are shown where the clock of a client runs at a wrong rate, and the client
// works for as long as its lease lasts on that clock.
var ownClockLocks = []string{"token", "client-expiry", "redlock", "redlock-drift"}

// ShowcaseSweep plays the sweep of the report, which takes less than two seconds: the rate of
// a client's clock, for locks that measure their lease on it.
func ShowcaseSweep(ctx context.Context) (*Sweep, error) {
	axis, err := ParseAxis("client-rate=-6%:2%:0.5%")
	if err != nil {
		return nil, err
	}
	o := SweepOrder{Axes: []Axis{axis}, Runs: 27}
	if o.Fixed, o.Lease, err = ParseValues("work=lease"); err != nil {
		return nil, err
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	var locks []lock.Entry
	for _, id := range ownClockLocks {
		entry, err := race.Strategy(id)
		if err != nil {
			return nil, err
		}
		locks = append(locks, entry)
	}
	return o.Find(ctx, locks, func(int) (*share.Work, func()) { return nil, func() {} })
}
