package database

// Racing reports whether two statements wait that go on at the same time on a server, so that its threads decide
// which comes first.
func (s State) Racing() bool {
	for i, a := range s.queue {
		for _, b := range s.queue[:i] {
			one, two := s.find(a).on, s.find(b).on
			ordered := one.byName() && two.byName() ||
				s.dialect.innodb() && one.same(two) && one.mode == exclusive && two.mode == exclusive
			if !ordered && !(one.byName() || two.byName()) {
				return true
			}
		}
	}
	return false
}

// InCycle is a session that is part of a deadlock; 0: none.
func (s State) InCycle() SessionID {
	for _, id := range s.queue {
		if s.cycle(id) != nil {
			return id
		}
	}
	return 0
}

// ByName reports whether a session waits for a named lock.
func (s State) ByName(id SessionID) bool { return s.find(id).on.byName() }

// Waiting are the sessions whose statements wait, in the order in which their waits began.
func (s State) Waiting() []SessionID { return s.queue }

// For are the sessions that hold, or wait earlier for, what a session waits for.
func (s State) For(id SessionID) []SessionID { return s.blockers(id, s.find(id).on) }

// Usurped is a session that has written a row which another one holds; 0: none.
func (s State) Usurped() SessionID {
	for ti, t := range s.tables {
		for _, r := range t.rows {
			if r.writer != 0 && s.holder(ti, r) != r.writer {
				return r.writer
			}
		}
	}
	return 0
}

// Exclusive reports whether no row and no name is held by two of which one holds it exclusively.
func (s State) Exclusive() bool {
	for i, a := range s.locks {
		for _, b := range s.locks[:i] {
			if !b.mode.gap() && a.mode.conflicts(b.mode) && a.session != b.session && a.of(b.table, b.key) {
				return false
			}
		}
	}
	return true
}
