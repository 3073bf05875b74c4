package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/node"
)

// A Fault is one kind of fault. It adds choices to Enabled while its budget lasts,
// and makes them happen with the methods of a FaultContext.
type Fault struct {
	Name string // as the fault is typed: "crash"
	Verb Verb   // its own, from FaultVerb on. It stands in traces and never changes
	// Choices appends every way in which the fault can be injected now.
	Choices func(f FaultContext, buf []Choice) []Choice
	// Inject makes c happen. c need not be one that Choices gave: its D is free.
	// "" is done; otherwise the world is untouched, and why is the key of the text that
	// says why.
	Inject func(f FaultContext, c Choice) (why string)

	// Returns: it has clients return. Where a budget allows one, it makes a difference what a
	// client that has died had done.
	Returns bool
	// Rewinds: it may set the clocks of servers back, which others are refused. Where a budget allows none, it makes no difference
	// how long ago a key of a replica, or of a disk, has come to its end.
	Rewinds bool
	// Punctual: it breaks no connection and holds up no message and no thread of a client that
	// lives on.
	Punctual bool
	// Clientside: it strikes clients and messages only: no server loses data, and none is
	// replaced by a replica.
	Clientside bool
}

// inject spends the budget of the i-th fault.
func (v *view) inject(i int, c Choice) error {
	f := &v.s.config.Faults[i]
	switch {
	case v.w.budget[i] == 0:
		return v.refuse(c, "refused.budget.spent")
	case f.Max > 0 && (c.D > f.Max || c.D < -f.Max):
		return v.refuse(c, "refused.budget.size", "max", f.Max)
	}
	before := len(v.s.events)
	if why := f.Fault.Inject(FaultContext{v, f}, c); why != "" {
		v.s.events = v.s.events[:before]
		return v.refuse(c, why)
	}
	v.w.budget[i]--
	return nil
}

// A FaultContext is a world in which a fault is injected, and what faults can strike there: a
// [ClientTarget], a [ThreadTarget] or a [ServerTarget]. Each has its file, and all that a fault can
// do to it. A method that returns a text has done nothing, for the reason given; "": it is done.
type FaultContext struct {
	v      *view
	budget *FaultBudget
}

// World is the present world.
func (f FaultContext) World() *World { return f.v.w }

// Tell adds to the history that the fault strikes. Only a fault of which the events of
// its effects do not tell enough needs it, and calls it before the effects; the history
// forgets it if Inject then returns why nothing happens. e says which Client, Thread or
// Node is struck, how long or how far (D), and may have a Note; Tell fills in the rest.
func (f FaultContext) Tell(e history.Event) {
	e.At, e.Kind, e.Fault = f.v.w.now, history.Fault, f.budget.Fault.Name
	if e.Client > 0 && e.Client <= len(f.v.s.clients.procs) {
		e.Skew = f.v.skew(&f.v.w.procs[e.Client-1])
	}
	f.v.s.events = append(f.v.s.events, e)
}

// Clients calls yield for each client.
func (f FaultContext) Clients(yield func(c ClientTarget) bool) {
	for c := range f.v.s.clients.procs {
		if !yield(ClientTarget{f, c + 1}) {
			return
		}
	}
}

// Servers calls yield for each server to which a fault can happen: none, if they are of a kind
// that cannot fail.
func (f FaultContext) Servers(yield func(n ServerTarget) bool) {
	for n := range f.v.s.config.Nodes {
		if f.v.s.fallible == nil || !yield(ServerTarget{f, n + 1}) {
			return
		}
	}
}

// Requests calls yield for each thread with a request on its way for whose answer it waits.
func (f FaultContext) Requests(yield func(t ThreadTarget) bool) { f.messages(node.Asking, yield) }

// Replies calls yield for each thread that waits for a reply on its way.
func (f FaultContext) Replies(yield func(t ThreadTarget) bool) { f.messages(node.Answered, yield) }

func (f FaultContext) messages(ph node.Phase, yield func(t ThreadTarget) bool) {
	for c := range f.v.s.clients.procs {
		for t := range MaxThreads {
			if m := (ThreadTarget{f, c + 1, t}); m.onTheWay(ph) && !yield(m) {
				return
			}
		}
	}
}

// Client, Thread and Server are what a choice strikes: a client and a server count from 1, a
// thread from 0, the main one. They need not exist.
func (f FaultContext) Client(c int8) ClientTarget    { return ClientTarget{f, int(c)} }
func (f FaultContext) Thread(c, t int8) ThreadTarget { return ThreadTarget{f, int(c), int(t)} }
func (f FaultContext) Server(n int8) ServerTarget    { return ServerTarget{f, int(n)} }

// Max is the longest or largest injection that the budget of the fault allows; 0: any.
func (f FaultContext) Max() time.Duration { return f.budget.Max }

// Jumps calls yield for the sizes of a jump, forward and back, that the budget allows and a
// search is to try: the largest or, with steps, every whole number of them up to it (of less
// than a step: itself). None if the budget has no size: every one would be as good.
func (f FaultContext) Jumps(yield func(d time.Duration) bool) {
	largest, step := f.Max(), f.v.s.config.Timing.step()
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

// notice has the servers notice what happens to a client.
func (f FaultContext) notice(what node.What, c, t int) {
	if err := f.v.notice(what, int8(c), int8(t)); err != nil && f.v.s.room.Exceeded == nil {
		f.v.s.room.Exceeded = err
	}
}
