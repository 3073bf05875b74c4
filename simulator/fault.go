package simulator

import (
	"errors"
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
	// Rewinds: it may set the clocks of servers back, which others are refused. Where a budget allows none, it makes no
	// difference how long ago a key of a replica, or of a disk, has come to its end.
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

// A ServerTarget is a server that a fault may strike.
type ServerTarget struct {
	f  FaultContext
	ID int // from 1
}

// Choice is the choice that strikes the server by a fault's verb.
func (n ServerTarget) Choice(v Verb) Choice { return Choice{Verb: v, Node: int8(n.ID)} }

// strike has something happen to the server by its kind, if faults can happen to the server.
func (n ServerTarget) strike(do func(k node.Fallible) (why string)) (why string) {
	switch {
	case n.f.v.s.fallible == nil:
		return "refused.ensemble"
	case n.ID < 1 || n.ID > len(n.f.v.s.config.Nodes):
		return "refused.server.unknown"
	}
	return do(n.f.v.s.fallible)
}

// limited turns an error into a refusal. It keeps the error if that is a limit which the fault has
// exceeded: a refusal would only say that the fault does not fit.
func (n ServerTarget) limited(why string, err error) string {
	if err == nil {
		return why
	}
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		n.f.v.s.room.Exceeded = err
	}
	return err.Error()
}

// Exists reports whether there is such a server, and faults can happen to it.
func (n ServerTarget) Exists() bool {
	return n.strike(func(node.Fallible) string { return "" }) == ""
}

// Running reports whether the server is neither down nor hung.
func (n ServerTarget) Running() bool { return !n.Down() && !n.f.v.w.Hung(n.ID) }

// Down reports whether the server has crashed and is not back.
func (n ServerTarget) Down() bool { return n.f.v.w.Down(n.ID) }

// Hang has the server stand still for d. What arrives meanwhile is executed
// afterwards; its clock goes on, and keys expire. With a Timing it may end before, by a
// Resume, and its history does not say how long it is.
func (n ServerTarget) Hang(d time.Duration) (why string) {
	return n.strike(func(k node.Fallible) string { return k.Hang(n.f.v, int8(n.ID), d, n.f.v.s.config.Timing.bound(d)) })
}

// Restart crashes the server, which comes back after d with what it keeps on disk.
// A replica would copy what that has become: until it does, it can still be promoted
// with what it has. With a Timing it may come back before, by a Resume.
func (n ServerTarget) Restart(d time.Duration) (why string) {
	return n.strike(func(k node.Fallible) string { return k.Restart(n.f.v, int8(n.ID), n.f.v.s.config.Timing.bound(d)) })
}

// HasReplica reports whether the server has that replica, counted from 0, to promote.
func (n ServerTarget) HasReplica(replica int) bool {
	return n.Exists() && n.f.v.s.fallible.HasReplica(n.f.v, int8(n.ID), int8(replica))
}

// Failover puts a replica of the server, counted from 0, in its place, with what it has
// received, no cached scripts, and the connections to the old one broken. The other
// replicas become those of the new server, and a new one takes the place of the
// promoted.
func (n ServerTarget) Failover(replica int8) (why string) {
	return n.strike(func(k node.Fallible) string { return k.Failover(n.f.v, int8(n.ID), replica) })
}

// CanSplit reports whether the server's master can be cut off with client c.
func (n ServerTarget) CanSplit(c ClientTarget, replica int) bool {
	if !n.Exists() {
		return false
	}
	why, err := n.f.v.s.fallible.CannotSplit(n.f.v, int8(c.ID), int8(n.ID), int8(replica))
	if err != nil {
		n.f.v.s.unoffered = err
	}
	return why == "" && err == nil
}

// Split cuts the server's master off, with client c, and promotes a replica,
// from 0. If that is so already, one more client is cut off with it.
func (n ServerTarget) Split(c ClientTarget, replica int8) (why string) {
	return n.strike(func(k node.Fallible) string {
		if why := c.known(); why != "" {
			return why
		}
		return n.limited(k.Split(n.f.v, int8(c.ID), int8(n.ID), replica))
	})
}

// StepClock moves the clock of the server by d, and with it the end of every
// key that has one. With pending a key that ends at the instant to which the clock jumps has not
// ended yet; that needs a Timing. Only a fault that Rewinds sets it back.
func (n ServerTarget) StepClock(d time.Duration, pending bool) (why string) {
	return n.strike(func(k node.Fallible) string {
		if pending && n.f.v.s.config.Timing == nil {
			return "refused.standing"
		}
		if d < 0 && !n.f.budget.Fault.Rewinds {
			return "refused.rewind"
		}
		return k.StepClock(n.f.v, int8(n.ID), d, pending)
	})
}

// JumpsToEnd reports whether a key of the server ends at the instant to which its clock comes by
// a jump by d, so that its end may be pending then. Without a Timing it does not.
func (n ServerTarget) JumpsToEnd(d time.Duration) bool {
	return n.Exists() && n.f.v.s.config.Timing != nil && n.f.v.s.fallible.JumpsToEnd(n.f.v, int8(n.ID), d)
}

// Keys calls yield for the keys of the server, in the order of their names, and
// says of each whether it has a time to live.
func (n ServerTarget) Keys(yield func(name string, expires bool)) {
	if n.Exists() {
		n.f.v.s.fallible.Keys(n.f.v, int8(n.ID), yield)
	}
}

// Command has the server execute a command that no client sent; note says why, in the
// history.
func (n ServerTarget) Command(note string, args ...string) (why string) {
	return n.strike(func(k node.Fallible) string { return n.limited(k.Command(n.f.v, int8(n.ID), note, args...)) })
}
