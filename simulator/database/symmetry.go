package database

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
)

// A search that treats clients as interchangeable needs a server that does not depend on which
// is which: see [memo.Check].

// renamedSession is a session's place after its client was renamed.
func renamedSession(id SessionID, to *history.Names) SessionID {
	if id == 0 {
		return 0
	}
	return sessionAt(int8(to[clientOf(id)]), slotOf(id))
}

// renamed is contents with the clients renamed.
func (x *Executor) renamed(from contents, to *history.Names) contents {
	s := codec.Replace(from, to.Rename)
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
	return x.sorted(s)
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

// renamedEffect is an act with the clients renamed, whose effect is then known.
func (x *Executor) renamedEffect(a step, to *history.Names) (step, error) {
	b := a
	b.client = int8(to[a.client])
	b.contents = x.contents.Renamed(a.contents, to)
	if a.serves() {
		b.arg = x.requests.Renamed(a.arg, to)
	}
	if x.effects[b] == nil {
		x.effects[b] = x.run(b)
	}
	return b, nil
}

// checkAttempts checks that an effect is the same, but for names, in later attempts, and where other attempts of a client are in the place of
// other clients.
func (x *Executor) checkAttempts(a step, eff *effect) error {
	var asked request
	if a.serves() {
		asked = x.requests.At(a.arg).request
	}
	for _, text := range memo.LaterTexts(x.memo, asked, *x.contents.At(a.contents)) {
		if !x.same(a, eff, text, func(t world.Vocabulary, id uint32) uint32 { return t.Replaced(id, text) }) {
			return &world.AsymmetricError{Command: x.stepText(a)}
		}
	}
	return nil
}

// checkStamps checks that an effect is the same at other times of day, with time stamps that are as much later, and with more ancient ones.
func (x *Executor) checkStamps(a step, eff *effect) error {
	asked := clock.NoStamps
	if a.serves() {
		asked = x.requests.Stamps(a.arg)
	}
	for _, by := range x.memo.StampShifts(asked, x.contents.Stamps(a.contents)) {
		text := func(s string) string { return clock.MoveStamps(s, by) }
		if !x.same(a, eff, text, func(t world.Vocabulary, id uint32) uint32 { return t.Moved(id, by) }) {
			return &world.StampError{Command: x.stepText(a)}
		}
	}
	eff.moved = true
	return nil
}

// same reports whether an effect is that with other texts, which to gives to entries, and text to leases.
func (x *Executor) same(a step, eff *effect, text func(string) string, to func(t world.Vocabulary, id uint32) uint32) bool {
	b := a
	b.contents = to(x.contents, a.contents)
	if a.serves() {
		b.arg = to(x.requests, a.arg)
	}
	if b == a {
		return true
	}
	is := x.run(b)
	return is.waits == eff.waits && is.to == to(x.contents, eff.to) && is.answer == to(x.answers, eff.answer) &&
		x.contents.At(is.to).limits == x.contents.At(eff.to).limits &&
		slices.EqualFunc(eff.leases, is.leases, func(m, n leaseChange) bool {
			return m.before.replaced(text) == n.before && m.after.replaced(text) == n.after
		})
}

// replaced is a lease with other texts.
func (l lease) replaced(text func(string) string) lease {
	l.key, l.owner = text(l.key), text(l.owner)
	return l
}

// commute reports whether the effect of b, which is a renamed, is that of a, renamed.
func (x *Executor) commute(a, b step, to *history.Names) bool {
	p, q := x.effects[a], x.effects[b]
	if p.waits != q.waits || !x.contents.Same(p.to, q.to, to) {
		return false
	}
	if !p.waits && !x.answers.Same(p.answer, q.answer, to) {
		return false
	}
	return slices.EqualFunc(p.leases, q.leases, func(m, n leaseChange) bool {
		return m.before.renamed(to) == n.before && m.after.renamed(to) == n.after
	})
}

func (l lease) renamed(to *history.Names) lease {
	l.session = renamedSession(l.session, to)
	return l.replaced(to.Rename)
}

// stepText returns the words for an act in an error message.
func (x *Executor) stepText(a step) []string {
	if a.serves() {
		return x.requests.At(a.arg).words()
	}
	return []string{[...]string{stepTake: "answer", stepClose: "close", stepLeave: "leave", stepDepart: "depart", stepEnd: "end of a session", stepTimeOut: "time-out"}[a.kind]}
}

// Recounted implements [world.Sessions]: owners have tokens, which are counted.
func (k *Kind) Recounted(state world.State, f history.Recount) world.State {
	return k.changed(state.(DatabaseState), func(id uint32) uint32 { return k.Executor.contents.Recounted(id, f) })
}
