package database

import "slices"

// An act is one step of a server, on a State of its own.
type act struct {
	s     *State
	woken []Woken
}

// act has something happen, and those go on that then wait for nothing any more.
func (s State) act(do func(a *act)) (State, []Woken) {
	s = s.clone()
	a := act{s: &s}
	do(&a)
	a.settle()
	a.s.trim()
	slices.SortFunc(a.s.locks, lock.compare)
	return s, a.woken
}

// Apply runs a statement of a session, which must be connected and wait for nothing; otherwise the reply is NotFree. It
// returns the next State, the answer, and the answers of those that waited and have gone on, in the server's order.
func (s State) Apply(id SessionID, st Statement, args []Value) (next State, reply Reply, woken []Woken) {
	p := s.find(id)
	switch {
	case p == nil || p.waiting:
		return s, Reply{Code: NotFree, Text: "the session is not connected, or waits"}, nil
	case st.Dialect != s.dialect || st.Params != len(args):
		return s, notCarried("a statement of another dialect, or with another number of arguments"), nil
	}
	next, woken = s.act(func(a *act) {
		p := a.s.find(id)
		p.text, p.args, p.waiting = st, args, true
		reply = a.attempt(id)
	})
	if i := slices.IndexFunc(woken, func(w Woken) bool { return w.Session == id }); i >= 0 {
		reply = woken[i].Reply
		woken = slices.Delete(woken, i, i+1)
	}
	return next, reply, woken
}

// Close ends a session as when its connection breaks: its transaction is rolled back, its locks are released.
func (s State) Close(id SessionID) (State, []Woken) {
	if s.find(id) == nil {
		return s, nil
	}
	return s.act(func(a *act) {
		a.s.forget(id)
		a.s.endTransaction(id, false)
		a.s.locks = slices.DeleteFunc(a.s.locks, func(l lock) bool { return l.session == id })
		a.s.sessions = slices.DeleteFunc(a.s.sessions, func(p session) bool { return p.id == id })
	})
}

// A Reason is why a statement stops to wait.
type Reason uint8

const (
	TimedOut  Reason = iota // Wait.Timeout is over
	Cancelled               // KILL QUERY, pg_cancel_backend
)

// GiveUp ends the wait of a session's statement and returns its answer among those of others. Without one, nothing.
func (s State) GiveUp(id SessionID, why Reason) (State, []Woken) {
	p := s.find(id)
	if p == nil || !p.waiting {
		return s, nil
	}
	reply := failure(map[bool][2]Code{
		true: {LockWaitTimeout, QueryInterrupted}, false: {LockNotAvailable, QueryCanceled},
	}[s.dialect.innodb()][why])
	if s.dialect.innodb() && p.on.byName() {
		reply = one(p.text.Function, [2]Value{TimedOut: IntegerValue(0)}[why])
	}
	return s.act(func(a *act) { a.answer(id, reply) })
}

// CheckDeadlock has a session of PostgreSQL that waits look for a deadlock that it is part of. If there is one, its
// statement fails with DeadlockDetected.
func (s State) CheckDeadlock(id SessionID) (State, []Woken) {
	if p := s.find(id); s.dialect.innodb() || p == nil || !p.waiting {
		return s, nil
	}
	return s.act(func(a *act) {
		if a.s.find(id).checked = true; a.s.cycle(id) != nil {
			a.answer(id, failure(DeadlockDetected))
		}
	})
}

// answer ends a statement that waits.
func (a *act) answer(id SessionID, r Reply) { a.woken = append(a.woken, Woken{id, a.s.finish(id, r)}) }

// settle lets those go on that wait for nothing any more, in the order of their waits.
func (a *act) settle() {
	for i := 0; i < len(a.s.queue); i++ {
		id := a.s.queue[i]
		if len(a.s.blockers(id, a.s.find(id).on)) > 0 {
			continue
		}
		if r := a.attempt(id); !r.Waits {
			a.woken = append(a.woken, Woken{id, r})
		}
		i = -1
	}
	for _, id := range a.s.queue { // one that had another way out is left when that is gone
		if c := a.s.cycle(id); a.s.dialect.innodb() && !a.s.find(id).on.byName() && c != nil {
			a.sacrifice(id, c)
			a.settle()
			return
		}
	}
}

// sacrifice rolls back the transaction of the least weight in a deadlock, of several that of one session.
func (a *act) sacrifice(id SessionID, deadlock []SessionID) {
	victim := id
	for _, o := range deadlock {
		if a.s.weight(o) < a.s.weight(victim) {
			victim = o
		}
	}
	a.s.endTransaction(victim, false)
	a.answer(victim, failure(Deadlock))
}

