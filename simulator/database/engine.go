package database

import "slices"

// An act is one step of a server, on a State of its own.
type act struct {
	State
	woken []Woken
}

// Apply runs a statement of a session, which must be connected and wait for nothing; otherwise the reply is NotFree. It
// returns the next State, the answer, and the answers of those that waited and have gone on, in the server's order.
func (s State) Apply(id SessionID, st Statement, args []Value) (State, Reply, []Woken) {
	p := s.find(id)
	switch {
	case p == nil || p.waiting:
		return s, Reply{Code: NotFree, Text: "the session is not connected, or waits"}, nil
	case st.Dialect != s.dialect || st.Params != len(args):
		return s, notCarried("a statement of another dialect, or with another number of arguments"), nil
	}
	a := act{State: s.clone()}
	p = a.find(id)
	p.text, p.args, p.waiting = st, args, true
	reply := a.attempt(id)
	a.settle()
	if i := slices.IndexFunc(a.woken, func(w Woken) bool { return w.Session == id }); i >= 0 {
		reply = a.woken[i].Reply
		a.woken = none(slices.Delete(a.woken, i, i+1))
	}
	return a.end(), reply, a.woken
}

// end brings what an act leaves into the canonical form.
func (a *act) end() State {
	a.trim()
	a.order()
	return a.State
}

// Close ends a session as when its connection breaks: its transaction is rolled back, its locks are released.
func (s State) Close(id SessionID) (State, []Woken) {
	if s.find(id) == nil {
		return s, nil
	}
	a := act{State: s.clone()}
	a.forget(id)
	a.endTransaction(id, false)
	a.named = slices.DeleteFunc(a.named, func(n namedLock) bool { return n.session == id })
	a.sessions = slices.DeleteFunc(a.sessions, func(p session) bool { return p.id == id })
	a.settle()
	return a.end(), a.woken
}

// A Reason is why a statement stops to wait.
type Reason uint8

const (
	TimedOut  Reason = iota // Wait.Timeout is over
	Cancelled               // KILL QUERY, pg_cancel_backend
)

// GiveUp ends the wait of a session's statement and returns its answer among those of others. Without a wait nothing
// happens.
func (s State) GiveUp(id SessionID, why Reason) (State, []Woken) {
	p := s.find(id)
	if p == nil || !p.waiting {
		return s, nil
	}
	a := act{State: s.clone()}
	var reply Reply
	switch innodb := s.dialect.innodb(); {
	case innodb && why == Cancelled && p.on.kind == onName:
		reply = one(p.text.Function, Value{})
	case innodb && why == Cancelled:
		reply = failure(QueryInterrupted)
	case innodb && p.on.kind == onName:
		reply = one(p.text.Function, IntegerValue(0))
	case innodb:
		reply = failure(LockWaitTimeout)
	case why == Cancelled:
		reply = failure(QueryCanceled)
	default:
		reply = failure(LockNotAvailable)
	}
	a.answer(id, reply)
	a.settle()
	return a.end(), a.woken
}

// CheckDeadlock has a session of PostgreSQL that waits look for a deadlock that it is part of. If there is one, its
// statement fails with DeadlockDetected.
func (s State) CheckDeadlock(id SessionID) (State, []Woken) {
	if p := s.find(id); s.dialect.innodb() || p == nil || !p.waiting || s.cycle(id) == nil {
		return s, nil
	}
	a := act{State: s.clone()}
	a.answer(id, failure(DeadlockDetected))
	a.settle()
	return a.end(), a.woken
}

// answer ends a statement that waits.
func (a *act) answer(id SessionID, r Reply) {
	a.woken = append(a.woken, Woken{id, a.finish(id, r)})
}

// settle lets those go on that wait for nothing any more, in the order of their waits.
func (a *act) settle() {
	for i := 0; i < len(a.queue); i++ {
		id := a.queue[i]
		if len(a.blockers(id, a.find(id).on)) > 0 {
			continue
		}
		if r := a.attempt(id); !r.Waits {
			a.woken = append(a.woken, Woken{id, r})
		}
		i = -1
	}
	for _, id := range a.queue { // one that had another way out is left when that is gone
		if c := a.cycle(id); a.dialect.innodb() && a.find(id).on.kind != onName && c != nil {
			sacrifice(a, id, c)
			a.settle()
			return
		}
	}
}

// sacrifice rolls back the transaction of the least weight in a deadlock, of several that of one session.
func sacrifice(a *act, id SessionID, deadlock []SessionID) (victim SessionID) {
	victim = id
	for _, o := range deadlock {
		if a.weight(o) < a.weight(victim) {
			victim = o
		}
	}
	a.endTransaction(victim, false)
	a.woken = append(a.woken, Woken{victim, a.finish(victim, failure(Deadlock))})
	return victim
}

