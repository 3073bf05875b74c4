package database

import (
	"slices"

	world "locklab/simulator/node"
)

var _ world.Connected = (*Kind)(nil)

// connections divides states into the connections of clients whose sessions have no lock and no statement that waits, or have ended: these
// matter to their client only; and the rest.
type connections struct{ x *Executor }

// Connections implements [world.Connected].
func (k *Kind) Connections() world.Connections { return connections{k.Executor} }

// idle reports whether a connection matters to its client only.
func (s *contents) idle(id SessionID) bool {
	locks := slices.ContainsFunc(s.state.locks, func(l lock) bool { return l.session == id }) ||
		slices.ContainsFunc(s.state.named, func(n namedLock) bool { return n.session == id })
	for _, t := range s.state.tables {
		locks = locks || slices.ContainsFunc(t.rows, func(r row) bool { return r.writer == id })
	}
	return !locks && waitOf(&s.state, id).Session == 0 && !s.isReady(id)
}

// Of implements [world.Connections].
func (cs connections) Of(state world.State, c int8) world.State {
	s, of := state.(DatabaseState), DatabaseState{}
	from, to := cs.x.contents.At(s.contents), contents{}
	for id := sessionAt(c, 1); id <= sessionAt(c, maxConns); id++ {
		if from.idle(id) {
			to.move(id, from)
			of.ends[id-1] = s.ends[id-1]
		}
	}
	of.contents = cs.x.contents.ID(to)
	return of
}

// move gives a connection of another server to s.
func (s *contents) move(id SessionID, from *contents) {
	s.conns[id-1] = from.conns[id-1]
	if p := from.state.find(id); p != nil {
		s.state.sessions = append(slices.Clip(s.state.sessions), *p)
	}
	slices.SortFunc(s.state.sessions, func(a, b session) int { return int(a.id) - int(b.id) })
}

// Without implements [world.Connections].
func (cs connections) Without(state world.State) world.State {
	s := state.(DatabaseState)
	to := *cs.x.contents.At(s.contents)
	from := to
	for i := range to.conns {
		if id := SessionID(i + 1); from.idle(id) {
			to.conns[i], s.ends[i] = 0, 0
			to.state.sessions = slices.DeleteFunc(slices.Clone(to.state.sessions), func(p session) bool { return p.id == id })
		}
	}
	to.state.sessions = none(to.state.sessions)
	s.contents = cs.x.contents.ID(to)
	return s
}

// With implements [world.Connections].
func (cs connections) With(state, other world.State) world.State {
	s := state.(DatabaseState)
	to, from := *cs.x.contents.At(s.contents), cs.x.contents.At(other.(DatabaseState).contents)
	for i, c := range from.conns {
		if id := SessionID(i + 1); c != 0 || from.state.find(id) != nil {
			to.move(id, from)
			s.ends[i] = other.(DatabaseState).ends[i]
		}
	}
	s.contents = cs.x.contents.ID(to)
	return s
}
