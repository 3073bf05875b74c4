package cost_test

import (
	"math"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/cost"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
)

// limitsOf are those that search finds for the milestones (cmd/locklab's goldens have
// them); they are copied so that these tests need no search.
func limitsOf(locks []lock.Entry) *study.Tolerance {
	limited := func(holds, falls float64) study.Limit {
		return study.Limit{Answer: study.Limited, Holds: holds, Falls: falls}
	}
	none := study.Limit{Answer: study.NoLimit, Holds: study.MaxLeases}
	falls := study.Limit{Answer: study.FallsOnce}
	known := map[string][]study.Limit{
		"setnx":        {none, none, none, falls, falls},
		"setnx-expire": {limited(0.55, 0.6), none, limited(0.55, 0.6), falls, falls},
		"getset":       {limited(0.55, 0.6), limited(0.55, 0.6), none, falls, falls},
		"token":        {limited(0.55, 0.6), none, limited(0.55, 0.6), falls, falls},
		"watchdog":     {limited(0.65, 0.7), none, limited(0.65, 0.7), falls, falls},
		"redlock":      {limited(0.55, 0.6), none, limited(0.55, 0.6), falls, falls},
	}
	t := &study.Tolerance{Locks: locks, Hazards: study.Hazards()}
	for _, e := range locks {
		for i, l := range known[e.ID] {
			l.Strategy, l.Fault = e.ID, t.Hazards[i].Fault
			t.Limits = append(t.Limits, l)
		}
	}
	return t
}

func subjects(t *testing.T) map[string]*cost.Subject {
	t.Helper()
	all := racetest.Must(cost.Study(t.Context(), limitsOf(algorithms.Milestones())))(t)
	out := map[string]*cost.Subject{}
	for _, s := range all {
		out[s.Entry.ID] = s
	}
	return out
}

// Of 1,000 machines each holds a contended lease of 10 s for a tenth of the time, and
// stops for 30 s once in 18 months: 1000 x 12/18 x 0.1 times a year a pause strikes a
// hold. A lease of 60 s outlasts each.
func TestSanity(t *testing.T) {
	all := subjects(t)
	azure := cost.Environments()[0]
	for _, c := range []struct {
		lock string
		ttl  time.Duration
		want float64
	}{
		{"token", 10 * time.Second, 66.67}, {"token", 60 * time.Second, 0},
		{"token", 30 * time.Second, 66.67}, {"token", 31 * time.Second, 0},
		{"watchdog", 10 * time.Second, 66.67}, {"watchdog", 60 * time.Second, 0},
		{"redlock", 10 * time.Second, 66.67}, {"setnx", 10 * time.Second, 0},
	} {
		u := cost.UsualRateOrder().Usage
		u.TTL = c.ttl
		terms := all[c.lock].Terms(u, azure)
		if len(terms) != 1 || terms[0].Unknown || math.Abs(terms[0].Expected.Lo-c.want) > 0.01 || terms[0].Expected.Hi != terms[0].Expected.Lo {
			t.Errorf("%s, %v: %+v, want %g", c.lock, c.ttl, terms, c.want)
		}
		if slow := all[c.lock].SlowTerm(u); slow.Expected.Hi != 0 {
			t.Errorf("%s, %v: %+v without a fault", c.lock, c.ttl, slow)
		}
	}
}
