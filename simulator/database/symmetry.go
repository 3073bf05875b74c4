package database

import (
	"regexp"
	"slices"
	"strconv"

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

// A counter is an integer of a row that a statement raises by one. Of a lock whose rows have a version it grows without end. Where
// Memo.Most is above 0 it stands still there, and stands for all that have counted further: the server is to do the same
// with these, but for the number itself. Some of them are tried in every effect, and so is code with their answers; see
// simulator.Assumptions, Counters.

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
func (x *Executor) checkCounters(a step, eff *effect) error {
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
		if !same || !countsFurther(x.answers.At(eff.answer).words()[0], x.answers.At(is.answer).words()[0], by) {
			return &world.CountError{Command: x.stepText(a)}
		}
		if is.answer != eff.answer {
			x.memo.Counted.ID([2]uint32{eff.answer, is.answer})
		}
	}
	return nil
}

var digits = regexp.MustCompile("[0-9]+")

// countsFurther reports whether texts differ in numbers only, each of which is equal or higher by so much.
func countsFurther(a, b string, by int64) bool {
	if digits.ReplaceAllString(a, "0") != digits.ReplaceAllString(b, "0") {
		return false
	}
	y := digits.FindAllString(b, -1)
	for i, m := range digits.FindAllString(a, -1) {
		if n, err := strconv.ParseInt(m, 10, 64); m != y[i] && (err != nil || strconv.FormatInt(n+by, 10) != y[i]) {
			return false
		}
	}
	return true
}

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
