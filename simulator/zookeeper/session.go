package zookeeper

import "slices"

// session is the place of a session among those that have not ended.
func (s *State) session(id SessionID) (int, bool) { return slices.BinarySearch(s.sessions, id) }

// Connect begins a session.
func (s State) Connect() (State, SessionID) {
	s.zxid++
	s.newest++
	s.sessions = append(slices.Clip(s.sessions), s.newest)
	return s, s.newest
}

// Disconnect is s after session's connection broke. The session goes on, but
// nothing can be sent to it, so the server discards its watches.
func (s State) Disconnect(id SessionID) State {
	s.watches = slices.DeleteFunc(slices.Clone(s.watches), func(w watch) bool { return w.session == id })
	return s
}

// reconnect is the same session on a new connection. The client hands in the watches that it still waits for; what
// has missed something fires at once (see handIn), and the rest is left
// with the server again. A znode that was created and deleted in the meantime is
// missed ("Semantics of Watches"). It answers SessionExpired if the session has
// ended.
func (s State) reconnect(id SessionID, watches []Watch, missed func(at int, is stamp) bool) (State, Code, []Event) {
	if !s.Alive(id) {
		return s, SessionExpired, nil
	}
	s, fired := s.Disconnect(id).handIn(id, watches, missed) // whatever the old connection had left is gone
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

// Close ends a session, at its own request or because nothing was received from it for its time-out, in one
// transaction: its ephemerals and watches go. It answers SessionExpired if the session has ended before.
func (s State) Close(id SessionID) (State, Code, []Event) {
	i, ok := s.session(id)
	if !ok {
		return s, SessionExpired, nil
	}
	s.zxid++
	s = s.Disconnect(id)
	s.sessions = slices.Delete(slices.Clone(s.sessions), i, i+1)
	var fired []Event
	mine := func(n znode) bool { return n.owner == id }
	for i := slices.IndexFunc(s.nodes, mine); i >= 0; i = slices.IndexFunc(s.nodes, mine) {
		s, fired = s.remove(i, fired)
	}
	return s, OK, fired
}

// Alone is s without its sessions, as if all had closed.
func (s State) Alone() State {
	for len(s.sessions) > 0 {
		s, _, _ = s.Close(s.sessions[0])
	}
	return s
}

// Alive reports whether the session has not ended.
func (s State) Alive(id SessionID) bool {
	_, ok := s.session(id)
	return ok
}
