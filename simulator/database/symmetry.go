package database

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
	"locklab/simulator/translate"
)

// renamedSession is a session's place after its client was renamed.
func renamedSession(id SessionID, t *translate.Translation) SessionID {
	if id == 0 {
		return 0
	}
	return sessionAt(t.Client(clientOf(id)), slotOf(id))
}

// mapped is contents in a translation.
func (from contents) mapped(to *translate.Translation) contents {
	s := translate.Value(from, to)
	if to.Names == nil {
		return s
	}
	s.state = renumbered(s.state, func(id SessionID) SessionID { return renamedSession(id, to) })
	for i, c := range from.conns {
		s.conns[renamedSession(SessionID(i+1), to)-1] = c
	}
	for i, id := range s.checked {
		s.checked[i] = renamedSession(id, to)
	}
	slices.Sort(s.checked)
	for i := range s.ready {
		s.ready[i].session = renamedSession(s.ready[i].session, to)
	}
	return s
}

// withTables is a State whose tables were copied without their columns.
func withTables(s State, tables []table) State {
	if len(s.tables) > 0 && s.tables[0].def.Name != "" || len(s.tables) > len(tables) {
		return s
	}
	s.tables = slices.Clone(s.tables)
	for i := range s.tables {
		s.tables[i].def = tables[i].def
	}
	return s
}

// renumbered is a State whose sessions have other numbers.
func renumbered(s State, to func(SessionID) SessionID) State {
	s = s.clone()
	for i := range s.sessions {
		s.sessions[i].id = to(s.sessions[i].id)
	}
	slices.SortFunc(s.sessions, func(a, b session) int { return int(a.id) - int(b.id) })
	for i := range s.queue {
		s.queue[i] = to(s.queue[i])
	}
	for i := range s.locks {
		s.locks[i].session = to(s.locks[i].session)
	}
	for i := range s.named {
		s.named[i].session = to(s.named[i].session)
	}
	for _, t := range s.tables {
		for i := range t.rows {
			t.rows[i].writer = to(t.rows[i].writer)
		}
	}
	return s
}

// sorted is contents in which texts were replaced, in canonical form.
func (x *Executor) sorted(s contents) contents {
	s.state = withTables(s.state, x.tables).Sorted()
	s.wake(nil)
	return s
}

// translated is an act in a translation, whose effect is then known.
func (x *Executor) translated(a step, t *translate.Translation) (step, error) {
	b := a
	b.client, b.contents = t.Client(a.client), x.contents.Map(a.contents, t)
	if a.serves() {
		b.arg = x.requests.Map(a.arg, t)
	}
	if x.effects[b] == nil {
		x.effects[b] = x.run(b)
	}
	return b, nil
}

// commute reports whether the effect of b, which is a in a translation, is that of a in it.
func (x *Executor) commute(a, b step, t *translate.Translation) bool {
	p, q := x.effects[a], x.effects[b]
	return p.waits == q.waits && x.contents.Same(p.to, q.to, t) && (p.waits || x.answers.Same(p.answer, q.answer, t)) &&
		slices.EqualFunc(p.leases, q.leases, func(m, n leaseChange) bool {
			return m.before.mapped(t) == n.before && m.after.mapped(t) == n.after
		})
}

func (l lease) mapped(t *translate.Translation) lease {
	l.session, l.key, l.owner = renamedSession(l.session, t), t.Text(l.key), t.Text(l.owner)
	return l
}

// named are the clients that a request names, and the contents.
func (x *Executor) named(a step) (asked, kept history.ClientSet) {
	if a.serves() {
		asked = x.requests.Named(a.arg)
	}
	return asked, x.contents.Named(a.contents)
}

// stamps are the time stamps in a request, and in the contents.
func (x *Executor) stamps(a step) (asked, kept clock.Stamps) {
	if asked = clock.NoStamps; a.serves() {
		asked = x.requests.Stamps(a.arg)
	}
	return asked, x.contents.Stamps(a.contents)
}

// stepText returns the words for an act in an error message.
func (x *Executor) stepText(a step) []string {
	if a.serves() {
		return x.requests.At(a.arg).words()
	}
	return []string{[...]string{stepTake: "answer", stepClose: "close", stepLeave: "leave", stepDepart: "depart", stepEnd: "end of a session", stepTimeOut: "time-out"}[a.kind]}
}

// A counter is an integer of a row that a statement raises by one. Of a lock whose rows have a version it grows without end. Where
// Memo.Most is above 0 it stands still there, and stands for all that have counted further: the server is to do the same
// with these, but for the number itself. Some of them are tried in every effect, and so is code with their answers; see
// hypothesis.Counted.

// mostFurther is the most by which a counter counts further when an effect is tried. The text prove.assumed.counters has the numbers.
const mostFurther = 1 << 50

