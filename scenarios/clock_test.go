package scenarios_test

import (
	"testing"
	"time"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

// Whoever times its own lease stands no clock that runs 20 % wrong: the drift term of one
// percent covers half a percent, and not that. Who asks the server, or renews long before
// the end, stands both.
func TestClocksThatRunWrong(t *testing.T) {
	const overlap, holds = verdict.Overlap, verdict.Holds
	for lock, want := range map[string][4]verdict.Word{ // client slow, servers fast by 0.5 %; by 20 %
		"token":         {overlap, overlap, overlap, overlap},
		"client-expiry": {overlap, overlap, overlap, overlap},
		"redlock":       {overlap, overlap, overlap, overlap},
		"redlock-drift": {holds, holds, overlap, overlap},
		"watchdog":      {holds, holds, holds, holds},
	} {
		for i, c := range []struct {
			scenario string
			drift    time.Duration
		}{
			{"clock-drift", 5 * time.Millisecond}, {"server-drift", 5 * time.Millisecond},
			{"clock-drift", 200 * time.Millisecond}, {"server-drift", 200 * time.Millisecond},
		} {
			e, sc := racetest.Cell(t, lock, c.scenario)
			s := sc.Settings
			s.Drift = c.drift
			o := racetest.Must((&race.Runner{}).Play(e, sc, s))(t)
			if o.Verdicts[0] != want[i] || !o.Reached {
				t.Errorf("%s, %s, drift %v: %v, reached %t; want %s", lock, c.scenario, c.drift, o.Verdicts, o.Reached, want[i])
			}
		}
	}
}
