// Package clock is the arithmetic of clocks that are off and drift. It reads no clock of the machine.
package clock

import "time"

// Never is later than everything.
const Never time.Duration = 1<<63 - 1

// EndOfTime is the last true time of a world, and the furthest that any clock may
// be off. Within it no sum of times overflows; what is due later is due Never.
const EndOfTime = 100 * 365 * 24 * time.Hour

// Epoch is the wall-clock reading of a right clock at the start of a run. It is round, so that a timestamp in a
// transcript can be read: 1780000020000 is twenty seconds after the start, in Unix milliseconds; and recent, as code
// may take that for granted. It is 28 May 2026.
var Epoch = time.UnixMilli(1_780_000_000_000).UTC()

// Later is d after now; Never if that is beyond EndOfTime.
func Later(now, d time.Duration) time.Duration {
	if d > EndOfTime {
		return Never
	}
	return now + d
}

// Left returns what remains of a time when d has passed, at least 0; of Never that is Never.
func Left(t, d time.Duration) time.Duration {
	if t == Never {
		return Never
	}
	return max(t-d, 0)
}

// MaxPPM bounds the rate of a clock, either way: none stands still or runs backwards.
const MaxPPM = 500_000

// A State is one clock: reading = true time + offset + rate x true time.
type State struct {
	Offset time.Duration // what it is ahead of true time, apart from its rate
	PPM    int32         // rate: microseconds that it gains per true second
	// Measures: it was set to zero when first read; see simulator.Simulator.measure. Skew is its Offset without that.
	Measures bool
	Skew     time.Duration
}

// Zero has the clock show zero at now, or another time, but for what it shows below a whole grain.
func (c *State) Zero(now, zero, grain time.Duration) {
	c.Measures, c.Skew = true, c.Offset
	c.Offset += zero - Floor(c.Read(now), grain)
}

// Restore undoes Zero.
func (c *State) Restore() {
	if c.Measures {
		c.Offset = c.Skew
	}
	c.Measures, c.Skew = false, 0
}

// Zeroed is by how much the clock is behind the time of day, a whole number of grains.
func (c State) Zeroed() time.Duration {
	if !c.Measures {
		return 0
	}
	return c.Skew - c.Offset
}

// Read returns what the clock shows at the true time now.
func (c State) Read(now time.Duration) time.Duration { return now + c.Offset + drift(now, c.PPM) }

// Millis is the whole millisecond that a clock shows at a reading, as Redis counts it; before the epoch, too.
func Millis(reading time.Duration) int64 {
	ms := reading.Milliseconds()
	if reading%time.Millisecond < 0 {
		ms--
	}
	return ms
}

// WithinMillisecond is a clock that stands at the true time zero where this one stands within its present millisecond
// at now. It is what matters of a clock that is never read and has no rate.
func (c State) WithinMillisecond(now time.Duration) State {
	reading := c.Read(now)
	c.Offset = reading - time.Duration(Millis(reading))*time.Millisecond
	return c
}

// Jump moves the clock by d. why says why it cannot; "": it has.
func (c *State) Jump(d time.Duration) (why string) {
	switch {
	case d == 0:
		return "refused.jump.length"
	case d > EndOfTime || d < -EndOfTime || c.Offset+d > EndOfTime || c.Offset+d < -EndOfTime:
		return "refused.jump.far"
	}
	c.Offset += d
	if c.Measures {
		c.Skew += d
	}
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

// After is the true time that passes while this clock gains d, rounded up; Never if that is beyond EndOfTime.
func (c State) After(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	t := d
	if c.PPM != 0 {
		t = time.Duration(min(float64(d)/(1+float64(c.PPM)/1e6), 1.1*float64(EndOfTime)))
	}
	if t > EndOfTime+EndOfTime/20 { // far enough beyond for the error of a float
		return Never
	}
	for t > 0 && t-1+drift(t-1, c.PPM) >= d {
		t--
	}
	for t+drift(t, c.PPM) < d {
		t++
	}
	return t
}

// When is the first true time from now on at which this clock reads at least reading; Never if beyond EndOfTime.
func (c State) When(now, reading time.Duration) time.Duration {
	read := c.Read(now)
	if read >= reading {
		return now
	}
	t := Later(now, c.After(reading-read))
	if c.PPM == 0 || t == Never {
		return t
	}
	for t > now && c.Read(t-1) >= reading {
		t--
	}
	for c.Read(t) < reading {
		t++
	}
	return t
}
