package database

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// A SessionID is the number that the caller gives to a session, from 1.
type SessionID uint8

// A State is everything that a server holds. It is a plain value that never changes, so that a copy is a snapshot;
// equal States are equal values.
type State struct {
	dialect  Dialect
	options  Options
	tables   []table
	sessions []session   // by id
	queue    []SessionID // those that wait, in the order in which their waits began
	locks    []lock      // in order
}

// Options of a server and of what is kept of the past.
type Options struct {
	// Horizon is the number of milliseconds before the server's present within which a State keeps times apart:
	// the largest interval that a statement subtracts from NOW, and all jumps back of the clock that are still to
	// come. Of a time that lies further back only that is kept. A statement that looks further back is not carried.
	Horizon int64
	// OldGetLock is a MySQL before 5.7.5: GET_LOCK releases the lock that the session has. Not compared.
	OldGetLock bool
}

type table struct {
	def  Table `codec:"derived"` // without rows; see withTables
	rows []row // by key
}

// A row has a committed version and what a transaction has made of it.
type row struct {
	key        []Value
	old        []Value   // committed; nil: none
	new        []Value   // of writer; nil: deleted
	writer     SessionID // whose transaction has written it; 0: none
	reinserted bool      // PostgreSQL: writer has deleted old before it inserted new
}

// current is the version that a session reads and changes.
func (r *row) current(id SessionID) []Value {
	if r.writer == id {
		return r.new
	}
	return r.old
}

// A session with its transaction and its statement. What is over is zero.
type session struct {
	id      SessionID
	open    bool  // BEGIN
	failed  bool  // PostgreSQL: an error has ended the transaction, but for ROLLBACK
	began   int64 // PostgreSQL: the time of BEGIN
	written int64 // rows, of the transaction
	timeout int64 // of locks, in milliseconds; 0: none
	local   bool  // SET LOCAL has set localTo
	localTo int64
	waiting bool
	on      wish      // of the wait; zero: it may go on
	text    Statement // that waits
	args    []Value
	start   int64 // when it began
	clock   int64 // PostgreSQL: when it looked at the row that it waits for
	moved   bool  // PostgreSQL: that row has another version now
	gone    bool  // PostgreSQL: that row was deleted
	checked bool  // PostgreSQL: it has looked for a deadlock since it waits
}

func (p session) compare(o session) int { return cmp.Compare(p.id, o.id) }

// New is a server with tables and their rows, and no session. It panics on a table that Table does not describe.
func New(d Dialect, tables []Table, o Options) State {
	s := State{dialect: d, options: o}
	for _, def := range tables {
		t := table{def: def}
		t.def.Rows = nil
		if key, what := def.check(); key != "" {
			panic(fmt.Sprintf("database: table %s: %s: %v", def.Name, key, what))
		}
		for _, r := range def.Rows {
			t.rows = append(t.rows, row{key: def.key(r), old: r})
		}
		s.tables = append(s.tables, t)
	}
	return s.Sorted()
}

// clone is a State whose lists may be changed. Keys, versions of rows and arguments are shared.
func (s State) clone() State {
	s.tables = slices.Clone(s.tables)
	for i := range s.tables {
		s.tables[i].rows = slices.Clone(s.tables[i].rows)
	}
	s.sessions, s.queue, s.locks = slices.Clone(s.sessions), slices.Clone(s.queue), slices.Clone(s.locks)
	return s
}

// Sorted brings a State whose texts or sessions have been replaced into the order of its keys. Gap locks move with the
// keys below which they lie, so that the new texts must have the order of the old ones where there are any.
func (s State) Sorted() State {
	s = s.clone()
	for _, t := range s.tables {
		slices.SortFunc(t.rows, func(a, b row) int { return compareKeys(a.key, b.key) })
	}
	slices.SortFunc(s.sessions, session.compare)
	slices.SortFunc(s.locks, lock.compare)
	return s
}

// Dialect is the dialect of the server.
func (s State) Dialect() Dialect { return s.dialect }

// Committed is the server without sessions: what a restart leaves, and what a replica has.
func (s State) Committed() State {
	s = s.clone()
	for i := range s.tables {
		t := &s.tables[i]
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return r.old == nil })
		for k, r := range t.rows {
			t.rows[k] = row{key: r.key, old: r.old}
		}
	}
	s.sessions, s.queue, s.locks = nil, nil, nil
	s.trim()
	return s
}

