package simulator

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Lengths are the different lengths that clients and servers have met since some moment.
type Lengths struct {
	List []node.Length // in the order in which they were met

	histories [MaxClients]int
	requests  int
}

func (l *Lengths) add(one node.Length) {
	if !slices.ContainsFunc(l.List, func(o node.Length) bool { return o.Compare(one) == 0 }) {
		l.List = append(l.List, one)
	}
}

// Collect appends to l what is new in the tables since its last call, of the first so many clients. NewWorld voids l.
func (s *Simulator) Collect(l *Lengths, clients int) {
	for i, p := range s.clients.procs[:clients] {
		for ; l.histories[i] < p.Len(); l.histories[i]++ {
			e := p.At(uint32(l.histories[i]))
			for t := range e.Ops {
				if o := &e.Ops[t]; e.Fresh&(1<<t) != 0 && o.D > 0 && o.D < Never {
					l.addOp(o)
				}
			}
		}
	}
	asked := s.kind.Asked()
	for _, a := range asked[l.requests:] {
		if a.Of != node.ClockReads {
			a.Request = slices.Clone(a.Request)
			l.add(a)
		}
	}
	l.requests = len(asked)
}

func (l *Lengths) addOp(o *process.Op) {
	switch o.Kind {
	case process.Sleep, process.Watch:
		l.add(node.Length{Of: node.Timer, D: o.D})
	case process.Request, process.Listen:
		l.add(node.Length{Of: node.Patience, D: o.D})
	case process.Idle:
		l.add(node.Length{Of: node.Inside, D: o.D})
	}
}

// A Timing bounds, in true time from 0, how long things take (nil: nothing is bounded): within the bounds the scheduler
// decides. With a Timing, a Redis key is gone when its time to live is over to the nanosecond, as if it had been set at
// the very end of a millisecond; without one, it lives through the millisecond of its deadline. The length of a fault
// is then a bound as well: a delay, a hang, an outage or a pause ends at any time up to it.
type Timing struct {
	// Step above 0: the bounds of faults count in whole steps, rounded down, and clocks
	// jump by whole steps. 0: they count to the nanosecond.
	Step     time.Duration
	Latency  time.Duration // a request to a server or its reply is in flight at most so long; the resource is next door
	Lateness time.Duration // a timer, or code that was paused, goes on at most so much later than it could
}

// step is the Step; 0: there is none.
func (t *Timing) step() time.Duration {
	if t == nil {
		return 0
	}
	return t.Step
}

// bound is the time that a fault lasts at most that may last for d.
func (t *Timing) bound(d time.Duration) time.Duration {
	if step := t.step(); step > 0 {
		return d - d%step
	}
	return d
}

// late is the time within which a timer fires that is due in a time.
func (t *Timing) late(due time.Duration) time.Duration {
	if t == nil || due == Never {
		return due
	}
	return clock.Later(due, t.Lateness)
}

// patience is the time within which a thread gives up that waits for an answer for d of its clock: late at most.
func (t *Timing) patience(c clock.State, d time.Duration) time.Duration {
	return t.late(clock.Later(0, c.After(d)))
}

// messageDue is the time for which a message is held up or, if not, within which it arrives; Never if it is unbounded.
func (t *Timing) messageDue(hold, latest time.Duration) time.Duration {
	switch {
	case hold > 0:
		return hold
	case t == nil:
		return Never
	}
	return latest
}

// A Date is when right clocks begin in a run, in Unix milliseconds; 0: at Epoch.
type Date int64

// datesEnd is later than every Date: those of a run are within the end of time of clocks that begin at Epoch.
const datesEnd = 4_102_444_800_000 // 2100

// ParseDate reads what String wrote. The error says what it would accept.
func ParseDate(written string) (Date, error) {
	ms, err := strconv.ParseInt(written, 10, 64)
	if err != nil || ms <= 0 || ms >= datesEnd {
		return 0, i18n.Errorf("error.want.date")
	}
	return Date(ms), nil
}

func (d Date) String() string { return strconv.FormatInt(int64(d), 10) }

// Ahead is by how much right clocks are ahead of those that begin at Epoch.
func (d Date) Ahead() time.Duration {
	if d == 0 {
		return 0
	}
	return time.UnixMilli(int64(d)).Sub(Epoch)
}

// EpochSetting is the name of the Date among the settings of a trace. Those of a link always have it, and those of a
// Trace if it is not Epoch: a run is played at its own date, also if Epoch is another one by then.
const EpochSetting = "epoch"

// undated is the Date of links that have none.
const undated Date = 1_000_000_000_000

// setting is a Date as one of some settings.
func (d Date) setting() string { return EpochSetting + "=" + d.String() }

func hasDate(settings string) bool { return strings.Contains(","+settings, ","+EpochSetting+"=") }

func withDate(settings string, d Date) string {
	if settings == "" {
		return d.setting()
	}
	return settings + "," + d.setting()
}

// inLink are settings as a link has them.
func inLink(settings string) string {
	if hasDate(settings) {
		return settings
	}
	return withDate(settings, Date(Epoch.UnixMilli()))
}

// fromLink are settings as a Trace has them.
func fromLink(settings string) string {
	usual := Date(Epoch.UnixMilli()).setting()
	switch {
	case !hasDate(settings):
		return withDate(settings, undated)
	case settings == usual:
		return ""
	}
	return strings.TrimSuffix(settings, ","+usual)
}
