package database

import (
	"slices"
	"time"

	world "locklab/simulator/node"
)

var _ world.Connected = (*Kind)(nil)

// Connections of clients whose sessions have no lock and no waiting statement, or have ended, matter to them only.

// idle reports whether a connection matters to its client only.
func (s *contents) idle(id SessionID) bool {
	_, waits := s.state.Wait(id)
	return !waits && s.readyAt(id) < 0 &&
		!slices.ContainsFunc(s.state.locks, func(l lock) bool { return l.session == id }) &&
		!slices.ContainsFunc(s.state.tables, func(t table) bool {
			return slices.ContainsFunc(t.rows, func(r row) bool { return r.writer == id })
		})
}

// ConnectionsOf implements [world.Connected].
func (k *Kind) ConnectionsOf(state world.State, c int8) world.State {
	return k.x.join(DatabaseState{}, contents{}, state, func(from *contents, id SessionID) bool {
		return clientOf(id) == c && from.idle(id)
	})
}

// WithoutConnections implements [world.Connected].
func (k *Kind) WithoutConnections(state world.State) world.State {
	s := state.(DatabaseState)
	to := *k.x.contents.At(s.contents)
	s.ends, to.conns, to.state.sessions = [maxSessions]time.Duration{}, [maxSessions]connection{}, nil
	return k.x.join(s, to, state, func(from *contents, id SessionID) bool { return !from.idle(id) })
}

// WithConnections implements [world.Connected].
func (k *Kind) WithConnections(state, other world.State) world.State {
	s := state.(DatabaseState)
	return k.x.join(s, *k.x.contents.At(s.contents), other, func(from *contents, id SessionID) bool {
		return from.conns[id-1] != 0 || from.state.find(id) != nil
	})
}

// join gives connections of another state to s, of which the contents are to.
func (x *Executor) join(s DatabaseState, to contents, other world.State,
	which func(from *contents, id SessionID) bool) world.State {
	o := other.(DatabaseState)
	from := x.contents.At(o.contents)
	to.state.sessions = slices.Clone(to.state.sessions)
	for id := SessionID(1); id <= maxSessions; id++ {
		if !which(from, id) {
			continue
		}
		to.conns[id-1], s.ends[id-1] = from.conns[id-1], o.ends[id-1]
		if p := from.state.find(id); p != nil {
			to.state.sessions = append(to.state.sessions, *p)
		}
	}
	slices.SortFunc(to.state.sessions, session.compare)
	s.contents = x.contents.ID(to)
	return s
}
