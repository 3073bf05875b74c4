package process

import (
	"errors"
	"fmt"
	"time"

	"locklab/simulator/internal/clock"
)

// Code that uses its clock only to measure how long something takes does not depend on the time
// of day. So it does not matter what its first reading shows, if all that follow count on from
// there; see simulator.Simulator.Measure. Whether code is such is checked: whatever it does in a
// history with readings, it must do in the same history with all readings later.

// Later is by how much the readings of a history are later when it is checked, beside as much as
// brings the first of them, or the last, to midnight, UTC: to the beginning of a day, an hour, a
// minute, a second and a millisecond, with the readings before it on the other side. It is a
// round number of none. Any other reading comes to midnight in at least one history.
const Later = 1_234_567 * time.Millisecond

// checked is what CheckMeasures has done, by entry.
type checked struct {
	sure     []bool // it, and so whatever leads to it
	midnight []bool // with its last reading at midnight
}

// moves are by how much the readings of a history are later when it is checked.
func (p *Process) moves(at uint32) []time.Duration {
	list := []time.Duration{Later}
	met, first := false, time.Duration(0)
	for ; p.entries[at].Parent != at; at = p.entries[at].Parent {
		seen := p.entries[at].Seen
		if seen.Kind != ClockRead {
			continue
		}
		first = time.Duration(seen.Val)
		if !met || !p.checked.midnight[at] {
			list = append(list, toMidnight(first))
		}
		met, p.checked.midnight[at] = true, true
	}
	return append(list, toMidnight(first))
}

func toMidnight(reading time.Duration) time.Duration {
	t := clock.Epoch.Add(reading)
	return t.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(t)
}

// TimeOfDayError is code that depends on the time of day.
type TimeOfDayError struct {
	Client  int // from 1
	By      time.Duration
	Was, Is string // what it does, and what it does if all readings of its clock are later by By
}

func (e *TimeOfDayError) Error() string {
	return fmt.Sprintf("simulator: what c%d does depends on the time of day: %s, and %v later %s", e.Client, e.Was, e.By, e.Is)
}

// CheckMeasures runs the code again in every history with readings that was not checked before,
// with later readings; see Later. Where it does something else the error is a *TimeOfDayError.
// It runs the longest histories only: shorter ones begin them.
func (p *Process) CheckMeasures() error {
	c := &p.checked
	for len(c.sure) < len(p.entries) {
		c.sure, c.midnight = append(c.sure, false), append(c.midnight, false)
	}
	for at := range p.entries {
		e := &p.entries[at]
		if c.sure[at] || e.to != 0 || !e.Reads {
			continue
		}
		for _, by := range p.moves(uint32(at)) {
			if err := p.checkLater(uint32(at), by); err != nil {
				return err
			}
		}
		for at := uint32(at); !c.sure[at] && p.entries[at].Parent != at; at = p.entries[at].Parent {
			c.sure[at] = true
		}
	}
	return nil
}

func (p *Process) checkLater(at uint32, by time.Duration) error {
	did, err := p.rerunLater(at, by)
	p.stop()
	other, e := (*NondeterministicError)(nil), &p.entries[at]
	did.inherit(&p.entries[e.Parent])
	switch {
	case errors.As(err, &other):
		return &TimeOfDayError{p.id, by, other.Was, other.Is}
	case err != nil:
		return err
	case !did.sameStanding(e):
		return &TimeOfDayError{p.id, by, p.Describe(e), p.Describe(&did)}
	}
	return nil
}

// sameStanding says whether nothing differs in two entries but what they have observed, their
// operations and their notes.
func (e *Entry) sameStanding(o *Entry) bool {
	return e.Memory == o.Memory && e.Entered == o.Entered && e.Inside == o.Inside && e.Resting == o.Resting && e.Tokens == o.Tokens && e.Born == o.Born && e.Lease == o.Lease && e.Kept == o.Kept
}
