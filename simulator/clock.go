package simulator

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// Epoch is the wall-clock reading of a right clock at the start of a run. It is
// round, so that a timestamp in a transcript can be read: 1000000020000 is
// twenty seconds after the start, in Unix milliseconds.
var Epoch = time.UnixMilli(1_000_000_000_000).UTC()

// clockState is somebody's view of the true time: reading = true time +
// offset + rate x true time.
type clockState struct {
	offset time.Duration
	ppm    int32 // rate: how many microseconds it gains per true second
}

func (c clockState) read(now time.Duration) time.Duration {
	return now + c.offset + drift(now, c.ppm)
}

// millis is the whole millisecond that a clock shows at reading r, as Redis
// counts it; before the epoch, too.
func millis(r time.Duration) int64 {
	ms := r.Milliseconds()
	if r%time.Millisecond < 0 {
		ms--
	}
	return ms
}

// jump moves the clock by d. The text says why it cannot.
func (c *clockState) jump(d time.Duration) (why string) {
	switch {
	case d == 0:
		return "a jump needs a length other than 0"
	case d > endOfTime || d < -endOfTime || c.offset+d > endOfTime || c.offset+d < -endOfTime:
		return "no clock may be off by more than " + endOfTime.String()
	}
	c.offset += d
	return ""
}

// drift is ppm/1e6 of d, rounded down, without overflow for all of a world's time.
func drift(d time.Duration, ppm int32) time.Duration {
	whole, rest := d/1_000_000*time.Duration(ppm), d%1_000_000*time.Duration(ppm)
	if rest%1_000_000 < 0 {
		whole--
	}
	return whole + rest/1_000_000
}

// after is the true time that passes while this clock gains d, rounded up;
// Never if that is beyond all time.
func (c clockState) after(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	t := d
	if c.ppm != 0 {
		t = time.Duration(min(float64(d)/(1+float64(c.ppm)/1e6), 1.1*float64(endOfTime)))
	}
	if t > endOfTime+endOfTime/20 { // far enough beyond for the error of a float
		return Never
	}
	for t > 0 && t-1+drift(t-1, c.ppm) >= d {
		t--
	}
	for t+drift(t, c.ppm) < d {
		t++
	}
	return t
}

// when is the first true time, not before now, at which this clock reads at
// least r; Never if that is beyond all time.
func (c clockState) when(now, r time.Duration) time.Duration {
	read := c.read(now)
	if read >= r {
		return now
	}
	t := later(now, c.after(r-read))
	if c.ppm == 0 || t == Never {
		return t
	}
	for t > now && c.read(t-1) >= r {
		t--
	}
	for c.read(t) < r {
		t++
	}
	return t
}

// Clock is a client's own clock as its code sees it: wall-clock time that may
// be wrong, and timers that run at the clock's rate. It has the methods of a
// clockwork clock that strategies use.
type Clock struct{ p *process }

// Now reads the clock.
func (c Clock) Now() time.Time {
	o := c.p.mustAsk(op{kind: opClock})
	return Epoch.Add(time.Duration(o.val))
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