// attempt runs a session's statement until it ends or waits. In a deadlock of rows the answer may be among others'.
func (a *act) attempt(id SessionID) Reply {
	r := a.run(id)
	if !r.Waits {
		return a.s.finish(id, r)
	}
	a.s.queue = append(slices.DeleteFunc(a.s.queue, func(o SessionID) bool { return o == id }), id)
	for a.s.dialect.innodb() && a.s.find(id).waiting {
		c := a.s.cycle(id)
		switch {
		case c == nil:
			return r
		case a.s.find(id).on.byName():
			return a.s.finish(id, failure(map[Dialect]Code{MariaDB: Deadlock, MySQL: UserLockDeadlock}[a.s.dialect]))
		}
		a.sacrifice(id, c)
	}
	return r
}

// forget clears a session's statement.
func (s *State) forget(id SessionID) {
	p := s.find(id)
	p.waiting, p.on, p.text, p.args = false, wish{}, Statement{}, nil
	p.start, p.clock, p.moved, p.gone, p.checked = 0, 0, false, false, false
	s.queue = slices.DeleteFunc(s.queue, func(o SessionID) bool { return o == id })
}

// finish ends a statement: outside BEGIN its transaction ends, too.
func (s *State) finish(id SessionID, r Reply) Reply {
	s.forget(id)
	p := s.find(id)
	switch failed := r.Code > NotFree; {
	case !p.open:
		s.endTransaction(id, !failed)
	case failed && !s.dialect.innodb(): // rolled back at once, and open until the client ends it
		s.endTransaction(id, false)
		p.open, p.failed = true, true
	}
	return r
}

// endTransaction commits or rolls back.
func (s *State) endTransaction(id SessionID, commit bool) {
	p := s.find(id)
	p.open, p.failed, p.began, p.written, p.local, p.localTo = false, false, 0, 0, false, 0
	s.locks = slices.DeleteFunc(s.locks, func(l lock) bool { return l.session == id && !l.lasting })
	for i := range s.sessions {
		if on := &s.sessions[i].on; slices.Contains(on.among, id) {
			on.among = slices.DeleteFunc(slices.Clone(on.among), func(o SessionID) bool { return o == id })
			if len(on.among) == 0 {
				*on = wish{}
			}
		}
	}
	for ti := range s.tables {
		t := &s.tables[ti]
		for i := len(t.rows) - 1; i >= 0; i-- {
			r := &t.rows[i]
			if r.writer != id {
				continue
			}
			after := row{key: r.key, old: r.old}
			if commit {
				s.replaced(ti, *r)
				after.old = r.new
			}
			if *r = after; r.old == nil {
				s.removeRow(ti, r.key)
			}
		}
	}
}

// replaced tells those that wait for a row that a new version is committed. PostgreSQL goes on with the row that it
// has seen, in its new version; a row that is inserted anew under the key is another one.
func (s *State) replaced(ti int, r row) {
	for i := range s.sessions {
		p := &s.sessions[i]
		if !s.dialect.innodb() && p.on.kind == onKey && p.on.table == ti && compareKeys(p.on.key, r.key) == 0 {
			p.moved, p.gone = true, p.gone || r.reinserted || r.new == nil
		}
	}
}

// run runs the statement of a session: it replies, or waits for what the session is on.
func (a *act) run(id SessionID) (r Reply) {
	p := a.s.find(id)
	st := &p.text
	if p.failed && st.Verb != Commit && st.Verb != Rollback {
		return failure(InFailed)
	}
	switch st.Verb {
	case Ping:
		return one("1", IntegerValue(1))
	case Begin:
		if a.s.dialect.innodb() {
			a.s.endTransaction(id, true)
		}
		p.open = true
		return r
	case Commit, Rollback:
		if p.failed && st.Verb == Commit {
			r.Text = "ROLLBACK"
		}
		a.s.endTransaction(id, st.Verb == Commit && !p.failed)
		return r
	case Set:
		return p.set(a.s.dialect)
	}
	before := a.s.clone()
	if why := refused(func() { r = a.s.execution(p).execute() }); why != nil { // nothing has happened
		*a.s = before
		return notCarried(why.Error())
	}
	return r
}

// set sets the time-out of locks.
func (p *session) set(d Dialect) Reply {
	switch {
	case d.innodb() || !p.text.Local && !p.open:
		p.timeout = p.text.Timeout
	case p.open && p.text.Local:
		p.local, p.localTo = true, p.text.Timeout
	case p.open:
		return notCarried("SET within a transaction, which ROLLBACK would undo; SET LOCAL is understood")
	}
	return Reply{}
}
