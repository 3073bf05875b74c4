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

// A lock is held until the transaction ends.
type lock struct {
	table   int
	key     []Value // nil: of a gap behind the last row
	mode    mode
	session SessionID
}

func (l lock) compare(o lock) int {
	return cmp.Or(cmp.Compare(l.table, o.table), compareKeys(l.key, o.key), cmp.Compare(l.mode, o.mode), cmp.Compare(l.session, o.session))
}

// A namedLock is held until it is released or the session ends.
type namedLock struct {
	name        Value
	session     SessionID
	count       int64
	transaction bool // PostgreSQL: until the transaction ends
}

func (n namedLock) compare(o namedLock) int {
	return cmp.Or(n.name.compare(o.name), cmp.Compare(n.session, o.session), cmp.Compare(truth(n.transaction).Int, truth(o.transaction).Int))
}

// A wishKind is a kind of lock that a statement waits for.
type wishKind uint8

const (
	nothing  wishKind = iota
	onRow             // a lock of a row
	onGap             // InnoDB: to insert a key into a gap that others have locked
	onWriter          // PostgreSQL: the end of the transaction that has written the row
	onName            // a named lock
)

// A wish is a lock that a statement waits for.
type wish struct {
	kind    wishKind
	table   int
	key     []Value
	mode    mode
	name    Value
	seconds int64 // of GET_LOCK
	// among are those that had locked the gap when the wait began. InnoDB looks for others only when these have gone.
	among []SessionID
}

func (w wish) same(o wish) bool {
	return w.kind == o.kind && w.table == o.table && w.name == o.name && compareKeys(w.key, o.key) == 0
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
	if w.kind == onName {
		for _, n := range s.named {
			if n.name == w.name {
				add(n.session)
			}
		}
		return all
	}
	if w.kind == nothing {
		return nil
	}
	t, key := &s.tables[w.table], w.key
	if i, ok := t.at(key); ok && w.kind != onGap {
		add(t.rows[i].writer)
	}
	if w.kind == onGap {
		key = t.heir(key)
	}
	for _, l := range s.locks {
		conflicts := w.kind == onGap && l.mode.gap() || w.kind == onRow && !l.mode.gap() && l.mode+w.mode > 2*shared
		if conflicts && l.table == w.table && compareKeys(l.key, key) == 0 {
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
		case !p.on.same(w) || w.kind != onRow && w.kind != onName:
		case o == id: // those behind it wish later
			return all
		case w.kind == onName || p.on.mode+w.mode > 2*shared:
			all = append(all, o)
		}
	}
	return all
}

// edges are those of whom a search for deadlocks takes that a session waits for them. InnoDB looks at holders, and only
// without any at the first one of those ahead.
func (s *State) edges(id SessionID, w wish) []SessionID {
	if !s.dialect.innodb() || w.kind == onName {
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

// hold notes a lock.
func (s *State) hold(l lock) {
	if !slices.ContainsFunc(s.locks, func(o lock) bool { return o.compare(l) == 0 }) {
		s.locks = append(s.locks, l)
	}
}

// lockRow takes a lock of a row; if it must wait, ok is false.
func (s *State) lockRow(id SessionID, w wish) (ok bool) {
	t := &s.tables[w.table]
	i, _ := t.at(w.key)
	if writer := t.rows[i].writer; writer != 0 && writer != id && s.dialect.innodb() {
		s.hold(lock{w.table, w.key, exclusive, writer})
	}
	mine := t.rows[i].writer == id || slices.ContainsFunc(s.locks, func(l lock) bool {
		return l.session == id && l.table == w.table && !l.mode.gap() && l.mode >= w.mode && compareKeys(l.key, w.key) == 0
	})
	if mine {
		return true
	}
	if len(s.blockers(id, w)) > 0 {
		return false
	}
	s.hold(lock{w.table, w.key, w.mode, id})
	return true
}

// insertRow adds a row. On InnoDB its gap is divided, with the locks of it.
func (s *State) insertRow(ti int, r row) {
	t := &s.tables[ti]
	i, _ := t.at(r.key)
	heir := t.heir(r.key)
	t.rows = slices.Insert(t.rows, i, r)
	for _, l := range s.locks {
		if l.table == ti && l.mode.gap() && compareKeys(l.key, heir) == 0 {
			s.hold(lock{ti, r.key, l.mode, l.session})
		}
	}
}

// removeRow takes a row away. On InnoDB the locks of it, and those that were waited for, become locks of the gap in
// which it was.
func (s *State) removeRow(ti int, key []Value) {
	t := &s.tables[ti]
	i, _ := t.at(key)
	heir := t.heir(key)
	t.rows = slices.Delete(t.rows, i, i+1)
	if !s.dialect.innodb() {
		return
	}
	here := func(l lock) bool { return l.table == ti && l.key != nil && compareKeys(l.key, key) == 0 }
	for _, l := range s.locks {
		if here(l) {
			l.key = heir
			if !l.mode.gap() {
				l.mode += sharedGap - shared
			}
			s.hold(l)
		}
	}
	s.locks = slices.DeleteFunc(s.locks, here)
	for _, id := range s.queue {
		switch p := s.find(id); {
		case p.on.table != ti:
		case p.on.kind == onRow && compareKeys(p.on.key, key) == 0:
			s.hold(lock{ti, heir, p.on.mode + sharedGap - shared, id})
			p.on = wish{}
		case p.on.kind == onGap && compareKeys(t.heir(p.on.key), heir) == 0:
			p.on.among = nil
		}
	}
}

// weight is what InnoDB would lose by the rollback of a transaction: the rows that it has written, and its locks,
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
		if l.session == id {
			kinds[kind{l.table, l.mode, l.key == nil}], kinds[kind{table: l.table}] = true, true
		}
	}
	p := s.find(id)
	if p.on.kind != nothing {
		kinds[kind{table: p.on.table}] = true
		return p.written + int64(len(kinds)) + 1
	}
	return p.written + int64(len(kinds))
}

// cycle is a deadlock of which a session is part: it, and those that wait one for the other. nil: none. On InnoDB
// waits for named locks are apart from those for rows.
func (s *State) cycle(id SessionID) []SessionID {
	var visited, path []SessionID
	var visit func(at SessionID) bool
	visit = func(at SessionID) bool {
		p := s.find(at)
		if !p.waiting || p.on.kind == nothing || s.dialect.innodb() && (p.on.kind == onName) != (s.find(id).on.kind == onName) {
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