// stand has the counters of to stand still that were at most in from and have counted by one.
func stand(from *State, to State, most int64) (_ State, stood bool) {
	stands := func(was, is []Value) []Value {
		for i := range is {
			counts := is[i].Type == Integer && is[i].Int == most+1 && i < len(was) && was[i] == IntegerValue(most)
			if counts {
				is, stood = slices.Clone(is), true
				is[i].Int = most
			}
		}
		return is
	}
	to = to.clone()
	for ti, t := range to.tables {
		for ri := range t.rows {
			r := &t.rows[ri]
			if at, ok := from.tables[ti].at(r.key); ok {
				was := &from.tables[ti].rows[at]
				r.old, r.new = stands(was.old, r.old), stands(was.old, r.new)
			}
		}
	}
	return to, stood
}

// counted is s with other numbers in the place of counters at one of them.
func counted(s State, at, is int64) (_ State, any bool) {
	change := func(version []Value) []Value {
		version = slices.Clone(version)
		for i := range version {
			if version[i] == IntegerValue(at) {
				version[i].Int, any = is, true
			}
		}
		return version
	}
	s = s.clone()
	for _, t := range s.tables {
		for i := range t.rows {
			t.rows[i].old, t.rows[i].new = change(t.rows[i].old), change(t.rows[i].new)
		}
	}
	return s, any
}

// checkCounters checks that an effect is the same, but for its number, where a counter has counted further.
func (x *Executor) checkCounters(a step) error {
	if x.memo.Most == 0 {
		return nil
	}
	eff := x.effects[a]
	from, to := x.contents.At(a.contents), *x.contents.At(eff.to)
	most := int64(x.memo.Most)
	for _, n := range x.memo.Further(10, mostFurther) {
		by := int64(n)
		further, before := a, *from
		state, any := counted(from.state, most, most+by)
		if !any {
			return nil
		}
		before.state = state
		further.contents = x.contents.ID(before)
		is := x.runAt(further, most+by)
		then := to
		then.state, _ = counted(to.state, most, most+by)
		same := is.waits == eff.waits && slices.Equal(is.leases, eff.leases) && is.to == x.contents.ID(then)
		if !same || !memo.CountsFurther(x.answers.At(eff.answer).words()[0], x.answers.At(is.answer).words()[0], n) {
			return &hypothesis.Refuted{Of: hypothesis.Counted, Command: x.stepText(a)}
		}
		if is.answer != eff.answer {
			x.memo.Counted.ID([2]uint32{eff.answer, is.answer})
		}
	}
	return nil
}

var _ world.Connected = (*Kind)(nil)

// The connections of clients whose sessions have no lock and no statement that waits, or have ended, matter to their client only.

// idle reports whether a connection matters to its client only.
func (s *contents) idle(id SessionID) bool {
	locks := slices.ContainsFunc(s.state.locks, func(l lock) bool { return l.session == id }) ||
		slices.ContainsFunc(s.state.named, func(n namedLock) bool { return n.session == id })
	for _, t := range s.state.tables {
		locks = locks || slices.ContainsFunc(t.rows, func(r row) bool { return r.writer == id })
	}
	return !locks && waitOf(&s.state, id).Session == 0 && !s.isReady(id)
}

// ConnectionsOf implements [world.Connected].
func (k *Kind) ConnectionsOf(state world.State, c int8) world.State {
	s, of := state.(DatabaseState), DatabaseState{}
	from, to := k.Executor.contents.At(s.contents), contents{}
	for id := sessionAt(c, 1); id <= sessionAt(c, maxConns); id++ {
		if from.idle(id) {
			to.move(id, from)
			of.ends[id-1] = s.ends[id-1]
		}
	}
	of.contents = k.Executor.contents.ID(to)
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

// WithoutConnections implements [world.Connected].
func (k *Kind) WithoutConnections(state world.State) world.State {
	s := state.(DatabaseState)
	to := *k.Executor.contents.At(s.contents)
	from := to
	for i := range to.conns {
		if id := SessionID(i + 1); from.idle(id) {
			to.conns[i], s.ends[i] = 0, 0
			to.state.sessions = slices.DeleteFunc(slices.Clone(to.state.sessions), func(p session) bool { return p.id == id })
		}
	}
	to.state.sessions = none(to.state.sessions)
	s.contents = k.Executor.contents.ID(to)
	return s
}

// WithConnections implements [world.Connected].
func (k *Kind) WithConnections(state, other world.State) world.State {
	s := state.(DatabaseState)
	to, from := *k.Executor.contents.At(s.contents), k.Executor.contents.At(other.(DatabaseState).contents)
	for i, c := range from.conns {
		if id := SessionID(i + 1); c != 0 || from.state.find(id) != nil {
			to.move(id, from)
			s.ends[i] = other.(DatabaseState).ends[i]
		}
	}
	s.contents = k.Executor.contents.ID(to)
	return s
}
