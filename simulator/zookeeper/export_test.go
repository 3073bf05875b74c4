package zookeeper

import (
	"maps"
	"slices"
)

// Reconnect is the same session on a new connection, with the highest zxid that the client has seen in a reply, as in
// the protocol. It answers SessionExpired if the session has ended.
func (s State) Reconnect(id SessionID, seen int64, watches []Watch) (State, Code, []Event) {
	return s.reconnect(id, watches, since(seen))
}

func (s State) reconnect(id SessionID, watches []Watch, missed func(int, stamp) bool) (State, Code, []Event) {
	c := s.change()
	if !c.Alive(id) {
		return s, SessionExpired, nil
	}
	c.disconnect(id)
	c.handIn(id, watches, missed)
	return c.State, OK, c.fired
}

// stamp returns the stamp of what a watch looks at; zero if it is not there.
func (s *State) stamp(w Watch) stamp {
	if i, there := s.find(w.Path); there {
		return s.stat(&s.nodes[i]).stamp(w.Kind)
	}
	return stamp{}
}

// A Line is the first of those who queue at the znode Parent.
type Line struct {
	Parent, First string
	Owner         SessionID
}

// Lines lists the lines in the order of their paths.
func (s State) Lines() (all []Line) {
	lines := s.lines()
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		all = append(all, Line{path, lines[path].first, lines[path].owner})
	}
	return all
}
