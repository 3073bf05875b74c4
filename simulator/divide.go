package simulator

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A part of the rest belongs to a client: its requests that are under way although it does not wait for them any more.
// The budget of faults and the resource belong to no client.

// DeadPart is the part of a client that has died.
func DeadPart() ClientPart { return ClientPart{node.ClientProcess{Dead: true}} }

// OrphansOf returns the orphaned requests of client c, from 1, with nothing else.
func (ps Parts) OrphansOf(r *RestPart, c int) RestPart {
	return RestPart{orphans: ps.s.changed(r.orphans, func(list []node.Orphan) []node.Orphan {
		return slices.DeleteFunc(list, func(o node.Orphan) bool { return int(o.From) != c })
	})}
}

// Connected reports whether servers keep of connections what matters to their clients only; see node.Connected.
func (ps Parts) Connected() bool {
	_, ok := ps.s.kind.(node.Connected)
	return ok
}

// ConnectionsOf returns what a server keeps of the connections of client c, from 1, with nothing else.
func (ps Parts) ConnectionsOf(p NodePart, c int) NodePart {
	return NodePart{ps.s.kind.(node.Connected).ConnectionsOf(p.s, int8(c))}
}

// WithoutConnections is a server without what it keeps of clients' connections.
func (ps Parts) WithoutConnections(p NodePart) NodePart {
	return NodePart{ps.s.kind.(node.Connected).WithoutConnections(p.s)}
}

// WithConnections is a server with what another one keeps of them as well.
func (ps Parts) WithConnections(p, other NodePart) NodePart {
	return NodePart{ps.s.kind.(node.Connected).WithConnections(p.s, other.s)}
}

// Senders are the clients whose requests are under way though they do not wait for them.
func (ps Parts) Senders(r *RestPart) (names history.ClientSet) {
	for _, o := range *ps.s.orphans.At(r.orphans) {
		names.Add(uint8(o.From))
	}
	return names
}

// WithoutOrphans is the rest without any request under way, and with a resource that counts from 0.
func (r RestPart) WithoutOrphans() RestPart {
	r.orphans, r.resource.version = 0, 0
	return r
}

// WithOrphans is the rest with those of another one as well.
func (ps Parts) WithOrphans(r RestPart, other *RestPart) RestPart {
	more := *ps.s.orphans.At(other.orphans)
	r.orphans = ps.s.changed(r.orphans, func(list []node.Orphan) []node.Orphan {
		list = append(list, more...)
		slices.SortFunc(list, compareOrphans)
		return list
	})
	return r
}

// Orphaned reports whether a request is under way for which no client waits.
func (r *RestPart) Orphaned() bool { return r.orphans != 0 }

// WithBudgetOf is the rest with the faults that another one has left.
func (r RestPart) WithBudgetOf(other *RestPart) RestPart {
	r.budget = other.budget
	return r
}

// Ended reports whether the client has died, or all of its threads have come to their ends.
func (p *ClientPart) Ended() bool {
	for t := range p.s.Threads {
		if p.s.Threads[t].Phase != node.Idle {
			return p.s.Dead
		}
	}
	return !p.s.Paused || p.s.Dead
}

// A Rest is that of a client's main thread between two attempts.
type Rest struct {
	Stage int  // of the attempt that comes next; 0: it does not rest, or is dead
	Busy  bool // another thread goes on
	Kept  bool // it may remember something of what it has observed
	Drawn bool // it has drawn a token
}

// RestOf returns the rest of client c, from 1.
func (ps Parts) RestOf(c int, part *ClientPart) (r Rest) {
	e := ps.s.clients.procs[c-1].At(part.s.At)
	if part.s.Dead || e.Ops[0].Kind != process.Begin {
		return r
	}
	works := func(t node.Thread) bool { return t.Phase != node.Idle }
	busy := part.s.Paused || slices.ContainsFunc(part.s.Threads[1:], works)
	return Rest{Stage: int(e.Ops[0].Arg), Busy: busy, Kept: part.s.At != e.Parent, Drawn: e.Tokens > 0}
}
