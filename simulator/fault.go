package simulator

import (
	"iter"
	"time"

	"locklab/simulator/history"
)

// A Fault is one kind of fault. It adds choices to Enabled while its budget lasts,
// and makes them happen with the methods of a FaultContext.
type Fault interface {
	// Name is how the fault is typed: "crash".
	Name() string
	// Verb is its own verb, from FaultVerb on. It stands in traces and never changes.
	Verb() Verb
	// Choices appends every way in which the fault can be injected now.
	Choices(f FaultContext, buf []Choice) []Choice
	// Inject makes c happen. c need not be one that Choices gave: its D is free.
	// "" is done; otherwise the world is untouched, and why is the key of the text that
	// says why.
	Inject(f FaultContext, c Choice) (why string)
}

// A Returner is a Fault that has clients return. Where a budget allows one, it makes a
// difference what a client that has died had done.
type Returner interface {
	Fault
	Returns()
}

// A Punctual is a Fault that breaks no connection and holds up no message and no thread
// of a client that lives on.
type Punctual interface {
	Fault
	Punctual()
}

// A Clientside is a Fault that strikes clients and messages only: no server loses data, and
// none is replaced by a replica.
type Clientside interface {
	Fault
	Clientside()
}

// inject spends the budget of the i-th fault.
func (s *Simulator) inject(w *World, i int, c Choice) error {
	f := s.config.Faults[i]
	switch {
	case w.budget[i] == 0:
		return s.refuse(w, c, "refused.budget.spent")
	case f.Max > 0 && (c.D > f.Max || c.D < -f.Max):
		return s.refuse(w, c, "refused.budget.size", "max", f.Max)
	}
	told := len(s.events)
	if why := f.Fault.Inject(FaultContext{s, w, f.Fault}, c); why != "" {
		s.events = s.events[:told]
		return s.refuse(w, c, why)
	}
	w.budget[i]--
	return nil
}

// step is that of the Timing; 0: there is none.
func (c *Config) step() time.Duration {
	if c.Timing == nil {
		return 0
	}
	return c.Timing.Step
}

// bound is how long a fault lasts that may last for d.
func (c *Config) bound(d time.Duration) time.Duration {
	if step := c.step(); step > 0 {
		return d - d%step
	}
	return d
}

// A FaultContext is a world in which a fault is injected, and all that faults can do
// there. Clients and servers count from 1. A method that returns a text has done
// nothing, for the reason given; "": it is done.
//
// The methods stand in files by what they reach: fault_client.go, fault_message.go,
// fault_node.go, fault_session.go.
type FaultContext struct {
	s     *Simulator
	w     *World
	fault Fault
}

// World is the present world.
func (f FaultContext) World() *World { return f.w }

// Tell adds to the history that the fault strikes. Only a fault of which the events of
// its effects do not tell enough needs it, and calls it before the effects; the history
// forgets it if Inject then returns why nothing happens. e says which Client, Thread or
// Node is struck, how long or how far (D), and may have a Note; Tell fills in the rest.
func (f FaultContext) Tell(e history.Event) {
	e.At, e.Kind, e.Fault = f.w.now, history.Fault, f.fault.Name()
	if e.Client > 0 && e.Client <= len(f.s.procs) {
		e.Skew = f.w.procs[e.Client-1].Clock.Read(f.w.now) - f.w.now
	}
	f.s.events = append(f.s.events, e)
}

// Clients is how many clients there are.
func (f FaultContext) Clients() int { return len(f.s.procs) }

// Nodes is how many servers there are to which a fault can happen: none, if they are
// of a kind that cannot fail.
func (f FaultContext) Nodes() int {
	if f.s.fallible == nil {
		return 0
	}
	return len(f.s.config.Nodes)
}

// Jumps calls yield for the sizes of a jump, forward and back, that the budget of verb v
// allows and a search is to try: the largest or, with steps, every whole number of them up
// to it (of less than a step: itself). None if the budget has no size: every one would be
// as good.
func (f FaultContext) Jumps(v Verb) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		largest, step := f.Max(v), f.s.config.step()
		if step > 0 && largest >= step {
			largest -= largest % step
		} else {
			step = largest
		}
		for d := step; d > 0 && d <= largest; d += step {
			if !yield(d) || !yield(-d) {
				return
			}
		}
	}
}

// Max is the longest or largest injection that the budget of verb v allows; 0: any.
func (f FaultContext) Max(v Verb) time.Duration {
	for _, b := range f.s.config.Faults {
		if b.Fault.Verb() == v {
			return b.Max
		}
	}
	return 0
}
