package database

import (
	"cmp"
	"fmt"
	"math"
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
	named    []namedLock // in order
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
}

// New is a server with tables and their rows, and no session. It panics on a table that Table does not describe.
func New(d Dialect, tables []Table, o Options) State {
	s := State{dialect: d, options: o}
	for _, def := range tables {
		t := table{def: def}
		t.def.Rows = nil
		for _, name := range def.Key {
			if at := def.column(name); at < 0 || def.Columns[at].Type == Timestamp {
				panic(fmt.Sprintf("database: table %s has no text and no integer %s for its key", def.Name, name))
			}
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
	s.sessions, s.queue = slices.Clone(s.sessions), slices.Clone(s.queue)
	s.locks, s.named = slices.Clone(s.locks), slices.Clone(s.named)
	return s
}

// Sorted brings a State whose texts have been replaced into the order of its keys. Gap locks move with the keys
// below which they lie, so that the new texts must have the order of the old ones where there are any.
func (s State) Sorted() State {
	s = s.clone()
	for _, t := range s.tables {
		slices.SortFunc(t.rows, func(a, b row) int { return compareKeys(a.key, b.key) })
	}
	s.order()
	return s
}

// order is the canonical form of locks, and empty lists are nil.
func (s *State) order() {
	slices.SortFunc(s.locks, lock.compare)
	slices.SortFunc(s.named, namedLock.compare)
	s.locks, s.named, s.queue, s.sessions = none(s.locks), none(s.named), none(s.queue), none(s.sessions)
	for i := range s.tables {
		s.tables[i].rows = none(s.tables[i].rows)
	}
}

func none[E any](list []E) []E {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Dialect is the dialect of the server.
func (s State) Dialect() Dialect { return s.dialect }

// Committed is the server without sessions: what a restart leaves, and what a replica has.
func (s State) Committed() State {
	s = s.clone()
	for i := range s.tables {
		t := &s.tables[i]
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return r.old == nil })
		for k := range t.rows {
			t.rows[k] = row{key: t.rows[k].key, old: t.rows[k].old}
		}
	}
	s.sessions, s.queue, s.locks, s.named = nil, nil, nil, nil
	s.trim()
	s.order()
	return s
}

// find is the session with a number; nil: it is not connected.
func (s *State) find(id SessionID) *session {
	i, ok := slices.BinarySearchFunc(s.sessions, id, func(a session, id SessionID) int { return cmp.Compare(a.id, id) })
	if !ok {
		return nil
	}
	return &s.sessions[i]
}

// Connect begins a session under a number that is free.
func (s State) Connect(id SessionID) State {
	if s.find(id) != nil {
		return s
	}
	s = s.clone()
	n := session{id: id}
	if s.dialect.innodb() {
		n.timeout = innodbTimeout
	}
	s.sessions = append(s.sessions, n)
	slices.SortFunc(s.sessions, func(a, b session) int { return cmp.Compare(a.id, b.id) })
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
	s.times(func(at int64) int64 {
		if at == past {
			return past
		}
		return at - d
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

// times replaces all times of rows.
func (s *State) times(f func(int64) int64) {
	change := func(version []Value) []Value {
		version = slices.Clone(version) // nil stays nil
		for i := range version {
			if version[i].Type == Timestamp {
				version[i].Int = f(version[i].Int)
			}
		}
		return version
	}
	for _, t := range s.tables {
		if !slices.ContainsFunc(t.def.Columns, func(c Column) bool { return c.Type == Timestamp }) {
			continue
		}
		for i := range t.rows {
			r := &t.rows[i]
			r.old, r.new = change(r.old), change(r.new)
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
	s.times(func(at int64) int64 {
		if at < oldest-s.options.Horizon {
			return past
		}
		return at
	})
}

// Next is the smallest d > 0 after which a comparison of a time of a row with NOW plus one of the intervals, in
// milliseconds, can come out otherwise than now: when d has passed they are equal, or have just been. It is 0 if there is
// none. (A time t that is compared with NOW comes out otherwise at t and once more at t+1.)
func (s State) Next(intervals ...int64) int64 {
	next := int64(math.MaxInt64)
	s = s.clone()
	s.times(func(at int64) int64 {
		for _, i := range intervals {
			for _, d := range []int64{at - i, at - i + 1} {
				if at != past && d > 0 {
					next = min(next, d)
				}
			}
		}
		return at
	})
	if next == math.MaxInt64 {
		return 0
	}
	return next
}

// A Row is a row with its versions and its holder.
type Row struct {
	Committed []Value   // nil: none
	Written   []Value   // by the transaction of Writer; nil: deleted, or there is no Writer
	Writer    SessionID // 0: none
	Holder    SessionID // whose transaction has the row exclusively, 0: none
}

// Rows are the rows of a table by key. The caller must not change the values.
func (s State) Rows(name string) (all []Row) {
	for ti, t := range s.tables {
		for _, r := range t.rows {
			if t.def.Name == name {
				seen := Row{Committed: r.old, Written: r.new, Writer: r.writer, Holder: r.writer}
				for _, l := range s.locks {
					if l.table == ti && l.mode == exclusive && compareKeys(l.key, r.key) == 0 {
						seen.Holder = l.session
					}
				}
				all = append(all, seen)
			}
		}
	}
	return all
}

// A Named is a named lock that a session holds.
type Named struct {
	Name    Value
	Session SessionID
}

// Named are the named locks that are held.
func (s State) Named() (all []Named) {
	for _, n := range s.named {
		if len(all) == 0 || all[len(all)-1] != (Named{n.name, n.session}) {
			all = append(all, Named{n.name, n.session})
		}
	}
	return all
}

// A Wait is a statement that waits.
type Wait struct {
	Session SessionID
	For     []SessionID // it goes on when none of these holds, or waits earlier for, what it waits for
	// Timeout is the number of milliseconds after which the caller calls GiveUp, from the beginning of this wait; of
	// GET_LOCK from the beginning of the statement. 0: it waits without end.
	Timeout int64
	// Check is the number of milliseconds after the beginning of the wait at which the caller calls CheckDeadlock
	// once. 0: the server has looked for deadlocks when the wait began.
	Check int64
}

// Waits are the statements that wait, in the order in which their waits began.
func (s State) Waits() (all []Wait) {
	for _, id := range s.queue {
		p := s.find(id)
		w := Wait{Session: id, For: s.blockers(id, p.on), Timeout: p.lockTimeout()}
		switch {
		case !s.dialect.innodb():
			w.Check = deadlockCheckedIn
		case p.on.kind == onName:
			w.Timeout = p.on.seconds * 1000
		}
		all = append(all, w)
	}
	return all
}

func (p *session) lockTimeout() int64 {
	if p.local {
		return p.localTo
	}
	return p.timeout
}
