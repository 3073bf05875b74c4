package simulator

import (
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Clients that use their clocks to measure may also write down what they show: the end of a lease as the value
// of a key, which others compare with their own clocks. What all of them do is the same at any time of day, if all
// readings and all such stamps are later (time-translation invariance). So the present is no part of a world: the stamps
// that a client sends and receives count from when it has first read its clock (see measure), those that
// servers and orphaned requests hold count from the present as soon as they are parts (see Parts), and they are
// moved where one passes them to the other. That code does the same at other times of day, with stamps that are as
// much later as its readings, is checked in all of its histories (process.Process.CheckMeasures), and that servers do
// in all of their effects.

// HasStamp implements process.Stamps.
func (s *Simulator) HasStamp(answer int64) bool {
	return s.measures && s.clients.words.Answers.Stamps(uint32(answer)).Grain > 0
}

// Grain implements process.Stamps.
func (s *Simulator) Grain() time.Duration { return s.grain }

// First implements process.Stamps.
func (s *Simulator) First(answer int64) time.Duration {
	return s.clients.words.Answers.Stamps(uint32(answer)).First
}

// Later implements process.Stamps.
func (s *Simulator) Later(answer int64, by time.Duration) int64 {
	return int64(s.clients.words.Answers.Moved(uint32(answer), by))
}

// SameLater implements process.Stamps.
func (s *Simulator) SameLater(o *process.Op, by time.Duration) uint32 {
	return s.clients.words.Of(o).Moved(o.Arg, by)
}

// noteStamps notes that an operation has a time stamp, where clients measure and servers can have it moved.
func (s *Simulator) noteStamps(o *process.Op) {
	if _, can := s.kind.(node.Stamping); can && s.measures && o.Kind == process.Request {
		s.sawGrain = max(s.sawGrain, s.clients.words.Requests.Stamps(o.Arg).Grain)
	}
}

// moveStamps has stamps count from the present from now on, by whole grains, or not (0). Earlier worlds are void.
func (s *Simulator) moveStamps(grain time.Duration) { s.grain, s.memo.Grain = grain, grain }

// zero has a clock that is read for the first time show no time of day.
func (s *Simulator) zero(c *clock.State, now time.Duration) {
	c.Zero(now, s.Present(), max(s.grain, time.Millisecond))
}

// ofDay is what client c's thread waits for with the time of day in its stamps.
func (v *view) ofDay(c int8, o *process.Op) *process.Op {
	by := v.w.procs[c-1].Clock.Zeroed()
	if by == 0 || o.Kind != process.Request || v.s.clients.words.Requests.Stamps(o.Arg).Grain == 0 {
		return o
	}
	v.s.dayOp = *o
	v.s.dayOp.Arg = v.s.clients.words.Requests.Moved(o.Arg, by)
	return &v.s.dayOp
}

// receive has the stamps of a new reply count as the client does that it is on its way to.
func (v *view) receive(p *node.ClientProcess, th *node.Thread, o *process.Op) {
	if th.Phase != node.Answered || th.Broken || th.Reply == node.LostConn || !o.Kind.ToServer() || !v.s.HasStamp(int64(th.Reply)) {
		return
	}
	if !p.Clock.Measures {
		v.s.zero(&p.Clock, v.w.now)
	}
	th.Reply = v.s.clients.words.Answers.Moved(th.Reply, -p.Clock.Zeroed())
}

// forgetTime has a client's clock show the time of day again if nothing counts from another time any more.
func (v *view) forgetTime(c int8, p *node.ClientProcess) {
	if !p.Clock.Measures || v.s.clients.entry(c, p).Reads {
		return
	}
	for t, th := range p.Each {
		if th.Phase == node.Answered && th.Reply != node.LostConn && v.s.clients.op(c, p, int(t)).Kind.ToServer() && v.s.HasStamp(int64(th.Reply)) {
			return
		}
	}
	p.Clock.Restore()
}

// Present is the time of a world whose parts know of no other.
func (s *Simulator) Present() time.Duration {
	if s.grain > 0 {
		return clock.Midst
	}
	return 0
}

// Recent is a time that is as far within a grain as now is, and as near to Present as can be.
func (s *Simulator) Recent(now time.Duration) time.Duration { return now - s.passed(now) }

// passed is how many whole grains a world has had since the Present.
func (s *Simulator) passed(now time.Duration) time.Duration {
	if s.grain == 0 {
		return 0
	}
	return clock.Floor(now-s.Present(), s.grain)
}

// movedNode is the state of a server in which stamps are later by some whole grains.
func (s *Simulator) movedNode(state node.State, by time.Duration) node.State {
	if by == 0 || state == nil {
		return state
	}
	return s.kind.(node.Stamping).Moved(state, by)
}

// movedOrphan is an orphaned request in which stamps are later, likewise.
func (s *Simulator) movedOrphan(o *node.Orphan, by time.Duration) {
	if by != 0 && o.Op.Kind == process.Request {
		o.Op.Arg = s.clients.words.Requests.Moved(o.Op.Arg, by)
	}
}
