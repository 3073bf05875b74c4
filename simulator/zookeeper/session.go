package zookeeper

import (
	"cmp"
	"slices"
	"time"
)

// A session is a client's, which lasts while the server receives something from it often
// enough.
type session struct {
	id      SessionID
	timeout time.Duration
	last    time.Duration // when the server last received something from it, by the server's clock
}

func (x *session) deadline() time.Duration { return x.last + x.timeout }

func (s *State) session(id SessionID) (int, bool) {
	return slices.BinarySearchFunc(s.sessions, id, func(x session, id SessionID) int { return cmp.Compare(x.id, id) })
}

// receivedFrom is s in which the server has received something from the session in place i at now. Every
// request counts, not only a ping ("ZooKeeper Sessions").
func (s State) receivedFrom(i int, now time.Duration) State {
	if s.sessions[i].last != now {
		s.sessions = slices.Clone(s.sessions)
		s.sessions[i].last = now
	}
	return s
}

// Connect begins a session at now on the server's clock. It ends when the server
// has received nothing from it for timeout, above 0.
func (s State) Connect(now, timeout time.Duration) (State, SessionID) {
	s.zxid++
	s.newest++
	s.sessions = append(slices.Clip(s.sessions), session{s.newest, timeout, now})
	return s, s.newest
}

// Disconnect is s after session's connection broke. The session goes on, but
// nothing can be sent to it, so the server discards its watches.
func (s State) Disconnect(id SessionID) State {
	s.watches = slices.DeleteFunc(slices.Clone(s.watches), func(w watch) bool { return w.session == id })
	return s
}

// Reconnect is the same session on a new connection, at now on the server's
// clock. The client hands in the watches that it still waits for and the highest
// zxid it has seen in a reply; what it missed fires at once, and the rest is left
// with the server again. A znode that was created and deleted in the meantime is
// missed ("Semantics of Watches"). It answers SessionExpired if the session has
// ended.
func (s State) Reconnect(now time.Duration, id SessionID, seen int64, watches []Watch) (State, Code, []Event) {
	return s.reconnect(now, id, watches, since(seen))
}

func (s State) reconnect(now time.Duration, id SessionID, watches []Watch, missed func(at int, is stamp) bool) (State, Code, []Event) {
	i, ok := s.session(id)
	if !ok {
		return s, SessionExpired, nil
	}
	s = s.Disconnect(id).receivedFrom(i, now) // whatever the old connection had left is gone
	s, fired := s.handIn(id, watches, missed)
	return s, OK, fired
}

// since says of a watch on a znode that it has missed something after the transaction seen.
func since(seen int64) func(int, stamp) bool {
	return func(_ int, is stamp) bool { return is.changed > seen }
}

// A stamp tells what a watch looks at from what that was before, and from another znode at
// the same path.
type stamp struct {
	created int64 // czxid
	changed int64 // mzxid of a WatchData, pzxid of a WatchChildren
}

func (n *znode) stamp(kind WatchKind) stamp {
	if kind == WatchChildren {
		return stamp{n.czxid, n.pzxid}
	}
	return stamp{n.czxid, n.mzxid}
}

// stamp returns the stamp of what a watch looks at; zero if it is not there.
func (s *State) stamp(w Watch) stamp {
	if i, there := s.find(w.Path); there {
		return s.nodes[i].stamp(w.Kind)
	}
	return stamp{}
}

// handIn is s with the watches that a session's client still waits for, of which those
// fire at once that have missed something: missed says so of a watch, by its place, whose
// znode is there.
func (s State) handIn(id SessionID, watches []Watch, missed func(at int, is stamp) bool) (State, []Event) {
	var fired []Event
	for at, w := range watches {
		event := EventType(0)
		switch n, there := s.find(w.Path); {
		case w.Kind == WatchCreation && there:
			event = NodeCreated
		case w.Kind == WatchCreation:
		case !there:
			event = NodeDeleted
		case !missed(at, s.nodes[n].stamp(w.Kind)):
		case w.Kind == WatchData:
			event = NodeDataChanged
		default:
			event = NodeChildrenChanged
		}
		if event != 0 {
			fired = append(fired, Event{id, event, w.Path})
			continue
		}
		kind := w.Kind
		if kind == WatchCreation {
			kind = WatchData
		}
		s = s.watch(watch{id, w.Path, kind})
	}
	return s, fired
}

// Close ends a session at its own request: its ephemerals and watches go. It
// answers SessionExpired if the session has ended before.
func (s State) Close(id SessionID) (State, Code, []Event) {
	i, ok := s.session(id)
	if !ok {
		return s, SessionExpired, nil
	}
	s, fired := s.end(i, nil)
	return s, OK, fired
}

// Alone is s without its sessions, as if all had closed.
func (s State) Alone() State {
	for len(s.sessions) > 0 {
		s, _, _ = s.Close(s.sessions[0].id)
	}
	return s
}

// end is one transaction that removes the session in place i and all of its.
func (s State) end(i int, fired []Event) (State, []Event) {
	id := s.sessions[i].id
	s.zxid++
	s = s.Disconnect(id)
	s.sessions = slices.Delete(slices.Clone(s.sessions), i, i+1)
	mine := func(n znode) bool { return n.owner == id }
	for i := slices.IndexFunc(s.nodes, mine); i >= 0; i = slices.IndexFunc(s.nodes, mine) {
		s, fired = s.remove(i, fired)
	}
	return s, fired
}

// Expire ends every session that has been silent for its time-out, the
// longest overdue first, and says which those were.
func (s State) Expire(now time.Duration) (State, []SessionID, []Event) {
	var ended []SessionID
	var fired []Event
	for {
		i := s.next()
		if i < 0 || s.sessions[i].deadline() > now {
			return s, ended, fired
		}
		ended = append(ended, s.sessions[i].id)
		s, fired = s.end(i, fired)
	}
}

// Deadline returns when, by the server's clock, the next session ends if all are
// silent; false if there is no session.
func (s State) Deadline() (time.Duration, bool) {
	i := s.next()
	if i < 0 {
		return 0, false
	}
	return s.sessions[i].deadline(), true
}

// next is the place of the session that ends first, or -1.
func (s *State) next() int {
	first := -1
	for i := range s.sessions {
		if first < 0 || s.sessions[i].deadline() < s.sessions[first].deadline() {
			first = i
		}
	}
	return first
}

// Alive reports whether the session has not ended.
func (s State) Alive(id SessionID) bool {
	_, ok := s.session(id)
	return ok
}