// place is the place of a session in the list, or the one where it belongs.
func (s *State) place(id SessionID) (int, bool) {
	return slices.BinarySearchFunc(s.sessions, session{id: id}, session.compare)
}

// find is the session with a number; nil: it is not connected.
func (s *State) find(id SessionID) *session {
	i, ok := s.place(id)
	if !ok {
		return nil
	}
	return &s.sessions[i]
}

// fresh is a session that has just begun.
func (d Dialect) fresh(id SessionID) session {
	if d.innodb() {
		return session{id: id, timeout: innodbTimeout}
	}
	return session{id: id}
}

// Connect begins a session under a number that is free.
func (s State) Connect(id SessionID) State {
	if i, ok := s.place(id); !ok {
		s = s.clone()
		s.sessions = slices.Insert(s.sessions, i, s.dialect.fresh(id))
	}
	return s
}

// holds reports whether a session has a transaction, or a lock by a name: something that is lost with it.
func (s *State) holds(id SessionID) bool {
	p := s.find(id)
	byName := func(l lock) bool { return l.session == id && l.table == names }
	return p != nil && (p.open || slices.ContainsFunc(s.locks, byName))
}

// withoutIdle is a State without sessions that are as if they had just begun, which begin again when they ask.
func (s State) withoutIdle() State {
	s.sessions = slices.DeleteFunc(slices.Clone(s.sessions), func(p session) bool {
		return !s.holds(p.id) && reflect.DeepEqual(p, s.dialect.fresh(p.id))
	})
	return s
}

// at is the place of a key among the rows of a table.
func (t *table) at(key []Value) (int, bool) {
	return slices.BinarySearchFunc(t.rows, key, func(r row, key []Value) int { return compareKeys(r.key, key) })
}

// Shift lets d milliseconds pass on the server's clock; it jumps back if d is negative (see Options.Horizon).
func (s State) Shift(d int64) State {
	s = s.clone()
	for i := range s.sessions {
		p := &s.sessions[i]
		if p.open && !s.dialect.innodb() && s.timed() {
			p.began -= d
		}
		if p.waiting {
			p.start, p.clock = p.start-d, p.clock-d
		}
	}
	s.replace(func(v Value) Value {
		if v.Type == Timestamp && v.Int != past {
			v.Int -= d
		}
		return v
	})
	s.trim()
	return s
}

// timed reports whether rows have times, so that it matters when a transaction began.
func (s *State) timed() bool {
	return slices.ContainsFunc(s.tables, func(t table) bool {
		return slices.ContainsFunc(t.def.Columns, func(c Column) bool { return c.Type == Timestamp })
	})
}

// replace puts f of it in the place of every value of a row.
func (s *State) replace(f func(Value) Value) {
	change := func(version []Value) []Value {
		for i, v := range version {
			if is := f(v); is != v {
				version = slices.Clone(version)
				version[i] = is
			}
		}
		return version
	}
	for _, t := range s.tables {
		for i := range t.rows {
			t.rows[i].old, t.rows[i].new = change(t.rows[i].old), change(t.rows[i].new)
		}
	}
}

// trim makes one time of all that lie before every time that a statement can still come to: the oldest NOW that a
// transaction or a statement has, and Horizon before it.
func (s *State) trim() {
	oldest := int64(0)
	for _, p := range s.sessions {
		oldest = min(oldest, p.began, p.start, p.clock)
	}
	s.replace(func(v Value) Value {
		if v.Type == Timestamp && v.Int < oldest-s.options.Horizon {
			v.Int = past
		}
		return v
	})
}

// A Wait is for how long a statement waits.
type Wait struct {
	// Timeout is the number of milliseconds after which the caller calls GiveUp, from the beginning of this wait; of
	// GET_LOCK from the beginning of the statement. 0: it waits without end.
	Timeout int64
	// Check is the number of milliseconds after the beginning of the wait at which the caller calls CheckDeadlock.
	// 0: the server has looked for deadlocks, when the wait began or since.
	Check int64
}

// Wait is that of a session; false: it does not wait.
func (s State) Wait(id SessionID) (w Wait, ok bool) {
	p := s.find(id)
	if p == nil || !p.waiting {
		return w, false
	}
	if w.Timeout = p.timeout; p.local {
		w.Timeout = p.localTo
	}
	switch {
	case !s.dialect.innodb() && !p.checked:
		w.Check = deadlockCheckedIn
	case s.dialect.innodb() && p.on.table == names:
		w.Timeout = p.on.seconds * 1000
	}
	return w, true
}
