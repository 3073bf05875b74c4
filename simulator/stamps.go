package simulator

import (
	"slices"
	"time"

	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// Clients that use their clocks to measure may also write down what they show: the end of a lease as the value of a
// key, which others compare with their own clocks. What all of them do is the same at any time of day, if all readings
// and all such stamps are later (time-translation invariance). So the present is no part of a world: the stamps that a
// client sends and receives count from when it has first read its clock (see measure), those that servers and orphaned
// requests hold count from the present as soon as they are parts (see Parts), and they are moved where one passes them
// to the other. That code does the same at other times of day, with stamps that are as much later as its readings, is
// checked in all of its histories (process.Process.CheckMeasures), and that servers do in all of their effects.
//
// Stamps that servers keep grow older without end. With hypothesis.Aged all stamps are one to a client that were
// ancient when it first read its clock, and those that servers keep grow no older than Ancient and Span together: then
// they are ancient to all clients, since none measures for longer than Span. Two different stamps are never taken for
// the same: a request with a stamp that is ancient by then refutes the assumption, so that a stamp which is written
// after a client has read an ancient one is not ancient to it; and so do two different ancient stamps on servers at a
// time (see CheckOld). That code and servers do the same with ancient stamps that are older still is checked as above.

// Stamps are the time stamps in what clients and servers exchange.
type Stamps struct {
	s     *Simulator
	seen  time.Duration // Traits.Grain
	grain time.Duration // by which stamps count from the present; 0: they do not
	op    process.Op    // memory of ofDay

	ages hypothesis.Ages // where stamps count from the present
}

// Stamps returns the time stamps of the simulator's worlds.
func (s *Simulator) Stamps() *Stamps { return &s.stamps }

// In implements process.Stamps.
func (st *Stamps) In(answer int64) clock.Stamps {
	if !st.s.measures {
		return clock.NoStamps
	}
	return st.s.clients.words.Answers.Stamps(uint32(answer))
}

// Grain is the time by whole numbers of which stamps count from the present; 0: they do not.
func (st *Stamps) Grain() time.Duration { return st.grain }

// Moved implements process.Stamps.
func (st *Stamps) Moved(answer int64, by clock.Shift) int64 {
	return int64(st.s.clients.words.Answers.Map(uint32(answer), translate.Move(by)))
}

// Asked implements process.Stamps.
func (st *Stamps) Asked(o *process.Op, by clock.Shift) uint32 {
	return st.s.clients.words.Of(o).Map(o.Arg, translate.Move(by))
}

// note notes that an operation has a stamp, where clients measure and servers can have it moved.
func (st *Stamps) note(o *process.Op) {
	if !st.s.measures || o.Kind != process.Request {
		return
	}
	if st.s.clients.traits.Stamps {
		st.seen = max(st.seen, st.s.clients.words.Requests.Stamps(o.Arg).Grain)
	}
}

// Phases are sorted times past a whole grain that clients' clocks showed; nil: stamps do not count from the present.
func (st *Stamps) Phases() (list []time.Duration) {
	if st.grain == 0 {
		return nil
	}
	for _, p := range st.s.clients.procs {
		for at := range uint32(p.Len()) {
			if seen := p.At(at).Seen; seen.Kind == process.ClockRead {
				list = append(list, time.Duration(seen.Val)-clock.Floor(time.Duration(seen.Val), st.grain))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// move has stamps count from the present from now on, by whole grains, or not (0). Earlier worlds are void.
func (st *Stamps) move(grain time.Duration, ages hypothesis.Ages) {
	st.grain, st.ages = grain, hypothesis.Ages{}
	if grain > 0 && ages != (hypothesis.Ages{}) {
		st.ages = hypothesis.Ages{Ancient: clock.Floor(ages.Ancient, grain), Span: clock.Floor(ages.Span, grain)}
	}
	st.s.memo.Grain, st.s.memo.Oldest = grain, st.oldest()
}

// Ancient implements process.Stamps.
func (st *Stamps) Ancient() time.Duration {
	if st.ages == (hypothesis.Ages{}) {
		return 0
	}
	return clock.StampBase - st.ages.Ancient
}

// oldest is the earliest stamp that servers keep, as a time since the Epoch; 0: any.
func (st *Stamps) oldest() time.Duration {
	if st.ages == (hypothesis.Ages{}) {
		return 0
	}
	return clock.StampBase - st.ages.Ancient - st.ages.Span
}

// zero has a clock that is read for the first time show no time of day.
func (st *Stamps) zero(c *clock.State, now time.Duration) {
	c.Zero(now, st.Present(), max(st.grain, time.Millisecond))
}

// ofDay returns an operation of a client with the time of day in its stamps.
func (st *Stamps) ofDay(p *node.ClientProcess, o *process.Op) *process.Op {
	by := p.Clock.Zeroed()
	if by == 0 || o.Kind != process.Request || st.s.clients.words.Requests.Stamps(o.Arg).Grain == 0 {
		return o
	}
	st.op = *o
	st.op.Arg = st.s.clients.words.Requests.Map(o.Arg, translate.Move(clock.Shift{By: by}))
	return &st.op
}

// received reports whether a reply with a stamp is on its way to a thread that waits for o.
func (st *Stamps) received(th *node.Thread, o *process.Op) bool {
	answered := th.Phase == node.Answered && th.Reply != node.LostConn
	return answered && o.Kind.ToServer() && st.In(int64(th.Reply)).Grain > 0
}

// receive has the stamps of a new reply count as the client does that it is on its way to.
func (st *Stamps) receive(now time.Duration, p *node.ClientProcess, th *node.Thread, o *process.Op) {
	if th.Broken || !st.received(th, o) {
		return
	}
	if !p.Clock.Measures {
		st.zero(&p.Clock, now)
	}
	shift := clock.Shift{By: -p.Clock.Zeroed(), Oldest: st.Ancient()}
	th.Reply = st.s.clients.words.Answers.Map(th.Reply, translate.Move(shift))
	if st.ages != (hypothesis.Ages{}) && p.Clock.Read(now) > clock.StampBase+st.ages.Span {
		st.s.room.Note(&hypothesis.Refuted{Of: hypothesis.Aged, Command: st.s.clients.cmd(o), Span: true})
	}
}

// arrive notes that a request is executed at now that has an ancient stamp.
func (st *Stamps) arrive(now time.Duration, o *process.Op) {
	if st.ages == (hypothesis.Ages{}) || o.Kind != process.Request {
		return
	}
	if st.s.clients.words.Requests.Stamps(o.Arg).First <= now-st.ages.Ancient {
		st.s.room.Note(&hypothesis.Refuted{Of: hypothesis.Aged, Command: st.s.clients.cmd(o)})
	}
}

// CheckOld returns an *hypothesis.Refuted if servers with these parts hold two different stamps that a client which
// reads its clock now would take for one.
func (st *Stamps) CheckOld(servers ...NodePart) error {
	if st.ages == (hypothesis.Ages{}) {
		return nil
	}
	all := clock.NoStamps
	for _, n := range servers {
		all = all.With(st.s.kind.StampsIn(n.s))
	}
	if all.Second <= st.Ancient() {
		return &hypothesis.Refuted{Of: hypothesis.Aged}
	}
	return nil
}

// forget has the clock of client c show the time of day again if nothing counts from another time any more.
func (st *Stamps) forget(c int8, p *node.ClientProcess) {
	if !p.Clock.Measures || st.s.clients.entry(c, p).Reads {
		return
	}
	for t, th := range p.Each {
		if st.received(th, st.s.clients.op(c, p, int(t))) {
			return
		}
	}
	p.Clock.Restore()
}

// Present is the time of a world whose parts know of no other.
func (st *Stamps) Present() time.Duration {
	if st.grain > 0 {
		return clock.StampBase
	}
	return 0
}

// Recent is a time that is as far within a grain as now is, and as near to Present as can be.
func (st *Stamps) Recent(now time.Duration) time.Duration { return now - st.passed(now) }

// passed returns the time that a world has had since the Present, in whole grains.
func (st *Stamps) passed(now time.Duration) time.Duration {
	if st.grain == 0 {
		return 0
	}
	return clock.Floor(now-st.Present(), st.grain)
}

// inPart is the translation by which stamps in a world at now count from the present, as in its parts; nil: they do.
func (st *Stamps) inPart(now time.Duration) *translate.Translation {
	if by := st.passed(now); by != 0 {
		return translate.Move(clock.Shift{By: -by, Oldest: st.oldest()})
	}
	return nil
}
