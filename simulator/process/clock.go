package process

import (
	"time"

	"github.com/jonboulle/clockwork"

	"locklab/simulator/internal/clock"
)

// Clock is a client's own clock as its code sees it: wall-clock time that may
// be wrong, and timers that run at the clock's rate. It has the methods of a
// clockwork clock that locks use.
type Clock struct{ p *Code }

// Clock is the process's clock.
func (p *Code) Clock() Clock { return Clock{p} }

// Now reads the clock, in UTC.
func (c Clock) Now() time.Time {
	s := c.p.MustAsk(Op{Kind: Clocked})
	return clock.Epoch.Add(time.Duration(s.Val))
}

// Sleep blocks the calling thread for d of this clock.
func (c Clock) Sleep(d time.Duration) { c.p.MustAsk(Op{Kind: Sleep, D: d}) }

// Idle blocks the calling thread for as long as the scheduler likes, at most d of this
// clock; simulator.Never: without end. The scheduler also says in which way the thread
// goes on: 0, or one of so many others, from 1. Without a Timing of the simulator it
// sleeps for d.
func (c Clock) Idle(d time.Duration, others int) (way int) {
	return int(c.p.MustAsk(Op{Kind: Idle, D: d, Arg: uint32(others)}).Val)
}

// AfterFunc runs f in a new thread of the process after d of this clock.
func (c Clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return c.p.startTimer(d, f)
}

// timer is a thread that has not begun. It implements clockwork.Timer for
// AfterFunc timers, which have no channel.
type timer struct {
	p         *Code
	slot      int
	execution uint32 // in which it was armed: a slot is used again
	f         func()
}

func (t *timer) Chan() <-chan time.Time { return nil }

// Stop prevents the timer from firing; false: it has fired or was stopped.
func (t *timer) Stop() bool { return t.p.stopTimer(t) }

// Reset stops the timer and arms it anew.
func (t *timer) Reset(d time.Duration) bool {
	active := t.Stop()
	t.p.armTimer(t, d)
	return active
}
