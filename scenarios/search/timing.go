package search

import (
	"cmp"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
)

// A Mode is how time passes in a search.
type Mode string

const (
	// Lockstep: clients want the lock and work at fixed times, messages take no time, and
	// whatever can happen at once happens before time passes to the next deadline.
	Lockstep Mode = ""
	// AnyTiming: everything takes any number of steps within bounds; see explore.Durations.
	AnyTiming Mode = "any"
	// AutoTiming is as it is written beside the lock, see lock.Search: mostly AnyTiming.
	AutoTiming Mode = "auto"
)

// lockstepRetries is the number of times that a refused client asks again where Lockstep is written beside a lock
// in place of AnyTiming: when the holder ends, and when its lease does. Where there are several
// servers that takes too many states; and clients of a ZooKeeper wait in a line.
const lockstepRetries = 2

// String is the name of the mode in bounds.
func (m Mode) String() string { return cmp.Or(string(m), "lockstep") }

// stepsPerLease is the number of steps of a lease in a search of every timing. A third of a
// lease, at which many locks renew, is a whole number of them.
const stepsPerLease = 12

// minAnyTTL is the shortest lease of a search of every timing: servers count in milliseconds, a step is at least one.
const minAnyTTL = stepsPerLease * time.Millisecond

// Work and patience of a search of every timing, in steps; latency and lateness are one. A holder that nothing delays,
// and that releases the lock by one request, has worked and released it within 6 of the 12 steps of its lease: the
// reply that grants it, the work, and the request that releases it. Three more exchanges with the server fit in.
const (
	workSteps    = 4
	patientSteps = 4
	idleSteps    = 18 // where clocks are read; a lease and a half
)

// Step is that of a search of every timing: a twelfth of a lease, or a tenth if only that is in whole milliseconds. If
// neither is, it is rounded down; then the lease is no whole number of steps, and what is left of it has so many more
// values that a proof can take a thousand times as long.
func (b Bounds) Step() time.Duration {
	if b.TTL%(stepsPerLease*time.Millisecond) != 0 && b.TTL%(10*time.Millisecond) == 0 {
		return b.TTL / 10
	}
	return max((b.TTL / stepsPerLease).Truncate(time.Millisecond), time.Millisecond)
}

// maxSkewSteps bounds Bounds.Skew: five leases.
const maxSkewSteps = 5 * stepsPerLease

// skews are the whole numbers of steps up to Skew, either way.
func (b Bounds) skews() (list []time.Duration) {
	for d := b.Step(); d <= b.Skew; d += b.Step() {
		list = append(list, d, -d)
	}
	return list
}

// timing is explore's timing of the settled bounds; nil: lockstep.
func (b Bounds) timing(entry lock.Entry) *explore.Durations {
	if b.Timing != AnyTiming {
		return nil
	}
	step := b.Step()
	t := &explore.Durations{
		Timing: simulator.Timing{Step: step, Latency: step, Lateness: step},
		Work:   cmp.Or(b.Work, workSteps*step), Timeout: patientSteps * step, Idle: simulator.Never,
	}
	if b.Nodes > 1 && entry.Shards == 0 { // a lease is to last for a round of them
		t.Latency, t.Timeout = 0, step
	}
	if b.Latency != 0 {
		t.Latency = max(b.Latency, 0)
		t.Timeout = max(t.Timeout, 2*t.Latency+step) // no answer is too late that nothing delays
	}
	if b.Lateness != 0 {
		t.Lateness = max(b.Lateness, 0)
	}
	if b.Idle {
		t.Idle = idleSteps * step
	}
	return t
}

// AtOnce as Bounds.Latency or Bounds.Lateness: no time at all.
const AtOnce = -time.Nanosecond

// isLate reports whether Latency or Lateness may be d.
func (b Bounds) isLate(d time.Duration) bool {
	return d == AtOnce || d >= 0 && d <= stepsPerLease*b.Step() && d%b.Step() == 0
}

// at is b at the timing of w, which is written beside a lock, if it leaves that open.
func (b Bounds) at(w lock.Search, entry lock.Entry) Bounds {
	switch {
	case b.Timing != AutoTiming:
	case b.Uses != AutoUses && b.Uses.Has(client.GiveUp), b.Latency != 0, b.Lateness != 0: // there is none in lockstep
		b.Timing = AnyTiming
	case b.TTL < minAnyTTL, b.Retries > 0:
		b.Timing = Lockstep
	case !w.Lockstep:
		b.Timing = AnyTiming
	default:
		b.Timing = Lockstep
		if b.Retries == AutoRetries && !entry.Ensemble() && (b.Nodes <= 1 && entry.Servers() == 1 || entry.Shards > 0) {
			b.Retries = lockstepRetries
		}
	}
	return b
}
