package zookeeper

import (
	"cmp"
	"slices"
)

// A watch is one as the server remembers it: to it, one on a znode that is
// not there yet is a WatchData.
type watch struct {
	session SessionID
	path    string
	kind    WatchKind
}

func (a watch) compare(b watch) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind))
}

// watch is s with w left. A session has at most one watch of a kind on a path.
func (s State) watch(w watch) State {
	if i, there := slices.BinarySearchFunc(s.watches, w, watch.compare); !there {
		s.watches = slices.Insert(slices.Clone(s.watches), i, w)
	}
	return s
}

// fire notifies every session that has left a watch of one of the kinds on path,
// once each, and takes those watches away.
func (s State) fire(fired []Event, event EventType, path string, kinds ...WatchKind) (State, []Event) {
	hit := func(w watch) bool { return w.path == path && slices.Contains(kinds, w.kind) }
	if !slices.ContainsFunc(s.watches, hit) {
		return s, fired
	}
	last := SessionID(0)
	for _, w := range s.watches {
		if hit(w) && w.session != last {
			last = w.session
			fired = append(fired, Event{w.session, event, path})
		}
	}
	s.watches = slices.DeleteFunc(slices.Clone(s.watches), hit)
	return s, fired
}
