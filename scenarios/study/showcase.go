package study

import (
	"context"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
)

// pausedLocks differ in the pause from which on they let two clients in: the lease, what is left of a lease that
// is renewed at its half or at two thirds, and a lease with a delay behind it.
var pausedLocks = []string{"token", "daemon-10", "daemon-20", "lock-delay"}

// SweepRuns is the usual number of runs of a point.
const SweepRuns = 270

// ShowcaseSweep plays the sweep of the report, which takes about two seconds: pauses of up to two leases. waits is
// as in Situation, and progress as for Find.
func ShowcaseSweep(ctx context.Context, waits bool, progress func(steps int) (*share.Work, func())) (*Sweep, error) {
	axis, err := ParseAxis("pause/ttl")
	if err != nil {
		return nil, err
	}
	o := SweepOrder{Axes: []Axis{axis}, Runs: SweepRuns, Waits: waits}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	var locks []lock.Entry
	for _, id := range pausedLocks {
		entry, err := race.Strategy(id)
		if err != nil {
			return nil, err
		}
		locks = append(locks, entry)
	}
	return o.Find(ctx, locks, progress)
}
