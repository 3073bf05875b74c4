package clock

import (
	"testing"
	"testing/quick"
	"time"
)

// anyClock is a random clock that New accepts.
func anyClock(offset int64, ppm int32) State {
	return State{Offset: time.Duration(offset) % EndOfTime, PPM: ppm % (MaxPPM + 1)}
}

// TestAfterAndWhen: the time that After and When come to is enough, and one nanosecond less is not; for times of any
// size.
func TestAfterAndWhen(t *testing.T) {
	after := func(ppm int32, long int64, size uint8) bool {
		c, d := anyClock(0, ppm), time.Duration(long)%(EndOfTime+1)>>(size%64)
		passed := c.After(d)
		gained := func(d time.Duration) time.Duration { return d + drift(d, c.PPM) }
		switch passed {
		case 0:
			return d <= 0
		case Never:
			return gained(EndOfTime) < d
		}
		return gained(passed) >= d && gained(passed-1) < d
	}
	when := func(offset int64, ppm int32, far, long int64, size uint8) bool {
		c := anyClock(offset, ppm)
		now := time.Duration(far&^(-1<<63)) % EndOfTime
		r := time.Duration(long) % EndOfTime
		if size%2 == 0 { // soon
			r = c.Read(now) + time.Duration(long)>>(size%64)%EndOfTime
		}
		switch then := c.When(now, r); then {
		case now:
			return c.Read(now) >= r
		case Never:
			return c.Read(EndOfTime) < r
		default:
			return then > now && c.Read(then) >= r && c.Read(then-1) < r
		}
	}
	for _, fn := range []any{after, when} {
		if err := quick.Check(fn, &quick.Config{MaxCount: 10_000}); err != nil {
			t.Error(err)
		}
	}
}

func TestDrift(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		ppm  int32
		want time.Duration
	}{
		{time.Second, 0, 0},
		{time.Second, 1, time.Microsecond},
		{time.Second, -200, -200 * time.Microsecond},
		{1, -1, -1},
		{time.Hour, 50, 180 * time.Millisecond},
		{EndOfTime, MaxPPM, EndOfTime / 2}, // no overflow
		{EndOfTime, -MaxPPM, -EndOfTime / 2},
	} {
		if got := drift(test.d, test.ppm); got != test.want {
			t.Errorf("drift(%v, %d) = %v, want %v", test.d, test.ppm, got, test.want)
		}
	}
}

// A server whose clock is before the epoch counts its milliseconds like any other.
func TestMillis(t *testing.T) {
	for r, want := range map[time.Duration]int64{
		0: 0, 999_999: 0, 1_000_000: 1, -1: -1, -1_000_000: -1, -1_000_001: -2, -2_000_000: -2,
	} {
		if got := Millis(r); got != want {
			t.Errorf("Millis(%v) = %d, want %d", r, got, want)
		}
	}
}

func TestJump(t *testing.T) {
	c := State{Offset: EndOfTime - time.Hour}
	for _, d := range []time.Duration{0, time.Hour + 1, -2*EndOfTime + time.Hour - 1, 1<<63 - 1, -1 << 63} {
		if was := c; c.Jump(d) == "" || c != was {
			t.Errorf("a jump of %v: the clock is off by %v", d, c.Offset)
		}
	}
	if why := c.Jump(time.Hour); why != "" || c.Offset != EndOfTime {
		t.Errorf("a jump to the very end: %q, off by %v", why, c.Offset)
	}
}
