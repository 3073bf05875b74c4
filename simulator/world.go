package simulator

import (
	"errors"
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
)

// Limits of one world. They keep a World a plain value; New refuses a Config that exceeds the first four. A world that
// needs more of the others ends with a *LimitError.
const (
	MaxClients  = node.MaxClients       // client processes
	MaxNodes    = node.MaxNodes         // servers
	MaxReplicas = redisnode.MaxReplicas // of one server
	MaxFaults   = 16                    // kinds of fault
	MaxSkews    = 127                   // by which a client's clock may be ahead at the start

	MaxThreads = process.MaxThreads // threads of one process: its main thread, running timers and parallel tasks
)

// Never is later than everything.
const Never = clock.Never

// Epoch is the wall-clock reading of a right clock at the start of a run.
var Epoch = clock.Epoch

// StampBase is a client's first clock reading, up to a grain (Traits.Grain), where time stamps count from the present.
var StampBase = Epoch.Add(clock.StampBase)

// A LimitError is something that the simulator has no room for. Nothing is left out in its place: a run that meets it
// has no outcome, and a search that meets it is not complete.
type LimitError = intern.LimitError

// NondeterministicError is client code that did two different things after the same observations.
type NondeterministicError = process.NondeterministicError

// A World is everything that is, at one instant. It is a value: assign it to keep it, compare it with ==. Its numbers
// name entries of its Simulator's tables, so it means something to the Simulator that made it, to no other.
type World struct {
	now      time.Duration // true time since the start
	procs    [MaxClients]node.ClientProcess
	servers  [MaxNodes]node.State
	orphans  uint32 // a list of the orphanTable
	sent     uint32 // messages so far; numbers them in the history
	tables   uint32 // how often the tables had been emptied whose entries it names
	resource resourceState
	budget   [MaxFaults]uint8 // what is left of each fault, in the Config's order
}

// Now is the true time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Alive reports whether client c, from 1, has not been killed.
func (w *World) Alive(c int) bool { return !w.procs[c-1].Dead }

// Paused reports whether client c, from 1, is paused.
func (w *World) Paused(c int) bool { return w.procs[c-1].Paused }

// condition returns the condition of server n, from 1, after faults; the zero value if n is not known.
func (w *World) condition(n int) (is node.Condition) {
	if s := w.servers[n-1]; s != nil {
		is = s.Condition()
	}
	return is
}

// Behind reports whether a replica of server n, from 1, or its disk lacks something.
func (w *World) Behind(n int) bool { return w.condition(n).Behind }

// Down reports whether server n, from 1, has crashed and is not back.
func (w *World) Down(n int) bool { return w.condition(n).Down }

// Hung reports whether server n, from 1, stands still.
func (w *World) Hung(n int) bool { return w.condition(n).Hung }

// Budget returns the injections that are left of the i-th fault of the Config.
func (w *World) Budget(i int) int { return int(w.budget[i]) }

// The protected resource is a remote register that counts accepted writes and refuses those too late for its guard.
//
// Naive accepts all. Fenced refuses a token lower than the highest it has seen, in reads and writes alike (Kleppmann
// 2016). CompareAndSet refuses a write that does not build on the newest version, and needs no token. (Sanfilippo 2016:
// a random token, which the holder sets before it works and compares when it writes. There the holder registers by
// that; here it does by a read, as any accepted write makes what was read before it too old. Unlike there, a read alone
// shuts no other client out: of two that have read the same, the first to write wins, whichever has the lock.) Once
// takes one write, as a unique key does. What is no lock has one of the last three (lock.Guard), and its statement
// takes and refuses the same on a database.

// resourceState is the resource in a World.
type resourceState struct {
	version int32
	highest uint64 // highest fencing token seen; 0 unless it checks them, so that equal futures are equal states
}

// ErrRefused is a write that the resource's guard refused.
var ErrRefused = errors.New("simulator: write refused: it comes too late")

// Read reads the resource and returns its version. token 0 is no fencing token. An error means that no answer arrived.
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

// readInside reports whether client c, as it stands at an entry, is inside and has read a version there.
func (all *clients) readInside(c int8, e *process.Entry, version int32) bool {
	for e.Inside {
		parent := all.procs[c-1].At(e.Parent)
		read := e.Seen.Kind == process.Replied && parent.Ops[e.Seen.Thread].Kind == process.Read
		if read && e.Seen.Val == int64(version) {
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
	onVersion := func(o process.Op) bool { return o.Kind == process.Read || o.Kind == process.Write }
	return e.Inside || slices.ContainsFunc(e.Ops[:], onVersion)
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

// serve is the resource's side. The answer is the version for a read, and 1 or 0 (accepted, refused) for a write.
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
