package simulator

import (
	"cmp"
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
	// The error is a *node.Refused if the world is untouched; after any other it is of no use.
	Inject func(f FaultContext, c Choice) error

	// Living: it strikes the Client of its choices, a thread of it or a message: one not killed, else it is refused.
	Living bool
	// Returns: it has clients return. Where a budget allows one, it matters what a client that has died had done.
	Returns bool
	// Rewinds: it may set the clocks of servers back, which others are refused. Where a budget allows none, it makes no
	// difference how long ago a key of a replica, or of a disk, has come to its end.
	Rewinds bool
	// Punctual: it breaks no connection and holds up no message and no thread of a client that lives on.
	Punctual bool
	// Clientside: it strikes clients and messages only: no server loses data, and none is replaced by a replica.
	Clientside bool
}

// inject spends the budget of the i-th fault.
func (v *view) inject(i int, c Choice) error {
	f := &v.s.config.Faults[i]
	switch {
	case v.w.budget[i] == 0:
		return node.Refuse("refused.budget.spent")
	case f.Max > 0 && (c.D > f.Max || c.D < -f.Max):
		return node.Refuse("refused.budget.size", "max", f.Max)
	}
	if f.Fault.Living {
		if client := (FaultContext{v, f}).Client(c.Client); client.known() != nil {
			return client.known()
		} else if !client.Alive() {
			return node.Refuse("refused.client.dead")
		}
	}
	before := len(v.s.events)
	if err := f.Fault.Inject(FaultContext{v, f}, c); err != nil {
		v.s.events = v.s.events[:before]
		return err
	}
	v.w.budget[i]--
	return nil
}

// A FaultContext is a world in which a fault is injected, and what faults can strike there: a
// [ClientTarget], a [ThreadTarget] or a [ServerTarget]. Each has its file, and all that a fault can
// do to it. A method that returns a *node.Refused has done nothing.
type FaultContext struct {
	v      *view
	budget *FaultBudget
}

// World is the present world.
func (f FaultContext) World() *World { return f.v.w }

