package simulator

import (
	"time"

	"github.com/jonboulle/clockwork"

	"locklab/simulator/internal/clock"
)

// Clock is a client's own clock as its code sees it: wall-clock time that may
// be wrong, and timers that run at the clock's rate. It has the methods of a
// clockwork clock that strategies use.
type Clock struct{ p *process }

// Now reads the clock.
func (c Clock) Now() time.Time {
	o := c.p.mustAsk(op{kind: opClock})
	return clock.Epoch.Add(time.Duration(o.val))
}

// Sleep blocks the calling thread for d of this clock.
func (c Clock) Sleep(d time.Duration) { c.p.mustAsk(op{kind: opSleep, d: d}) }

// AfterFunc runs f in a new thread of the process after d of this clock.
func (c Clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return c.p.startTimer(d, f)
}

// timer is a thread that has not begun. It implements clockwork.Timer for
// AfterFunc timers, which have no channel.
type timer struct {
	p    *process
	slot int
	life uint32 // of the process, when it was armed: a slot is used again
	f    func()
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
