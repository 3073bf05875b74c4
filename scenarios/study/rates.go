package study

import (
	"context"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

// A RateLimit is how wrong a clock may run before a lock lets two clients in at once, in
// a race in which one does. It is the answer of one run for each of Rates: no search
// carries a rate, so that other interleavings may be worse.
type RateLimit struct {
	Lock   string `json:"lock"`
	Race   string `json:"race"`
	Answer Answer `json:"result"` // Limited, NoLimit, NotAsked, or NoAnswer
	// Holds and Falls are the two of Rates between which the lock begins to fall, in percent;
	// 0: there is none, or, as Holds of a Limited one, it falls at the first.
	Holds float64 `json:"holds_up_to_percent,omitempty"`
	Falls float64 `json:"fails_at_percent,omitempty"`
	// Trace is a link to the run at Falls.
	Trace string `json:"trace,omitempty"`
}

// Rates are the rates that are played, rising: what a clock gains or loses in a second.
func Rates() []time.Duration {
	return []time.Duration{
		time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
		50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, race.MaxDrift,
	}
}

// percent is a rate in percent.
func percent(rate time.Duration) float64 { return 100 * rate.Seconds() }

// FindRates finds the limits of each lock in each race, by lock and then by race. A race
// has the setting drift. When ctx ends, the error is ctx's.
func FindRates(ctx context.Context, locks []lock.Entry, scs []race.Race) (all []RateLimit, err error) {
	var runner race.Runner
	for _, e := range locks {
		for _, sc := range scs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			l, err := findRate(&runner, e, sc)
			if err != nil {
				return nil, err
			}
			all = append(all, l)
		}
	}
	return all, nil
}

func findRate(runner *race.Runner, e lock.Entry, sc race.Race) (RateLimit, error) {
	l := RateLimit{Lock: e.ID, Race: sc.ID, Answer: NoAnswer}
	for _, rate := range Rates() {
		s := sc.Settings
		s.Drift = rate
		o, err := runner.Play(e, sc, s)
		switch {
		case err != nil:
			return l, err
		case o.NotApplicable != "":
			l.Answer = NotAsked
			return l, nil
		case !o.Triggered: // so small that it made no difference
			continue
		case slices.Contains(o.Verdicts, verdict.Overlap):
			l.Answer, l.Falls, l.Trace = Limited, percent(rate), o.Trace.Link()
			return l, nil
		}
		l.Answer, l.Holds = NoLimit, percent(rate)
	}
	return l, nil
}

// SweepRuns is the usual number of runs of a point.
const SweepRuns = 270