// attempt runs the statement of a session until it ends or waits.
func (a *act) attempt(id SessionID) Reply {
	r, on := a.run(id)
	if on.kind == nothing {
		return a.finish(id, r)
	}
	a.find(id).on = on
	a.queue = append(slices.DeleteFunc(a.queue, func(o SessionID) bool { return o == id }), id)
	for a.dialect.innodb() && a.find(id).waiting {
		c := a.cycle(id)
		if c == nil {
			break
		}
		if on.kind == onName {
			return a.finish(id, failure(map[Dialect]Code{MariaDB: Deadlock, MySQL: UserLockDeadlock}[a.dialect]))
		}
		if sacrifice(a, id, c) == id {
			last := len(a.woken) - 1
			r := a.woken[last].Reply
			a.woken = a.woken[:last]
			return r
		}
	}
	return Reply{Waits: true}
}

// forget clears a session's statement.
func (a *act) forget(id SessionID) {
	p := a.find(id)
	p.waiting, p.on, p.text, p.args = false, wish{}, Statement{}, nil
	p.start, p.clock, p.moved, p.gone = 0, 0, false, false
	a.queue = slices.DeleteFunc(a.queue, func(o SessionID) bool { return o == id })
}

// finish ends a statement: outside BEGIN its transaction ends, too.
func (a *act) finish(id SessionID, r Reply) Reply {
	a.forget(id)
	p := a.find(id)
	switch failed := r.Code > NotFree; {
	case !p.open:
		a.endTransaction(id, !failed)
	case failed && !a.dialect.innodb(): // rolled back at once, and open until the client ends it
		a.endTransaction(id, false)
		p.open, p.failed = true, true
	}
	return r
}

// endTransaction commits or rolls back.
func (a *act) endTransaction(id SessionID, commit bool) {
	p := a.find(id)
	p.open, p.failed, p.began, p.written, p.local, p.localTo = false, false, 0, 0, false, 0
	a.locks = slices.DeleteFunc(a.locks, func(l lock) bool { return l.session == id })
	a.named = slices.DeleteFunc(a.named, func(n namedLock) bool { return n.session == id && n.transaction })
	for i := range a.sessions {
		if on := &a.sessions[i].on; slices.Contains(on.among, id) {
			if on.among = slices.DeleteFunc(slices.Clone(on.among), func(o SessionID) bool { return o == id }); len(on.among) == 0 {
				*on = wish{}
			}
		}
	}
	for ti := range a.tables {
		t := &a.tables[ti]
		for i := len(t.rows) - 1; i >= 0; i-- {
			r := &t.rows[i]
			if r.writer != id {
				continue
			}
			after := row{key: r.key, old: r.old}
			if commit {
				a.replaced(ti, *r)
				after.old = r.new
			}
			if *r = after; r.old == nil {
				a.removeRow(ti, r.key)
			}
		}
	}
}

// replaced tells those that wait for a row that a new version is committed. PostgreSQL goes on with the row that it
// has seen, in its new version; a row that is inserted anew under the key is another one.
func (a *act) replaced(ti int, r row) {
	for i := range a.sessions {
		if p := &a.sessions[i]; !a.dialect.innodb() && p.on.kind == onRow && p.on.table == ti && compareKeys(p.on.key, r.key) == 0 {
			p.moved, p.gone = true, p.gone || r.reinserted || r.new == nil
		}
	}
}

// run runs the statement of a session: it replies, or says what it waits for.
func (a *act) run(id SessionID) (Reply, wish) {
	p := a.find(id)
	st := p.text
	if p.failed && st.Verb != Commit && st.Verb != Rollback {
		return failure(InFailed), wish{}
	}
	switch st.Verb {
	case Ping:
		return one("1", IntegerValue(1)), wish{}
	case Begin:
		if a.dialect.innodb() {
			a.endTransaction(id, true)
		}
		p.open = true
		return Reply{}, wish{}
	case Commit, Rollback:
		r := Reply{}
		if p.failed && st.Verb == Commit {
			r.Text = "ROLLBACK"
		}
		a.endTransaction(id, st.Verb == Commit && !p.failed)
		return r, wish{}
	case Set:
		return set(a.dialect, p), wish{}
	case Call:
		return a.call(id)
	}
	ti := slices.IndexFunc(a.tables, func(t table) bool { return t.def.Name == st.Table })
	if ti < 0 {
		return notCarried("the table " + st.Table + " does not exist"), wish{}
	}
	c := &change{s: &a.State, sc: a.scope(id, &a.tables[ti].def), id: id, st: st, ti: ti, problem: &problem{}}
	before := a.State.clone()
	r, on := c.execute()
	if c.problem.reason != "" { // nothing has happened
		a.State = before
		return notCarried(c.problem.reason), wish{}
	}
	return r, on
}

// scope is that of a session's statement.
func (a *act) scope(id SessionID, t *Table) scope {
	p := a.find(id)
	s := scope{dialect: a.dialect, table: t, args: p.args, start: p.start, now: p.start, clock: p.clock, horizon: a.options.Horizon}
	if p.open && !a.dialect.innodb() {
		s.now = p.began
	}
	return s
}

// set sets the time-out of locks.
func set(d Dialect, p *session) Reply {
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
