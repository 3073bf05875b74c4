package simulator

import (
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// Enabled appends to buf everything that may happen next in w, in a fixed order: what can happen at once, then the
// passing of time up to the next deadline, then the faults. Time may also pass by less than the listed D, and by
// anything up to 100 years after the start if there is no deadline; with a Timing also so that what ends then still
// stands (see Standing), which is not listed.
func (s *Simulator) Enabled(w *World, buf []Choice) []Choice {
	v := s.view(w)
	for c := range s.clients.procs {
		buf = s.clients.enabled(&w.procs[c], int8(c+1), buf)
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
	for i := range s.config.Faults {
		if f := &s.config.Faults[i]; w.budget[i] > 0 {
			buf = f.Fault.Choices(FaultContext{s.view(w), f}, buf)
		}
	}
	return buf
}

// NextDeadline is the next true time, not before now, at which something is due: a sleep or a pause ends, a client
// gives up waiting, a key expires. Never if nothing is. Time cannot pass beyond it.
func (s *Simulator) NextDeadline(w *World) time.Duration {
	due := s.config.Timing.orphansDue(*s.orphans.At(w.orphans))
	for c := range s.clients.procs {
		due = min(due, s.clients.due(&w.procs[c], int8(c+1)))
	}
	next := s.serversDue(w)
	if due != Never {
		next = min(next, w.now+due)
	}
	if next > clock.EndOfTime {
		return Never
	}
	return max(next, w.now)
}

// Quiet says that no client will do anything any more: all have ended or died.
func (s *Simulator) Quiet(w *World) bool {
	for c := range s.clients.procs {
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

// A Choice is one thing that may happen next, and a Verb says what it does.
type (
	Choice = node.Choice
	Verb   = node.Verb
)

// The ordinary course of things; see package node. Faults use verbs of their own, from FaultVerb on.
const (
	Pass      = node.Pass
	Arrive    = node.Arrive
	Answer    = node.Answer
	Wake      = node.Wake
	GiveUp    = node.GiveUp
	Resume    = node.Resume
	Orphaned  = node.Orphaned
	Replicate = node.Replicate
	Start     = node.Start
	Unblock   = node.Unblock
	Heal      = node.Heal
	Deliver   = node.Deliver
	Reconnect = node.Reconnect
	Survive   = node.Survive
	Choose    = node.Choose
	End       = node.End

	FaultVerb = node.FaultVerb
)

// Pending is the Thread of a Pass by which what ends then still stands; see package node.
const Pending = node.Pending

// FaultsIn returns the number of choices that inject a fault.
func FaultsIn(choices []Choice) (n int) {
	for _, c := range choices {
		if c.Verb >= FaultVerb {
			n++
		}
	}
	return n
}

// NotEnabledError is a choice that cannot happen in the world it was made in.
type NotEnabledError struct {
	Choice string
	At     time.Duration // true time
	Why    i18n.Message
}

func (e *NotEnabledError) Error() string { return "simulator: " + e.Message().String() }

// Message implements i18n.Error.
func (e *NotEnabledError) Message() i18n.Message {
	return i18n.New("error.notenabled", "choice", e.Choice, "time", e.At, "why", e.Why)
}

// Describe is a choice in words.
func (s *Simulator) Describe(c Choice) string {
	for _, f := range s.config.Faults {
		if f.Fault.Verb == c.Verb {
			return c.Text(f.Fault.Name)
		}
	}
	return c.String()
}
