package simulator

import (
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// Enabled appends to buf everything that may happen next in w, in a fixed order:
// what can happen at once, then the passing of time up to the next deadline, then
// the faults. Time may also pass by less than the listed D, and by anything up to
// 100 years after the start if there is no deadline.
func (s *Simulator) Enabled(w *World, buf []Choice) []Choice {
	v := s.view(w)
	for c := range s.procs {
		buf = clientEnabled(&w.procs[c], w.now, int8(c+1), buf)
		buf = s.servers.Ready(v, int8(c+1), buf)
		buf = s.servers.told(v, int8(c+1), buf)
	}
	if w.orphans != 0 {
		buf = s.orphansEnabled(w, buf)
	}
	buf = s.servers.enabled(w, buf)
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
func clientEnabled(p *node.Client, now time.Duration, c int8, buf []Choice) []Choice {
	switch {
	case p.Dead:
		return buf
	case p.Paused:
		return pausedEnabled(p, now, c, buf)
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		ch := Choice{Client: c, Thread: int8(t)}
		switch held := th.Hold > now; {
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
		if th.Phase.Waiting() && th.Due <= now {
			buf = append(buf, Choice{Verb: GiveUp, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// pausedEnabled is clientEnabled for a client that is paused. The network goes on:
// its requests arrive.
func pausedEnabled(p *node.Client, now time.Duration, c int8, buf []Choice) []Choice {
	if p.Open || p.Until <= now {
		buf = append(buf, Choice{Verb: Resume, Client: c})
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		switch {
		case th.Hold > now:
		case th.Phase == node.Asking:
			buf = append(buf, Choice{Verb: Arrive, Client: c, Thread: int8(t)})
		case th.Phase == node.Blocked:
			buf = append(buf, Choice{Verb: Unblock, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// NextDeadline is the next true time, not before now, at which something is due: a
// sleep or a pause ends, a client gives up waiting, a key expires. Never if nothing
// is. Time cannot pass beyond it.
func (s *Simulator) NextDeadline(w *World) time.Duration {
	next := Never
	for c := range s.procs {
		next = min(next, clientDue(&w.procs[c], w.now))
	}
	orphans := s.orphans.lists[w.orphans]
	for i := range orphans {
		if orphans[i].Hold > w.now {
			next = min(next, orphans[i].Hold)
		}
	}
	next = min(next, s.servers.due(w))
	if next > clock.EndOfTime {
		return Never
	}
	return max(next, w.now)
}

// clientDue is when the next thing of a client's own is due; Never if nothing is.
// While it is paused the network and the servers go on.
func clientDue(p *node.Client, now time.Duration) time.Duration {
	next := Never
	if p.Paused {
		next = p.Until
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		if !p.Paused && (th.Phase == node.Asleep || th.Phase.Waiting()) {
			next = min(next, th.Due)
		}
		if th.Phase == node.Blocked || th.Hold > now {
			next = min(next, th.Hold)
		}
	}
	return next
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
