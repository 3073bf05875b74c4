package simulator

import (
	"errors"
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// The protected resource is a register across the network that counts its
// accepted writes, and refuses those that come too late for its guard.
//
// Naive accepts all. Fenced refuses a token lower than the highest it has seen, in
// reads and writes alike (Kleppmann 2016). CompareAndSet refuses a write that does
// not build on the newest version, and needs no token. (Sanfilippo 2016: a random
// token, which the holder sets before it works and compares when it writes. There
// the holder registers by that; here it does by a read, as any accepted write makes
// what was read before it too old. Unlike there, a read alone shuts no other client
// out: of two that have read the same, the first to write wins, whichever has the
// lock.) Once takes one write, as a unique key does. What is no lock has one of the last three
// (lock.Guard), and its statement takes and refuses the same on a database.

// resourceState is the resource in a World.
type resourceState struct {
	version int32
	highest uint64 // highest fencing token seen; 0 unless it checks them, so that equal futures are equal states
}

// ErrRefused is a write that the resource's guard refused.
var ErrRefused = errors.New("simulator: write refused: it comes too late")

// Read reads the resource and returns the version it saw. token 0 is no
// fencing token. An error means that the answer did not arrive.
func (c *Client) Read(token uint64) (version int, err error) {
	s := c.MustAsk(process.Op{Kind: process.Read, Node: history.Resource, Token: token})
	return int(s.Val), s.Err("read")
}

// Write writes the resource; base is the version that the write builds on. The
// error is ErrRefused if it was refused; any other leaves the outcome open.
func (c *Client) Write(base int, token uint64) error {
	s := c.MustAsk(process.Op{Kind: process.Write, Node: history.Resource, Base: int32(base), Token: token})
	if s.Kind == process.Replied && s.Val == 0 {
		return ErrRefused
	}
	return s.Err("write")
}

// readInside reports whether client c, as it stands at an entry, is inside and has read a
// version there.
func (all *clients) readInside(c int8, e *process.Entry, version int32) bool {
	for e.Inside {
		parent := all.procs[c-1].At(e.Parent)
		if e.Seen.Kind == process.Replied && e.Seen.Val == int64(version) && parent.Ops[e.Seen.Thread].Kind == process.Read {
			return true
		}
		e = parent
	}
	return false
}

// OnVersion reports whether client c may yet write on the basis of a version that it has read:
// it is inside, or reads or writes. See Traits.OldBases.
func (ps Parts) OnVersion(c int, part *ClientPart) bool {
	if part.s.Dead {
		return false
	}
	e := ps.s.clients.procs[c-1].At(part.s.At)
	return e.Inside || slices.ContainsFunc(e.Ops[:], func(o process.Op) bool { return o.Kind == process.Read || o.Kind == process.Write })
}

// OrphanedOnVersion reports whether an orphaned request to the resource is in flight.
func (ps Parts) OrphanedOnVersion(r *RestPart) bool {
	return slices.ContainsFunc(*ps.s.orphans.At(r.orphans), func(o node.Orphan) bool { return !o.Op.Kind.ToServer() })
}

// WithoutVersion is the rest with a resource that counts from 0 again.
func (r RestPart) WithoutVersion() RestPart {
	r.resource.version = 0
	return r
}

// serve is the resource's side. The answer is the version for a read, and 1 or
// 0 (accepted, refused) for a write.
func (r *resourceState) serve(o *process.Op, guard history.Guard, e *history.Event) (answer int64) {
	e.Token = o.Token
	accepted := true
	switch guard {
	case history.Fenced:
		accepted = o.Token >= r.highest
		r.highest = max(r.highest, o.Token)
	case history.CompareAndSet:
		accepted = o.Base == r.version
	case history.Once:
		accepted = r.version == 0
	}
	if o.Kind == process.Read {
		e.Kind, e.Version = history.Read, int(r.version)
		return int64(r.version)
	}
	if accepted {
		r.version++
		answer = 1
	}
	e.Kind, e.OK, e.Version, e.Base = history.Write, accepted, int(r.version), int(o.Base)
	return answer
}
