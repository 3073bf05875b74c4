package search_test

import (
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
)

// processor returns the time that processors have worked for this program.
func processor() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // which knows this process
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkRent measures what each mechanism buys: the default search of the milestones, of a lock on ZooKeeper, of
// one in a database and of one of somebody's own, with all of them and without one each, in states and seconds of
// processors. A search without one that has not ended after rentStates says so by complete 0.
func BenchmarkRent(b *testing.B) {
	const rentStates = 8_000_000
	locks := append(algorithms.Milestones(), lists.Each([]string{"zk-mutex", "db-for-update"},
		func(id string) lock.Entry { return racetest.Lock(b, id) })...)
	for _, entry := range append(locks, polling(2*time.Second, 3)) {
		bounds := exploring(b, entry, search.OpenBounds()).Bounds
		bounds.MaxStates = rentStates
		for _, left := range append([]string{"nothing", "workers"}, slices.Sorted(maps.Keys(keep))...) {
			b.Run(entry.ID+"/without "+left, func(b *testing.B) {
				for b.Loop() {
					began := processor()
					r := searchedUpTo(b, entry, bounds, func(o *explore.Options) {
						if o.Plain.Workers = left == "workers"; keep[left] != nil {
							keep[left](o)
						}
					})
					complete := 0.0
					if r.Complete {
						complete = 1
					}
					b.ReportMetric((processor() - began).Seconds(), "cpu-s")
					b.ReportMetric(float64(r.States), "states")
					b.ReportMetric(complete, "complete")
				}
			})
		}
	}
}
