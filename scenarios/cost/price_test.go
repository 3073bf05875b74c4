package cost_test

import (
	"testing"
	"time"

	"locklab/scenarios/cost"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
)

// What locks cost, counted by hand from their code.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		lock                 string
		commands, roundTrips float64
		waits                bool // in line: the handover takes messages, and no sleep
	}{
		{"mutex", 0, 0, false},             // asks no server
		{"setnx", 2, 2, false},             // SETNX; DEL
		{"setnx-expire", 3, 3, false},      // SETNX, EXPIRE; DEL
		{"token", 2, 2, false},             // SET; EVAL
		{"watch-multi", 4, 4, false},       // SET; WATCH, GET, MULTI and DEL and EXEC at once
		{"daemon-20", 2, 2, false},         // what the daemon sends after the release is not its price
		{"redlock", 10, 10, false},         // five SET and five EVAL, one after the other
		{"redlock-parallel", 10, 2, false}, // and all at once
		{"zk-recheck", 4, 4, true},
	} {
		e := racetest.Must(race.Strategy(c.lock))(t)
		p, err := cost.Count(e)
		if err != nil {
			t.Fatal(err)
		}
		if p.Commands != c.commands || p.RoundTrips != c.roundTrips {
			t.Errorf("%s: %g commands in %g round trips, want %g in %g", c.lock, p.Commands, p.RoundTrips, c.commands, c.roundTrips)
		}
		if c.commands > 0 && p.Contended <= c.commands {
			t.Errorf("%s: %g commands under contention, alone it is %g", c.lock, p.Contended, c.commands)
		}
		if waits := p.Handover < 50*time.Millisecond; c.commands > 0 && waits != c.waits {
			t.Errorf("%s: a handover of %v", c.lock, p.Handover)
		}
		// Whoever asks again each second waits for half a second on average.
		if c.commands > 0 && !c.waits && (p.Handover < 450*time.Millisecond || p.Handover > 560*time.Millisecond || p.LongestHandover > 1100*time.Millisecond) {
			t.Errorf("%s: a handover of %v, at most %v", c.lock, p.Handover, p.LongestHandover)
		}
	}
}
