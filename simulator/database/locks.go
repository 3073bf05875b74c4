package database

import (
	"cmp"
	"slices"
)

// A mode is the strength with which a transaction holds a row, or, on InnoDB, the gap before it.
type mode uint8

const (
	shared    mode = iota + 1
	exclusive      // what a transaction has written it holds so without a lock, until another one asks
	sharedGap
	exclusiveGap // gap locks go together, but no other transaction inserts into the gap
)

func (m mode) gap() bool { return m >= sharedGap }

// conflicts reports whether two do not hold a row so, or a name, at the same time.
func (m mode) conflicts(o mode) bool { return !m.gap() && m+o > 2*shared }

// names in place of a table are the locks by names, whose keys are the names.
const names = -1

// A lock is held until the transaction ends; one by a name perhaps until it is released, or the session ends.
type lock struct {
	table   int
	key     []Value // nil: of a gap behind the last row
	mode    mode
	session SessionID
	lasting bool  // by a name: beyond the transaction
	count   int64 // of lasting locks: how often it was taken
}

func (l lock) compare(o lock) int {
	return cmp.Or(cmp.Compare(l.table, o.table), compareKeys(l.key, o.key), cmp.Compare(l.mode, o.mode),
		cmp.Compare(l.session, o.session), cmp.Compare(truth(l.lasting).Int, truth(o.lasting).Int))
}

// of reports whether it is a lock of a key of a table.
func (l lock) of(table int, key []Value) bool {
	return l.table == table && compareKeys(l.key, key) == 0
}

// A wishKind is a kind of lock that a statement waits for.
type wishKind uint8

const (
	nothing  wishKind = iota
	onKey             // a lock of a row, or by a name
	onGap             // InnoDB: to insert a key into a gap that others have locked
	onWriter          // PostgreSQL: the end of the transaction that has written the row
)

// A wish is a lock that a statement waits for.
type wish struct {
	kind    wishKind
	table   int
	key     []Value
	mode    mode
	seconds int64 // of GET_LOCK
	// among are those that had locked the gap when the wait began. InnoDB looks for others only when these have gone.
	among []SessionID
}

// byName reports whether it is a lock by a name.
func (w wish) byName() bool { return w.table == names }

func (w wish) same(o wish) bool {
	return w.kind == o.kind && w.table == o.table && compareKeys(w.key, o.key) == 0
}

