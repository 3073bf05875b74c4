package process

import (
	"slices"
	"strings"
	"time"

	"locklab/simulator/internal/clock"
)

// Code that uses its clock only to measure how long something takes does not look at the time of day. So it does not
// matter what its first reading shows, if all that follow count on from there; see hypothesis.Measures. Whether code is
// such is tried: whatever it does in a history with readings, it must do in the same history with all readings later.

// Stride is the unit by which the readings of a history are later when it is tried: by Years, which are 25 years, and 1
// to Strides times as much. So each reading comes to be at every second of a minute, every minute of an hour, every
// hour of a day, every day of the week and in every month of the year: one stride moves none of the first four by more
// than one place, and sixty of them move each all the way round. The 17 ms move it within the second, and a thousand of
// them to each millisecond of it.
const (
	Stride  = 29*24*time.Hour + time.Hour + 59*time.Second + 17*time.Millisecond
	Strides = 60
	Years   = 25 * (365*24*time.Hour + 6*time.Hour)
)

// OtherDate is by how much later an execution begins that is the n-th at another date: n strides after Years, up to 600
// of them, and each eighth one on a 29 February. So 24 in a row begin at every hour of a day, on every day of the week,
// in every month and on three leap days.
func OtherDate(n int) time.Duration {
	if n%8 == 0 {
		const later = time.Hour + time.Minute + 7*time.Second + 13*time.Millisecond
		return leapDay(clock.Epoch.Add(Years).Year()+n/2%40) + time.Duration(n%24)*later
	}
	return Years + time.Duration(n%600)*Stride + time.Duration(n)*17*time.Millisecond
}

// leapDay is the beginning of the first 29 February from a year on, as the time since the Epoch.
func leapDay(year int) time.Duration {
	return time.Date((year+3)/4*4, time.February, 29, 0, 0, 0, 0, time.UTC).Sub(clock.Epoch)
}

// allStrides has a bit for each number of strides, from bit 1.
const allStrides = 1<<(Strides+1) - 2

// checked records the runs of Repeat and CheckMeasures, by entry, and by place, which stays if the table is cleared.
type checked struct {
	repeated []bool // its code has run twice
	sure     []bool // it was tried at other times, and so whatever leads to it
	newYear  []bool // with its last reading at the beginning of a year
	place    []int  // in the code; where nothing was read, 0
	places   map[string]int
	tried    []uint64 // by place, the numbers of strides by which a history that leads there was later
	turn     int      // of the strides that a history is tried with in any case
}

// grow makes room for the entries that are new.
func (c *checked) grow(p *Process) {
	if c.places == nil {
		c.places, c.tried = map[string]int{}, []uint64{allStrides}
	}
	for at := len(c.sure); at < len(p.entries); at++ {
		place := 0
		if e := &p.entries[at]; e.Reads {
			place = c.placeOf(p, e)
		}
		c.sure, c.newYear, c.place = append(c.sure, false), append(c.newYear, false), append(c.place, place)
	}
}

// placeOf numbers the place in the code to which a history leads: of what the code does there, without its numbers.
func (c *checked) placeOf(p *Process, e *Entry) int {
	does := withoutDigits(p.Describe(e))
	place, ok := c.places[does]
	if !ok {
		place = len(c.tried)
		c.places[does], c.tried = place, append(c.tried, 0)
	}
	return place
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// strides are by how much a history is later when it is tried: by Years and numbers of strides, those that a
// place on its way lacks, and one in turn.
func (c *checked) strides(p *Process, at uint32) (list []time.Duration) {
	c.turn = c.turn%Strides + 1
	lacks := uint64(1) << c.turn
	for from := at; p.entries[from].Reads; from = p.entries[from].Parent {
		lacks |= allStrides &^ c.tried[c.place[from]]
	}
	for from := at; p.entries[from].Reads; from = p.entries[from].Parent {
		c.tried[c.place[from]] |= lacks
	}
	grain := c.grain(p)
	for n := range time.Duration(Strides + 1) {
		if lacks&(1<<n) != 0 {
			list = append(list, Years.Truncate(grain)+n*Stride.Truncate(grain))
		}
	}
	return list
}

// toEpoch returns the negative time that brings the first of the readings and stamps of a history to the Epoch, where a
// run begins; nil where no stamps count.
func (c *checked) toEpoch(p *Process, at uint32) []time.Duration {
	if p.Stamps == nil || p.Stamps.Grain() == 0 {
		return nil
	}
	first := clock.Never
	for ; p.entries[at].Reads; at = p.entries[at].Parent {
		e := &p.entries[at]
		first = min(first, p.stampsIn(e.Parent, e.Seen).First)
		if e.Seen.Kind == ClockRead {
			first = min(first, time.Duration(e.Seen.Val))
		}
	}
	return []time.Duration{-clock.Floor(first, c.grain(p))}
}

// shifts are those with which a history is tried.
func (c *checked) shifts(p *Process, at uint32) []clock.Shift {
	list := p.ancient(at)
	for _, by := range slices.Concat(c.newYears(p, at), c.strides(p, at), c.toEpoch(p, at)) {
		list = append(list, clock.Shift{By: by})
	}
	return list
}

// newYears are by how much the readings of a history are later so that the first of them comes to a 29 February, and
// the first or the last to the beginning of a year, UTC: of a month, a day, an hour, a minute, a second and a
// millisecond, with the readings before it on the other side. Any other reading comes there in another history.
func (c *checked) newYears(p *Process, at uint32) (list []time.Duration) {
	met, first := false, time.Duration(0)
	for ; p.entries[at].Reads; at = p.entries[at].Parent {
		seen := p.entries[at].Seen
		if seen.Kind != ClockRead {
			continue
		}
		first = time.Duration(seen.Val)
		if !met || !c.newYear[at] {
			list = append(list, c.toNewYear(p, first))
		}
		met, c.newYear[at] = true, true
	}
	if by := c.toNewYear(p, first); !slices.Contains(list, by) {
		list = append(list, by)
	}
	return append(list, clock.Floor(leapDay(clock.Epoch.Add(first).Year()+1)+12*time.Hour-first, c.grain(p)))
}

// toNewYear returns the time from a reading, in whole grains, to the beginning of the next year or just after.
func (c *checked) toNewYear(p *Process, reading time.Duration) time.Duration {
	t := clock.Epoch.Add(reading)
	return -clock.Floor(t.Sub(time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)), c.grain(p))
}

