package simulator

import (
	"time"

	"locklab/simulator/internal/clock"
)

// A Timing bounds, in true time from 0, how long things take: within the bounds the
// scheduler decides. With a Timing, a Redis key is gone when its time to live is over to
// the nanosecond, as if it had been set at the very end of a millisecond; without one,
// it lives through the millisecond of its deadline. The length of a fault is then a bound
// as well: a delay, a hang, an outage or a pause ends at any time up to it.
type Timing struct {
	// Step above 0: the bounds of faults count in whole steps, rounded down, and clocks
	// jump by whole steps. 0: they count to the nanosecond.
	Step     time.Duration
	Latency  time.Duration // a request to a server or its reply is on its way for at most so long; the resource is next door
	Lateness time.Duration // a timer, or code that was paused, goes on at most so much later than it could
}

// A nil Timing bounds nothing.

// step is the Step; 0: there is none.
func (t *Timing) step() time.Duration {
	if t == nil {
		return 0
	}
	return t.Step
}

// bound is the time that a fault lasts at most that may last for d.
func (t *Timing) bound(d time.Duration) time.Duration {
	if step := t.step(); step > 0 {
		return d - d%step
	}
	return d
}

// late is the time by when a timer fires that is due at a time.
func (t *Timing) late(due time.Duration) time.Duration {
	if t == nil || due == Never {
		return due
	}
	return clock.Later(due, t.Lateness)
}

// giveUpAt is the time by when a thread gives up that waits for an answer from now on, for d of
// its clock: late at most.
func (t *Timing) giveUpAt(now time.Duration, c clock.State, d time.Duration) time.Duration {
	return t.late(clock.Later(now, c.After(d)))
}

// messageDue is the time until which a message is held up and, if it is not, by which it arrives;
// Never if nothing bounds that.
func (t *Timing) messageDue(hold, latest, now time.Duration) time.Duration {
	switch {
	case hold > now:
		return hold
	case t == nil:
		return Never
	}
	return max(latest, now)
}
