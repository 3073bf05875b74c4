package simulator

import (
	"errors"
	"time"

	"locklab/simulator/node"
)

// server is what can fail of server n, if it is one to which a fault can happen, and its world.
func (f FaultContext) server(n int8) (k node.Fallible, w node.World, why string) {
	switch {
	case f.s.fallible == nil:
		return nil, nil, "refused.ensemble"
	case n < 1 || int(n) > f.Nodes():
		return nil, nil, "refused.server.unknown"
	}
	return f.s.fallible, f.s.view(f.w), ""
}

// limited keeps a limit that a fault has exceeded, since a refusal would say no more
// than that the fault does not fit, and turns the error into a refusal.
func (f FaultContext) limited(why string, err error) string {
	if err == nil {
		return why
	}
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		f.s.room.Exceeded = err
	}
	return err.Error()
}

// Hang has server n stand still for d. What arrives meanwhile is executed
// afterwards; its clock goes on, and keys expire. With a Timing it may end before, by a
// Resume, and its history does not say how long it is.
func (f FaultContext) Hang(n int8, d time.Duration) (why string) {
	k, w, why := f.server(n)
	if why != "" {
		return why
	}
	return k.Hang(w, n, d, f.s.config.bound(d))
}

// Restart crashes server n, which comes back after d with what it keeps on disk.
// A replica would copy what that has become: until it does, it can still be promoted
// with what it has. With a Timing it may come back before, by a Resume.
func (f FaultContext) Restart(n int8, d time.Duration) (why string) {
	k, w, why := f.server(n)
	if why != "" {
		return why
	}
	return k.Restart(w, n, f.s.config.bound(d))
}

// HasReplica says whether server n has that replica, counted from 0, to promote.
func (f FaultContext) HasReplica(n, replica int) bool {
	k, w, why := f.server(int8(n))
	return why == "" && k.HasReplica(w, int8(n), int8(replica))
}

// Failover puts a replica of server n, counted from 0, in its place, with what it has
// heard of, no cached scripts, and the connections to the old one broken. The other
// replicas become those of the new server, and a new one takes the place of the
// promoted.
func (f FaultContext) Failover(n, replica int8) (why string) {
	k, w, why := f.server(n)
	if why != "" {
		return why
	}
	return k.Failover(w, n, replica)
}

// CanSplit says whether the master of server n can be cut off with client c.
func (f FaultContext) CanSplit(c, n, replica int) bool {
	k, w, why := f.server(int8(n))
	if why != "" || c < 1 || c > len(f.s.procs) {
		return false
	}
	why, err := k.CannotSplit(w, int8(c), int8(n), int8(replica))
	if err != nil {
		f.s.unsaid = err
	}
	return why == "" && err == nil
}

// Split cuts the master of server n off, with client c, and promotes a replica,
// from 0. If that is so already, one more client is cut off with it.
func (f FaultContext) Split(c, n, replica int8) (why string) {
	k, w, why := f.server(n)
	switch {
	case why != "":
		return why
	case c < 1 || int(c) > len(f.s.procs):
		return "refused.client.unknown"
	}
	return f.limited(k.Split(w, c, n, replica))
}

// StepNodeClock moves the clock of server n by d, and with it the end of every
// key that has one. A key that ends at the instant to which it jumps still stands, if standing;
// that needs a Timing.
func (f FaultContext) StepNodeClock(n int8, d time.Duration, standing bool) (why string) {
	k, w, why := f.server(n)
	switch {
	case why != "":
		return why
	case standing && f.s.config.Timing == nil:
		return "refused.standing"
	}
	return k.StepClock(w, n, d, standing)
}

// JumpsToEnd says whether a key of server n ends at the instant to which its clock comes by
// a jump by d, so that it may still stand then. Without a Timing it does not.
func (f FaultContext) JumpsToEnd(n int, d time.Duration) bool {
	k, w, why := f.server(int8(n))
	return why == "" && f.s.config.Timing != nil && k.JumpsToEnd(w, int8(n), d)
}

// Keys calls yield for the keys of server n, in the order of their names, and
// says of each whether it has a time to live.
func (f FaultContext) Keys(n int, yield func(name string, expires bool)) {
	if k, w, why := f.server(int8(n)); why == "" {
		k.Keys(w, int8(n), yield)
	}
}

// Command has server n execute a command that no client sent; note says why, in the
// history.
func (f FaultContext) Command(n int8, note string, args ...string) (why string) {
	k, w, why := f.server(n)
	if why != "" {
		return why
	}
	return f.limited(k.Command(w, n, note, args...))
}