// grain is the time of which readings are later by whole numbers.
func (c *checked) grain(p *Process) time.Duration {
	if p.Stamps == nil || p.Stamps.Grain() == 0 {
		return 1
	}
	return p.Stamps.Grain()
}

// CheckMeasures runs the code again in every history with readings not tried before, with later readings: as much later
// as brings its first or last reading to the beginning of a year, and by Years and some number of strides; see Stride.
// Where stamps count, the first reading or stamp comes to the Epoch as well. Each place in the code is met by histories
// that are later by each number of them. Where the code does something else the error is a *hypothesis.Refuted. It runs
// the longest histories only: shorter ones begin them; and of a Host's code those that represent themselves.
func (p *Process) CheckMeasures(represents func(at uint32) bool) error {
	p.checked.grow(p)
	c, tried := &p.checked, slices.Clone(p.checked.tried)
	var trials []trial
	for at := range uint32(len(p.entries)) {
		if p.entries[at].to != 0 || !represents(at) {
			continue
		}
		at := p.lastRun(at)
		if c.sure[at] || !p.entries[at].Reads {
			continue
		}
		for _, by := range c.shifts(p, at) {
			trials = append(trials, trial{at, by})
		}
		for at := at; !c.sure[at] && p.entries[at].Reads; at = p.entries[at].Parent {
			c.sure[at] = true
		}
	}
	err := tryAll(p, trials)
	if err != nil { // not all were made
		clear(c.sure)
		clear(c.newYear)
		copy(c.tried, tried)
	}
	return err
}

// Stamps are the time stamps in what clients and servers exchange, by the numbers of it.
type Stamps interface {
	// Grain is the time of which they are later by whole numbers; 0: none was met.
	Grain() time.Duration
	// In returns those in an answer.
	In(answer int64) clock.Stamps
	// Moved returns an answer in which all stamps are moved, and Asked the request of an operation, likewise.
	Moved(answer int64, by clock.Shift) int64
	Asked(o *Op, by clock.Shift) uint32
	// Ancient is the time since the Epoch up to which all stamps in answers are one; 0: all of them count.
	Ancient() time.Duration
}

// stampsIn returns the stamps in what is observed at an entry.
func (t *tree) stampsIn(at uint32, s Observation) clock.Stamps {
	answered := s.Kind == Replied || s.Kind == TimedOut && s.Val != 0
	if t.Stamps != nil && answered && t.entries[at].Ops[s.Thread].Kind.ToServer() {
		return t.Stamps.In(s.Val)
	}
	return clock.NoStamps
}

// later returns the observation with which the code goes on from one entry to another, and the actions that it is to
// take then, at another time of day.
func (t *tree) later(from uint32, e *Entry, s TimedObservation, by clock.Shift) (TimedObservation, *Entry) {
	s.Now += by.By
	switch {
	case s.Kind == ClockRead:
		s.Val += int64(by.By)
	case t.stampsIn(from, s.Observation).Grain > 0:
		s.Val = t.Stamps.Moved(s.Val, by)
	}
	if t.Stamps == nil {
		return s, e
	}
	does := *e
	for i := range does.Ops {
		if o := &does.Ops[i]; o.Kind == Request {
			o.Arg = t.Stamps.Asked(o, by)
		}
	}
	return s, &does
}

// ancient are the shifts that make the ancient stamps of a history more ancient; nil: it has none.
func (t *tree) ancient(at uint32) []clock.Shift {
	if t.Stamps == nil {
		return nil
	}
	oldest := t.Stamps.Ancient()
	for ; t.entries[at].Reads; at = t.entries[at].Parent {
		if t.stampsIn(t.entries[at].Parent, t.entries[at].Seen).First <= oldest {
			return clock.MoreAncient(oldest)
		}
	}
	return nil
}