// blockers are the sessions that keep a session from what it wishes, in the order of their numbers: those that hold
// it, and those that have wished it earlier.
func (s *State) blockers(id SessionID, w wish) []SessionID {
	all := append(s.holders(id, w), s.ahead(id, w)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// holders are the others that hold what a session wishes.
func (s *State) holders(id SessionID, w wish) (all []SessionID) {
	add := func(o SessionID) {
		if o != id && o != 0 && (w.among == nil || slices.Contains(w.among, o)) {
			all = append(all, o)
		}
	}
	if w.kind == nothing {
		return nil
	}
	key := w.key
	if !w.byName() {
		t := &s.tables[w.table]
		if w.kind == onGap {
			key = t.heir(key)
		} else if i, ok := t.at(key); ok {
			add(t.rows[i].writer)
		}
	}
	for _, l := range s.locks {
		conflicts := w.kind == onGap && l.mode.gap() || w.kind == onKey && l.mode.conflicts(w.mode)
		if conflicts && l.of(w.table, key) {
			add(l.session)
		}
	}
	return all
}

// ahead are the others that have wished the same earlier, in the order of their waits.
func (s *State) ahead(id SessionID, w wish) (all []SessionID) {
	for _, o := range s.queue {
		p := s.find(o)
		switch {
		case !p.on.same(w) || w.kind != onKey:
		case o == id: // those behind it wish later
			return all
		case p.on.mode.conflicts(w.mode):
			all = append(all, o)
		}
	}
	return all
}

// edges are those of whom a search for deadlocks takes that a session waits for them. InnoDB looks at holders, and only
// without any at the first one of those ahead.
func (s *State) edges(id SessionID, w wish) []SessionID {
	if !s.dialect.innodb() || w.byName() {
		return s.blockers(id, w)
	}
	if all := s.holders(id, w); len(all) > 0 {
		return all
	}
	all := s.ahead(id, w)
	return all[:min(1, len(all))]
}

// heir is the key of the first row behind a key; nil: none.
func (t *table) heir(key []Value) []Value {
	i, ok := t.at(key)
	if ok {
		i++
	}
	if i == len(t.rows) {
		return nil
	}
	return t.rows[i].key
}

// hold notes a lock, and returns it.
func (s *State) hold(l lock) *lock {
	at := slices.IndexFunc(s.locks, func(o lock) bool { return o.compare(l) == 0 })
	if at < 0 {
		at, s.locks = len(s.locks), append(s.locks, l)
	}
	return &s.locks[at]
}

// has reports whether a session has a lock that it wishes, or a stronger one.
func (s *State) has(id SessionID, w wish) bool {
	return slices.ContainsFunc(s.locks, func(l lock) bool {
		return l.session == id && !l.mode.gap() && l.mode >= w.mode && l.of(w.table, w.key)
	})
}

// lockRow takes a lock of a row; if it must wait, ok is false.
func (s *State) lockRow(id SessionID, w wish) (ok bool) {
	t := &s.tables[w.table]
	i, _ := t.at(w.key)
	writer := t.rows[i].writer
	if writer != 0 && writer != id && s.dialect.innodb() {
		s.hold(lock{table: w.table, key: w.key, mode: exclusive, session: writer})
	}
	if writer == id || s.has(id, w) {
		return true
	}
	if ok = len(s.blockers(id, w)) == 0; ok {
		s.hold(lock{table: w.table, key: w.key, mode: w.mode, session: id})
	}
	return ok
}

// takeName takes a lock by a name, once more if the session has it; if it must wait, ok is false.
func (s *State) takeName(id SessionID, w wish, lasting bool) (ok bool) {
	if !s.has(id, w) && len(s.blockers(id, w)) > 0 {
		return false
	}
	l := s.hold(lock{table: names, key: w.key, mode: w.mode, session: id, lasting: lasting})
	if lasting {
		l.count++
	}
	return true
}

// releaseName gives a lasting lock by a name back, once, and reports whether the session had it.
func (s *State) releaseName(id SessionID, name Value) (held bool) {
	at := slices.IndexFunc(s.locks, func(l lock) bool {
		return l.session == id && l.lasting && l.of(names, []Value{name})
	})
	if at < 0 {
		return false
	}
	if s.locks[at].count--; s.locks[at].count == 0 {
		s.locks = slices.Delete(s.locks, at, at+1)
	}
	return true
}

// insertRow adds a row. On InnoDB its gap is divided, with the locks of it.
func (s *State) insertRow(ti int, r row) {
	t := &s.tables[ti]
	i, _ := t.at(r.key)
	heir := t.heir(r.key)
	t.rows = slices.Insert(t.rows, i, r)
	for _, l := range s.locks {
		if l.mode.gap() && l.of(ti, heir) {
			s.hold(lock{table: ti, key: r.key, mode: l.mode, session: l.session})
		}
	}
}

// removeRow takes a row away. On InnoDB its locks, and those waited for, become locks of the gap in which it was.
func (s *State) removeRow(ti int, key []Value) {
	t := &s.tables[ti]
	i, _ := t.at(key)
	heir := t.heir(key)
	t.rows = slices.Delete(t.rows, i, i+1)
	if !s.dialect.innodb() {
		return
	}
	here := func(l lock) bool { return l.key != nil && l.of(ti, key) }
	inherit := func(m mode, id SessionID) {
		if !m.gap() {
			m += sharedGap - shared
		}
		s.hold(lock{table: ti, key: heir, mode: m, session: id})
	}
	for _, l := range s.locks {
		if here(l) {
			inherit(l.mode, l.session)
		}
	}
	s.locks = slices.DeleteFunc(s.locks, here)
	for _, id := range s.queue {
		switch p := s.find(id); {
		case p.on.table != ti:
		case p.on.kind == onKey && compareKeys(p.on.key, key) == 0:
			inherit(p.on.mode, id)
			p.on = wish{}
		case p.on.kind == onGap && compareKeys(t.heir(p.on.key), heir) == 0:
			p.on.among = nil
		}
	}
}

// weight returns what InnoDB would lose by the rollback of a transaction: the rows that it has written, and its locks,
// those of one kind in one table counted once. The table itself is one.
func (s *State) weight(id SessionID) int64 {
	type kind struct {
		table int
		mode  mode
		last  bool
	}
	kinds := map[kind]bool{}
	for ti, t := range s.tables {
		if slices.ContainsFunc(t.rows, func(r row) bool { return r.writer == id }) {
			kinds[kind{table: ti}] = true
		}
	}
	for _, l := range s.locks {
		if l.session == id && l.table != names {
			kinds[kind{l.table, l.mode, l.key == nil}], kinds[kind{table: l.table}] = true, true
		}
	}
	p, wished := s.find(id), 0
	if p.on.kind != nothing {
		kinds[kind{table: p.on.table}], wished = true, 1
	}
	return p.written + int64(len(kinds)+wished)
}

// cycle is a deadlock of which a session is part: it, and those that wait one for the other. nil: none. On InnoDB
// waits for named locks are apart from those for rows.
func (s *State) cycle(id SessionID) []SessionID {
	var visited, path []SessionID
	var visit func(at SessionID) bool
	visit = func(at SessionID) bool {
		p := s.find(at)
		if !p.waiting || p.on.kind == nothing || s.dialect.innodb() && p.on.byName() != s.find(id).on.byName() {
			return false
		}
		path = append(path, at)
		for _, next := range s.edges(at, p.on) {
			if next == id {
				return true
			}
			if !slices.Contains(visited, next) {
				if visited = append(visited, next); visit(next) {
					return true
				}
			}
		}
		path = path[:len(path)-1]
		return false
	}
	if visit(id) {
		return path
	}
	return nil
}