// Record adds to the history that the fault strikes. Only a fault of which the events of its effects do not tell enough
// needs it, and calls it before the effects; the history forgets it if Inject then returns why nothing happens. e says
// which Client, Thread or Node is struck, how long or how far (D), and may have a Note; Record fills in the rest.
func (f FaultContext) Record(e history.Event) {
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

// Servers calls yield for each server to which a fault can happen: none, if they are of a kind that cannot fail.
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
	for c := range f.Clients {
		for _, t := range c.threads() {
			if t.onTheWay(ph) && !yield(t) {
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

// A ServerTarget is a server that a fault may strike.
type ServerTarget struct {
	f  FaultContext
	ID int // from 1
}

// Choice is the choice that strikes the server by a fault's verb.
func (n ServerTarget) Choice(v Verb) Choice { return Choice{Verb: v, Node: int8(n.ID)} }

// known is nil if there is such a server, and faults can happen to it.
func (n ServerTarget) known() error {
	switch {
	case n.f.v.s.fallible == nil:
		return node.Refuse("refused.ensemble")
	case n.ID < 1 || n.ID > len(n.f.v.s.config.Nodes):
		return node.Refuse("refused.server.unknown")
	}
	return nil
}

// state is that of a server that is known.
func (n ServerTarget) state() node.State { return n.f.v.w.servers[n.ID-1] }

// strike has a fault happen to the server.
func (n ServerTarget) strike(e node.Input) error {
	if err := n.known(); err != nil {
		return err
	}
	e.Choice.Node = int8(n.ID)
	return n.f.v.happen(e)
}

// Exists reports whether there is such a server, and faults can happen to it.
func (n ServerTarget) Exists() bool { return n.known() == nil }

// Running reports whether the server is neither down nor hung.
func (n ServerTarget) Running() bool { return !n.Down() && !n.f.v.w.Hung(n.ID) }

// Down reports whether the server has crashed and is not back.
func (n ServerTarget) Down() bool { return n.f.v.w.Down(n.ID) }

// Hang has the server stand still for d. What arrives meanwhile is executed afterwards; its clock goes on, and keys
// expire. With a Timing it may end before, by a Resume, and its history does not say how long it is.
func (n ServerTarget) Hang(d time.Duration) error {
	if d <= 0 && n.Exists() {
		return node.Refuse("refused.hang.length")
	}
	return n.strike(node.Input{What: node.Hang, Choice: Choice{D: n.f.v.s.config.Timing.bound(d)}})
}

// Restart crashes the server, which comes back after d with what it keeps on disk. A replica would copy what that has
// become: until it does, it can still be promoted with what it has. With a Timing it may come back before, by a Resume.
func (n ServerTarget) Restart(d time.Duration) error {
	return n.strike(node.Input{What: node.Restart, Choice: Choice{D: n.f.v.s.config.Timing.bound(d)}})
}

// HasReplica reports whether the server has that replica, counted from 0, to promote.
func (n ServerTarget) HasReplica(replica int) bool {
	return n.Exists() && n.f.v.s.fallible.HasReplica(n.state(), int8(n.ID), int8(replica))
}

// Failover puts a replica of the server, counted from 0, in its place, with what it received, no cached scripts, and
// connections to the old one broken. Other replicas become the new server's, and a new one replaces the promoted.
func (n ServerTarget) Failover(replica int8) error {
	return n.strike(node.Input{What: node.Failover, Choice: Choice{Thread: replica}})
}

// CanSplit reports whether the server's master can be cut off with client c.
func (n ServerTarget) CanSplit(c ClientTarget, replica int) bool {
	if !n.Exists() {
		return false
	}
	err := n.f.v.s.fallible.CannotSplit(n.state(), int8(c.ID), int8(n.ID), int8(replica))
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		n.f.v.s.unoffered = err
	}
	return err == nil
}

// Split cuts the server's master off, with client c, and promotes a replica, from 0. If it is split, c is cut off too.
func (n ServerTarget) Split(c ClientTarget, replica int8) error {
	if err := cmp.Or(n.known(), c.known()); err != nil {
		return err
	}
	return n.strike(node.Input{What: node.Split, Choice: Choice{Client: int8(c.ID), Thread: replica}})
}

// StepClock moves the server's clock by d, and with it the ends of its keys. With pending a key that ends at the
// instant to which the clock jumps has not ended yet; that needs a Timing. Only a fault that Rewinds sets it back.
func (n ServerTarget) StepClock(d time.Duration, pending bool) error {
	switch err := n.known(); {
	case err != nil:
		return err
	case pending && n.f.v.s.config.Timing == nil:
		return node.Refuse("refused.standing")
	case d < 0 && !n.f.budget.Fault.Rewinds:
		return node.Refuse("refused.rewind")
	}
	return n.strike(node.Input{What: node.StepClock, Choice: Choice{D: d}, Pending: pending})
}

// JumpsToEnd reports whether a key of the server ends at the instant to which its clock comes by
// a jump by d, so that its end may be pending then. Without a Timing it does not.
func (n ServerTarget) JumpsToEnd(d time.Duration) bool {
	return n.Exists() && n.f.v.s.config.Timing != nil && n.f.v.s.fallible.JumpsToEnd(n.f.v.w.now, n.state(), d)
}

// Keys calls yield for the keys of the server, in the order of names, and says of each whether it has a time to live.
func (n ServerTarget) Keys(yield func(name string, expires bool)) {
	if n.Exists() {
		n.f.v.s.fallible.Keys(n.f.v.w.now, n.state(), func(name string, expires bool, _ time.Duration) {
			yield(name, expires)
		})
	}
}

// Command has the server execute a command that no client sent; note says why, in the history.
func (n ServerTarget) Command(note string, args ...string) error {
	return n.strike(node.Input{What: node.Command, Command: args, Note: note})
}
