package simulator

import (
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Enabled appends to buf everything that may happen next in w, in a fixed order:
// what can happen at once, then the passing of time up to the next deadline, then
// the faults. Time may also pass by less than the listed D, and by anything up to
// 100 years after the start if there is no deadline; with a Timing also so that what ends
// then still stands (see Standing), which is not listed.
func (s *Simulator) Enabled(w *World, buf []Choice) []Choice {
	v := s.view(w)
	for c := range s.procs {
		buf = s.clientEnabled(&w.procs[c], w.now, int8(c+1), buf)
		buf = s.kind.Offers(v, int8(c+1), false, buf)
		buf = s.kind.Offers(v, int8(c+1), true, buf)
	}
	if w.orphans != 0 {
		buf = s.orphansEnabled(w, buf)
	}
	buf = s.serversEnabled(w, buf)
	if next := s.NextDeadline(w); next > w.now && next != Never {
		buf = append(buf, Choice{Verb: Pass, D: next - w.now})
	}
	return s.faultsEnabled(w, buf)
}

func (s *Simulator) faultsEnabled(w *World, buf []Choice) []Choice {
	for i, f := range s.config.Faults {
		if w.budget[i] > 0 {
			buf = f.Fault.Choices(FaultContext{s, w, f.Fault}, buf)
		}
	}
	return buf
}

// clientEnabled appends what can happen to client c at now without a look at any
// server.
func (s *Simulator) clientEnabled(p *node.Client, now time.Duration, c int8, buf []Choice) []Choice {
	switch {
	case p.Dead:
		return buf
	case p.Paused:
		return pausedEnabled(p, now, c, buf)
	}
	if stopped := p.Stopped(); stopped > 0 && (p.Open || p.Until <= now) {
		buf = append(buf, Choice{Verb: Resume, Client: c, Thread: stopped})
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		if p.Stands(t) {
			buf = standingEnabled(th, now, c, int8(t), buf)
			continue
		}
		ch := Choice{Client: c, Thread: int8(t)}
		switch held := th.Held(now); {
		case held:
		case th.Phase == node.Unborn:
			ch.Verb = Start
		case th.Phase == node.Asking:
			ch.Verb = Arrive
		case th.Phase == node.Blocked:
			ch.Verb = Unblock
		case th.Phase == node.Answered:
			ch.Verb = Answer
		case th.Phase == node.Asleep && th.Due <= now:
			ch.Verb = Wake
		}
		if ch.Verb != 0 {
			buf = append(buf, ch)
		}
		if ch.Verb == Wake || ch.Verb == Start {
			for way := range s.otherWays(p, c, t) {
				buf = append(buf, Choice{Verb: Choose, Client: c, Thread: int8(t), Node: way + 1})
			}
		}
		if th.Survives(now) {
			buf = append(buf, Choice{Verb: Survive, Client: c, Thread: int8(t)})
		}
		if th.Phase.Waiting() && s.impatient(p, c, t) <= now {
			buf = append(buf, Choice{Verb: GiveUp, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// otherWays is in how many other ways than by its waking client c's sleeping thread may go
// on, and with how many other clocks than one that is right its program may begin.
func (s *Simulator) otherWays(p *node.Client, c int8, thread int) int8 {
	switch o := &s.procs[c-1].At(p.At).Ops[thread]; {
	case o.Kind == process.Idle:
		return int8(o.Arg)
	case o.Kind == process.Begin && p.At == 0:
		return int8(len(s.config.Clients[c-1].Skews))
	}
	return 0
}

// pausedEnabled is clientEnabled for a client that is paused. The network goes on:
// its requests arrive.
func pausedEnabled(p *node.Client, now time.Duration, c int8, buf []Choice) []Choice {
	if p.Open || p.Until <= now {
		buf = append(buf, Choice{Verb: Resume, Client: c})
	}
	for t := range p.Threads {
		buf = standingEnabled(&p.Threads[t], now, c, int8(t), buf)
	}
	return buf
}

// standingEnabled appends what happens to a thread that does not run.
func standingEnabled(th *node.Thread, now time.Duration, c, t int8, buf []Choice) []Choice {
	switch {
	case th.Hold > now:
	case th.Phase == node.Asking:
		buf = append(buf, Choice{Verb: Arrive, Client: c, Thread: t})
	case th.Phase == node.Blocked:
		buf = append(buf, Choice{Verb: Unblock, Client: c, Thread: t})
	}
	return buf
}

// NextDeadline is the next true time, not before now, at which something is due: a
// sleep or a pause ends, a client gives up waiting, a key expires. Never if nothing
// is. Time cannot pass beyond it.
func (s *Simulator) NextDeadline(w *World) time.Duration {
	next := Never
	for c := range s.procs {
		next = min(next, s.clientDue(&w.procs[c], int8(c+1), w.now))
	}
	orphans := s.orphans.lists[w.orphans]
	for i := range orphans {
		next = min(next, s.messageDue(orphans[i].Hold, orphans[i].Latest, w.now))
	}
	next = min(next, s.serversDue(w))
	if next > clock.EndOfTime {
		return Never
	}
	return max(next, w.now)
}

// clientDue is when the next thing of a client's own is due; Never if nothing is.
// While it is paused the network and the servers go on.
func (s *Simulator) clientDue(p *node.Client, c int8, now time.Duration) time.Duration {
	next := Never
	if p.Paused || p.Stopped() > 0 {
		next = p.Until
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		stands := p.Stands(t)
		if !stands {
			next = min(next, s.timerDue(p, c, t, now))
		}
		switch {
		case th.Phase == node.Blocked:
			next = min(next, th.Hold)
		case th.Broken && !stands:
			next = min(next, s.messageDue(0, th.Latest, now))
		case th.Broken:
		case th.Phase == node.Asking, th.Phase == node.Answered && !stands:
			next = min(next, s.messageDue(th.Hold, th.Latest, now))
		case th.Hold > now:
			next = min(next, th.Hold)
		}
	}
	return next
}

// timerDue is when a thread may go on by its clock and, once it may, by when it has
// to.
func (s *Simulator) timerDue(p *node.Client, c int8, thread int, now time.Duration) time.Duration {
	th := &p.Threads[thread]
	asleep := th.Phase == node.Asleep
	switch {
	case th.Phase == node.Unborn && s.config.Timing != nil:
		return max(th.Latest, now)
	case !asleep && !th.Phase.Waiting():
		return Never
	case !asleep:
		if from := s.impatient(p, c, thread); from > now {
			return from
		}
		return max(th.Due, now)
	case s.config.Timing == nil || th.Due > now:
		return th.Due
	}
	return max(th.Latest, now)
}

// impatient is from when on client c's thread, which waits for an answer, may give up.
func (s *Simulator) impatient(p *node.Client, c int8, thread int) time.Duration {
	th := &p.Threads[thread]
	switch {
	case s.config.Timing == nil:
		return th.Due
	case s.procs[c-1].At(p.At).Ops[thread].Open:
		return 0
	case th.Due == Never:
		return Never
	}
	return th.Due - s.config.Timing.Lateness
}

// giveUpAt is by when a thread gives up that waits for an answer from now on, for d of
// its clock: late at most.
func (s *Simulator) giveUpAt(now time.Duration, c clock.State, d time.Duration) time.Duration {
	return s.late(clock.Later(now, c.After(d)))
}

// late is by when a timer fires that is due at a time.
func (s *Simulator) late(due time.Duration) time.Duration {
	if s.config.Timing == nil || due == Never {
		return due
	}
	return clock.Later(due, s.config.Timing.Lateness)
}

// messageDue is until when a message is held up and, if it is not, by when it arrives;
// Never if nothing bounds that.
func (s *Simulator) messageDue(hold, latest, now time.Duration) time.Duration {
	switch {
	case hold > now:
		return hold
	case s.config.Timing == nil:
		return Never
	}
	return max(latest, now)
}

// Quiet says that no client will do anything any more: all have ended or died.
func (s *Simulator) Quiet(w *World) bool {
	for c := range s.procs {
		if w.procs[c].Dead {
			continue
		}
		for t := range w.procs[c].Threads {
			if w.procs[c].Threads[t].Phase != node.Idle {
				return false
			}
		}
	}
	return true
}
