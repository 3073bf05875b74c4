package database

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	"locklab/simulator/translate"
)

// renamedSession is a session's place after its client was renamed.
func renamedSession(id SessionID, to *translate.Translation) SessionID {
	if id == 0 {
		return 0
	}
	return sessionAt(to.Client(clientOf(id)), slotOf(id))
}

// mapped is contents in a translation.
func (from contents) mapped(to *translate.Translation) contents {
	s := translate.Value(from, to) // with lists of its own
	if to.Names == nil {
		return s
	}
	rename := func(id *SessionID) { *id = renamedSession(*id, to) }
	for i, c := range from.conns {
		s.conns[renamedSession(SessionID(i+1), to)-1] = c
	}
	for i := range s.ready {
		rename(&s.ready[i].session)
	}
	for i := range s.state.sessions {
		rename(&s.state.sessions[i].id)
	}
	for i := range s.state.queue {
		rename(&s.state.queue[i])
	}
	for i := range s.state.locks {
		rename(&s.state.locks[i].session)
	}
	for _, t := range s.state.tables {
		for i := range t.rows {
			rename(&t.rows[i].writer)
		}
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

// sorted is contents in which texts were replaced, in canonical form.
func (x *Executor) sorted(s contents) contents {
	s.become(withTables(s.state, x.tables).Sorted(), nil)
	return s
}

// mapped is a step in a translation, whose effect is then known.
func (x *Executor) mapped(a step, t *translate.Translation) (step, error) {
	b := a
	b.client, b.contents = t.Client(a.client), x.contents.Map(a.contents, t)
	if a.serves() {
		b.arg = x.requests.Map(a.arg, t)
	}
	if x.effects[b] == nil {
		x.effects[b] = x.run(b, int64(x.memo.Most))
	}
	return b, nil
}

// commute reports whether the effect of b, which is a in a translation, is that of a in it.
func (x *Executor) commute(a, b step, t *translate.Translation) bool {
	p, q := x.effects[a], x.effects[b]
	return p.waits == q.waits && x.contents.Same(p.to, q.to, t) && x.answers.Same(p.answer, q.answer, t) &&
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

// A counter is an integer of a row that a statement raises by one. Of a lock whose rows have a version it grows without
// end. Where Memo.Most is above 0 it stands still there, and stands for all that have counted further: the server is to
// do the same with these, but for the number itself. Some of them are tried in every effect, and so is code with their
// answers; see hypothesis.Counted.

// mostFurther is the most that a counter counts further when an effect is tried; see the text prove.assumed.counters.
const mostFurther = 1 << 50

// stand has the counters of to stand still that were at most in from and have counted by one.
func stand(from *State, to State, most int64) (_ State, stood bool) {
	stands := func(was, is []Value) []Value {
		for i := range is {
			if i < len(was) && was[i] == IntegerValue(most) && is[i] == IntegerValue(most+1) {
				is, stood = slices.Clone(is), true
				is[i] = was[i]
			}
		}
		return is
	}
	to = to.clone()
	for ti, t := range to.tables {
		for ri := range t.rows {
			r := &t.rows[ri]
			if at, ok := from.tables[ti].at(r.key); ok {
				was := from.tables[ti].rows[at].old
				r.old, r.new = stands(was, r.old), stands(was, r.new)
			}
		}
	}
	return to, stood
}

// counted is s with other numbers in the place of counters at one of them.
func counted(s contents, at, is int64) (_ contents, any bool) {
	s.state = s.state.clone()
	s.state.replace(func(v Value) Value {
		if v == IntegerValue(at) {
			v.Int, any = is, true
		}
		return v
	})
	return s, any
}

// checkCounters checks that an effect is the same, but for its number, where a counter has counted further.
func (x *Executor) checkCounters(a step) error {
	if x.memo.Most == 0 {
		return nil
	}
	eff := x.effects[a]
	from, to := *x.contents.At(a.contents), *x.contents.At(eff.to)
	most := int64(x.memo.Most)
	for _, n := range x.memo.Further(10, mostFurther) {
		by := int64(n)
		before, any := counted(from, most, most+by)
		if !any {
			return nil
		}
		further := a
		further.contents = x.contents.ID(before)
		is := x.run(further, most+by)
		then, _ := counted(to, most, most+by)
		same := is.waits == eff.waits && slices.Equal(is.leases, eff.leases) && is.to == x.contents.ID(then)
		if !same || !memo.CountsFurther(x.answers.At(eff.answer).String(), x.answers.At(is.answer).String(), n) {
			return &hypothesis.Refuted{Of: hypothesis.Counted, Command: x.words(a)}
		}
		if is.answer != eff.answer {
			x.memo.Counted.ID([2]uint32{eff.answer, is.answer})
		}
	}
	return nil
}
