package database

import (
	"errors"
	"reflect"
	"slices"

	"locklab/simulator/internal/codec"
	world "locklab/simulator/node"
)

var _ world.Written = (*Kind)(nil)

// A writtenState is a DatabaseState with contents in place of their numbers, of the server and of its replicas.
type writtenState struct {
	State    DatabaseState
	Contents contents
	Replicas [maxReplicas]contents
}

// Write implements [world.Written].
func (k *Kind) Write(state world.State) map[string]string {
	w := writtenState{State: state.(DatabaseState)}
	w.Contents = *k.Executor.contents.At(w.State.contents)
	for i, r := range w.State.replicas {
		w.Replicas[i] = *k.Executor.contents.At(r)
		w.State.replicas[i] = 0
	}
	w.State.contents = 0
	return codec.Leaves(w)
}

var errWritten = errors.New("database: a written state does not fit")

// Read implements [world.Written].
func (k *Kind) Read(written map[string]string) (world.State, error) {
	w, err := codec.FromLeaves[writtenState](written)
	if err != nil {
		return nil, err
	}
	s := w.State
	w.Contents.state = withTables(w.Contents.state, k.Executor.tables)
	if s.contents != 0 || s.replicas != [maxReplicas]uint32{} || s.outage > hung || s.behind >= 1<<maxReplicas || !w.Contents.fits(&k.config) {
		return nil, errWritten
	}
	s.contents = k.Executor.contents.ID(w.Contents)
	for i := range w.Replicas {
		w.Replicas[i].state = withTables(w.Replicas[i].state, k.Executor.tables)
		if !w.Replicas[i].fits(&k.config) {
			return nil, errWritten
		}
		s.replicas[i] = k.Executor.contents.ID(w.Replicas[i])
	}
	return s, k.Executor.memo.Room.Take()
}

// fits reports whether contents that were read are some that a server of this config can have, but for their values: with its
// tables, and rows and sessions that belong to these. Connections that were divided from a server are all that their
// contents have.
func (s *contents) fits(config *Config) bool {
	empty := New(config.Dialect, config.Tables, config.options())
	ids := func(all []session) bool {
		return slices.IsSortedFunc(all, func(a, b session) int { return int(a.id) - int(b.id) }) &&
			!slices.ContainsFunc(all, func(p session) bool { return p.id < 1 || p.id > maxSessions || !s.open(p.id) })
	}
	if reflect.DeepEqual(s.state, State{sessions: s.state.sessions}) {
		return ids(s.state.sessions)
	}
	fits := s.state.dialect == empty.dialect && s.state.options == empty.options && len(s.state.tables) == len(empty.tables) && ids(s.state.sessions)
	for ti := range s.state.tables {
		if !fits {
			return false
		}
		t, of := &s.state.tables[ti], &empty.tables[ti].def
		fits = reflect.DeepEqual(t.def, *of) && !slices.ContainsFunc(t.rows, func(r row) bool {
			wide := func(version []Value) bool { return version == nil || len(version) == len(of.Columns) }
			return !wide(r.old) || !wide(r.new) || r.old == nil && r.new == nil || r.writer != 0 && s.state.find(r.writer) == nil
		})
	}
	for _, l := range s.state.locks {
		fits = fits && l.table >= 0 && l.table < len(s.state.tables) && s.state.find(l.session) != nil
	}
	for _, n := range s.state.named {
		fits = fits && s.state.find(n.session) != nil
	}
	for _, id := range s.state.queue {
		fits = fits && s.state.find(id) != nil && s.state.find(id).waiting
	}
	for _, r := range s.ready {
		fits = fits && r.session >= 1 && r.session <= maxSessions
	}
	return fits
}
