package database

// Racing reports whether two statements wait that go on at the same time on a server, so that its threads decide
// which comes first.
func (s State) Racing() bool {
	for i, a := range s.queue {
		for _, b := range s.queue[:i] {
			one, two := s.find(a).on, s.find(b).on
			ordered := one.kind == onName && two.kind == onName || s.dialect.innodb() && one.same(two) && one.mode == exclusive && two.mode == exclusive
			if !ordered && !(one.kind == onName || two.kind == onName) {
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
func (s State) ByName(id SessionID) bool { return s.find(id).on.kind == onName }

// Exclusive reports whether no row is held by two of which one holds it exclusively.
func (s State) Exclusive() bool {
	for i, a := range s.locks {
		for _, b := range s.locks[:i] {
			if !a.mode.gap() && !b.mode.gap() && a.session != b.session && a.table == b.table && compareKeys(a.key, b.key) == 0 && a.mode+b.mode > 2*shared {
				return false
			}
		}
	}
	return true
}
