package zookeeper

import (
	"cmp"
	"slices"
)

// The sessions of a State, and the watches that they have left.

// session is the place of a session among those that have not ended.
func (s *State) session(id SessionID) (int, bool) { return slices.BinarySearch(s.sessions, id) }

// Alive reports whether the session has not ended.
func (s State) Alive(id SessionID) bool {
	_, ok := s.session(id)
	return ok
}

// Connect begins a session.
func (s State) Connect() (State, SessionID) {
	s.zxid++
	s.newest++
	s.sessions = append(slices.Clip(s.sessions), s.newest)
	return s, s.newest
}

// Disconnect is s after session's connection broke. The session goes on without watches: nothing can be sent to it.
func (s State) Disconnect(id SessionID) State {
	c := s.change()
	c.disconnect(id)
	return c.State
}

func (c *change) disconnect(id SessionID) {
	c.watches = slices.DeleteFunc(c.watches, func(w watch) bool { return w.session == id })
}

// Close ends a session, at its own request or because nothing was received from it for its time-out, in one
// transaction: its ephemerals and watches go. It answers SessionExpired if the session has ended before.
func (s State) Close(id SessionID) (State, Code, []Event) {
	c := s.change()
	code := c.close(id)
	return c.State, code, c.fired
}

func (c *change) close(id SessionID) Code {
	at, ok := c.session(id)
	if !ok {
		return SessionExpired
	}
	c.zxid++
	c.disconnect(id)
	c.sessions = slices.Delete(c.sessions, at, at+1)
	for i := 0; i < len(c.nodes); {
		if c.nodes[i].owner == id {
			c.remove(i)
		} else {
			i++
		}
	}
	return OK
}

// Alone is s without its sessions, as if all had closed.
func (s State) Alone() State {
	for len(s.sessions) > 0 {
		s, _, _ = s.Close(s.sessions[0])
	}
	return s
}

// A watch is one as the server remembers it: to it, one on a znode that is not there yet is a WatchData.
type watch struct {
	session SessionID
	Watch
}

func (w watch) compare(o watch) int {
	return cmp.Or(cmp.Compare(w.session, o.session), w.Watch.compare(o.Watch))
}

// leave leaves a watch. A session has at most one of a kind on a path.
func (c *change) leave(id SessionID, left Watch) {
	if left.Kind == WatchCreation {
		left.Kind = WatchData
	}
	w := watch{id, left}
	if i, there := slices.BinarySearchFunc(c.watches, w, watch.compare); !there {
		c.watches = slices.Insert(c.watches, i, w)
	}
}

// fire notifies each session that has left a watch of one of the kinds on path, once, and takes those watches away.
func (c *change) fire(event EventType, path string, kinds ...WatchKind) {
	last := SessionID(0)
	c.watches = slices.DeleteFunc(c.watches, func(w watch) bool {
		hit := w.Path == path && slices.Contains(kinds, w.Kind)
		if hit && w.session != last {
			last = w.session
			c.fired = append(c.fired, Event{w.session, event, path})
		}
		return hit
	})
}

// A stamp tells what a watch looks at from what that was before, and from another znode at the same path.
type stamp struct {
	created int64 // czxid
	changed int64 // mzxid of a WatchData, pzxid of a WatchChildren
}

// stamp returns the stamp of what a watch on a znode looks at.
func (s Stat) stamp(kind WatchKind) stamp {
	if kind == WatchChildren {
		return stamp{s.Czxid, s.Pzxid}
	}
	return stamp{s.Czxid, s.Mzxid}
}

// handIn leaves the watches that a session's client still waits for, but for those that have missed something, which
// fire at once: missed says so of a watch, by its place, whose znode is there. A znode that was created and deleted in
// the meantime is missed ("Semantics of Watches").
func (c *change) handIn(id SessionID, watches []Watch, missed func(at int, is stamp) bool) {
	for at, w := range watches {
		event := EventType(0)
		switch n, there := c.find(w.Path); {
		case w.Kind == WatchCreation && there:
			event = NodeCreated
		case w.Kind == WatchCreation:
		case !there:
			event = NodeDeleted
		case !missed(at, c.stat(&c.nodes[n]).stamp(w.Kind)):
		case w.Kind == WatchData:
			event = NodeDataChanged
		default:
			event = NodeChildrenChanged
		}
		if event != 0 {
			c.fired = append(c.fired, Event{id, event, w.Path})
		} else {
			c.leave(id, w)
		}
	}
}

// since says of a watch on a znode that it has missed something after the transaction seen.
func since(seen int64) func(int, stamp) bool {
	return func(_ int, is stamp) bool { return is.changed > seen }
}
