package clock

import (
	"testing"
	"time"
)

// TestStamps: a number that shows a time in the first ten days is a stamp, and moves; any other stays as it is.
func TestStamps(t *testing.T) {
	for _, test := range []struct {
		text  string
		grain time.Duration
		later string // by 3 s
	}{
		{"", 0, ""},
		{"c1.1", 0, "c1.1"},
		{"1780000000000", time.Millisecond, "1780000003000"},
		{"c2:1780000012750 1780000012750000", time.Millisecond, "c2:1780000015750 1780000015750000"},
		{"1780000012750123456", time.Millisecond, "1780000015750123456"},
		{"1780000012", time.Second, "1780000015"},
		{"at 1780000012 or 1780000012750", time.Second, "at 1780000015 or 1780000015750"},
		{"999999999999", 0, "999999999999"},
		{"1780864000000", time.Millisecond, "1780864003000"}, // ten days, and
		{"1780864000001", 0, "1780864000001"},
		{"10000000000000", 0, "10000000000000"}, // a digit more
		{"99999999999999999999999", 0, "99999999999999999999999"},
		{"x1780000012750y", time.Millisecond, "x1780000015750y"},
	} {
		got := NoStamps
		if got.Add(test.text); got.Grain != test.grain {
			t.Errorf("%q: grain %v, want %v", test.text, got.Grain, test.grain)
		}
		if got := MoveStamps(test.text, Shift{By: 3 * time.Second}); got != test.later {
			t.Errorf("%q: 3 s later %q, want %q", test.text, got, test.later)
		}
	}
}

// TestFirstStamp: the first two of all stamps count, in whatever unit, once each.
func TestFirstStamp(t *testing.T) {
	first := NoStamps
	for _, text := range []string{"none", "1780000012", "1780000011500 1780000013000",
		"1780000011500 1780000011750000"} {
		first.Add(text)
	}
	if want := (Stamps{time.Second, 11500 * time.Millisecond, 11750 * time.Millisecond}); first != want {
		t.Errorf("%+v, want %+v", first, want)
	}
	one, other := Stamps{1, 5, Never}, Stamps{2, 3, 5}
	if want := (Stamps{2, 3, 5}); one.With(other) != want || other.With(one) != want || one.With(one) != one ||
		one.With(NoStamps) != one {
		t.Errorf("together: %+v and %+v, want %+v", one.With(other), other.With(one), want)
	}
}

// TestFloor: a whole grain is not after the time, on either side of the Epoch.
func TestFloor(t *testing.T) {
	for at, want := range map[time.Duration]time.Duration{0: 0, 999: 0, 1000: 1000, 1001: 1000, -1: -1000, -1000: -1000,
		-1001: -2000} {
		if got := Floor(at, 1000); got != want {
			t.Errorf("%d: %d, want %d", at, got, want)
		}
	}
}

// TestZero: a clock that shows no time of day shows what it did once that is restored, also if it was moved.
func TestZero(t *testing.T) {
	c := State{Offset: 1_234_567_890}
	was := c
	c.Zero(77, StampBase, time.Second)
	if read := c.Read(77); read < StampBase || read >= StampBase+time.Second ||
		read%time.Second != was.Read(77)%time.Second || c.Zeroed()%time.Second != 0 {
		t.Errorf("it shows %v, behind by %v", read, c.Zeroed())
	}
	if c.Read(77)+c.Zeroed() != was.Read(77) {
		t.Errorf("%v and %v are not %v", c.Read(77), c.Zeroed(), was.Read(77))
	}
	if why := c.Jump(5); why != "" {
		t.Fatal(why)
	}
	c.Restore()
	if was.Offset += 5; c != was {
		t.Errorf("restored: %+v, want %+v", c, was)
	}
}

// TestShift: what is old enough becomes as old as that, or older, and nothing else does.
func TestShift(t *testing.T) {
	const oldest = 10 * time.Second
	for _, test := range []struct {
		shift    Shift
		at, want time.Duration
	}{
		{Shift{}, 7 * time.Second, 7 * time.Second},
		{Shift{By: time.Second}, 7 * time.Second, 8 * time.Second},
		{Shift{Oldest: oldest}, 7 * time.Second, oldest},
		{Shift{Oldest: oldest}, oldest + 1, oldest + 1},
		{Shift{By: -time.Second, Oldest: oldest}, oldest + 1, oldest},
		{Shift{By: 4 * time.Second, Oldest: oldest}, 7 * time.Second, 11 * time.Second},
		{Shift{Oldest: oldest, Older: 3 * time.Second}, oldest, 7 * time.Second},
		{Shift{Oldest: oldest, Older: 3 * time.Second}, oldest + 1, oldest + 1},
	} {
		if got := test.shift.Of(test.at); got != test.want {
			t.Errorf("%+v: %v becomes %v, want %v", test.shift, test.at, got, test.want)
		}
	}
	if got := MoveStamps("1780000007, c1.1, 1780000012000",
		Shift{Oldest: oldest}); got != "1780000010, c1.1, 1780000012000" {
		t.Errorf("stamps up to 10 s: %q", got)
	}
}
