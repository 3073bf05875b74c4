package simulator

import (
	"errors"
	"time"

	"locklab/simulator/node"
)

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
