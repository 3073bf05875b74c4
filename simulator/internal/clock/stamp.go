package clock

import (
	"strconv"
	"strings"
	"time"
)

// A stamp is a decimal number in a text, or one that stands for a text (see codec.Numeral), that shows a time near the
// Epoch, in Unix seconds, milliseconds, microseconds or nanoseconds.

// StampBase is the time to which clocks are set that show no time of day: so far from the Epoch, on one side, and
// from the end of what is taken for a stamp, on the other, that stamps have equally many digits.
const StampBase = 5 * 24 * time.Hour

// stampUnits are the units in which a stamp may count, by its number of digits.
var stampUnits = map[int]time.Duration{10: time.Second, 13: time.Millisecond, 16: time.Microsecond, 19: time.Nanosecond}

// Stamps holds properties of all stamps in some texts. Grain is the shortest time by which all of them can be later: a
// second if one shows seconds, else a millisecond; 0: there is none. First is the first time that they show, since the
// Epoch, and Second the first of the others; Never: there is none.
type Stamps struct{ Grain, First, Second time.Duration }

// NoStamps are those of no text.
var NoStamps = Stamps{First: Never, Second: Never}

// Add adds the stamps in a text.
func (s *Stamps) Add(text string) {
	eachStamp(text, func(_, _ int, stamp int64, unit time.Duration) {
		s.Grain = max(s.Grain, unit, time.Millisecond)
		s.add(time.Duration(stamp-Epoch.UnixNano()/int64(unit)) * unit)
	})
}

func (s *Stamps) add(t time.Duration) {
	switch {
	case t < s.First:
		s.First, s.Second = t, s.First
	case t > s.First:
		s.Second = min(s.Second, t)
	}
}

// With returns the properties of the stamps of s and o together.
func (s Stamps) With(o Stamps) Stamps {
	s.Grain = max(s.Grain, o.Grain)
	s.add(o.First)
	s.add(o.Second)
	return s
}

// Floor is the last whole grain of a time, before the Epoch too.
func Floor(t, grain time.Duration) time.Duration {
	whole := t.Truncate(grain)
	if whole > t {
		whole -= grain
	}
	return whole
}

// A Shift moves stamps, by whole numbers of grains.
type Shift struct {
	By     time.Duration // they are later by so much
	Oldest time.Duration // those that are then no later than this, since the Epoch, become this; 0: none do
	Older  time.Duration // and earlier than this by so much
}

// Of returns a time since the Epoch after the shift.
func (s Shift) Of(t time.Duration) time.Duration {
	if t += s.By; s.Oldest > 0 && t <= s.Oldest {
		return s.Oldest - s.Older
	}
	return t
}

// MoreAncient are shifts that make the stamps up to oldest older still: by a second, an hour, and days.
func MoreAncient(oldest time.Duration) (list []Shift) {
	for _, d := range [...]time.Duration{time.Second, time.Hour, 61 * time.Hour} {
		list = append(list, Shift{Oldest: oldest, Older: d})
	}
	return list
}

// MoveStamps returns a text with all stamps in it moved.
func MoveStamps(text string, by Shift) string {
	var moved strings.Builder
	rest := 0
	eachStamp(text, func(from, to int, stamp int64, unit time.Duration) {
		moved.WriteString(text[rest:from])
		epoch := Epoch.UnixNano() / int64(unit)
		moved.WriteString(strconv.FormatInt(epoch+int64(by.Of(time.Duration(stamp-epoch)*unit)/unit), 10))
		rest = to
	})
	if rest == 0 {
		return text
	}
	return moved.String() + text[rest:]
}

// eachStamp yields the stamps in a text: where they stand, their numbers, and in what they count.
func eachStamp(text string, yield func(from, to int, stamp int64, unit time.Duration)) {
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && '0' <= text[to] && text[to] <= '9' {
			to++
		}
		if n := to - from; stampUnits[n] != 0 {
			stamp, err := strconv.ParseInt(text[from:to], 10, 64)
			if unit := unitOf(stamp, n); err == nil && unit != 0 {
				yield(from, to, stamp, unit)
			}
		}
		from = to + 1
	}
}

// unitOf is the unit of a stamp of so many digits; 0: the number is none.
func unitOf(stamp int64, digits int) time.Duration {
	unit := stampUnits[digits]
	if unit == 0 {
		return 0
	}
	if since := stamp - Epoch.UnixNano()/int64(unit); since < 0 || since > int64(2*StampBase/unit) {
		return 0
	}
	return unit
}
