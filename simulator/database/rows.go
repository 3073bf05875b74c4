package database

import "slices"

// An execution is that of a session's statement on the rows of one table, or on locks by names. What a State does not
// simulate ends it with a refusal.
type execution struct {
	s        *State
	p        *session
	ti       int // of the table
	def      *Table
	row      []Value // on which expressions are evaluated; nil: there is none
	proposed []Value // the row that an INSERT would write
	now      int64   // what NOW(3) and now() say
	instant  int64   // what clock_timestamp() says
}

// execution is that of the statement of p.
func (s *State) execution(p *session) *execution {
	x := &execution{s: s, p: p, def: &Table{}, now: p.start, instant: p.clock}
	if p.open && !s.dialect.innodb() {
		x.now = p.began
	}
	if p.text.Verb == Call {
		return x
	}
	if x.ti = slices.IndexFunc(s.tables, func(t table) bool { return t.def.Name == p.text.Table }); x.ti < 0 {
		refuse("the table %s does not exist", p.text.Table)
	}
	x.def = &s.tables[x.ti].def
	return x
}

// execute replies, or has the statement wait.
func (x *execution) execute() Reply {
	switch x.p.text.Verb {
	case Call:
		return x.call()
	case Select:
		return x.selects()
	case Insert:
		return x.insert()
	}
	key, ok := x.key()
	if !ok {
		refuse("a condition without the whole primary key, which locks what a scan meets")
	}
	version, r := x.reach(key)
	if version == nil {
		return x.columns(r)
	}
	if x.p.text.Verb == Update {
		return x.update(key, version, nil, 1)
	}
	x.write(key, nil)
	return x.returning(version, 1)
}

// wait has the statement wait.
func (x *execution) wait(w wish) Reply {
	x.p.on = w
	return Reply{Waits: true}
}

// table is that of the statement.
func (x *execution) table() *table { return &x.s.tables[x.ti] }

// version returns the version of a row that the session sees; nil: none.
func (x *execution) version(key []Value) []Value {
	i, ok := x.table().at(key)
	if !ok {
		return nil
	}
	return x.table().rows[i].current(x.p.id)
}

// meets reports whether a version of a row meets the condition.
func (x *execution) meets(version, proposed []Value) bool {
	x.row, x.proposed = version, proposed
	for _, e := range x.p.text.Where {
		switch v := x.eval(e); {
		case v.Type == Null:
			return false
		case v.Type != Bool:
			refuse("a condition that is no comparison")
		case v.Int == 0:
			return false
		}
	}
	return true
}

// reach locks the row of a key exclusively if it meets the condition, and returns its version; nil: there is none, with
// a reply, or the statement waits.
func (x *execution) reach(key []Value) (version []Value, r Reply) {
	w := wish{kind: onKey, table: x.ti, key: key, mode: exclusive}
	gap := lock{table: x.ti, key: x.table().heir(key), mode: exclusiveGap, session: x.p.id}
	_, exists := x.table().at(key)
	version = x.version(key)
	switch innodb := x.s.dialect.innodb(); {
	case slices.ContainsFunc(key, Value.null), !innodb && (version == nil || x.p.gone):
		return nil, r
	case !exists:
		x.s.hold(gap)
		return nil, r
	case !innodb && !x.p.moved && !x.meets(version, nil):
		return nil, r
	case !x.s.lockRow(x.p.id, w):
		switch {
		case x.p.text.Verb != Select || x.p.text.Locking == ForUpdate:
			r = x.wait(w)
		case x.p.text.Locking == SkipLocked && innodb: // the search goes on to the next key
			x.s.hold(gap)
		case x.p.text.Locking == NoWait:
			locked := map[Dialect]Code{MariaDB: LockWaitTimeout, MySQL: LockNowait, PostgreSQL: LockNotAvailable}
			r = failure(locked[x.s.dialect])
		}
		return nil, r
	case version == nil: // deleted by this transaction
		return nil, r
	}
	if x.p.moved {
		x.instant = 0
	}
	if (x.s.dialect.innodb() || x.p.moved) && !x.meets(version, nil) {
		return nil, r
	}
	return version, r
}

// selects reads rows, and locks them.
func (x *execution) selects() Reply {
	key, exact := x.key()
	keys := [][]Value{key}
	plain, innodb := x.p.text.Locking == Plain, x.s.dialect.innodb()
	ordered := slices.Equal(x.p.text.Order, x.def.Key)
	switch {
	case plain && innodb && x.p.open:
		refuse("SELECT without FOR UPDATE in a transaction, which reads a snapshot")
	case len(x.p.text.Order) > 0 && !ordered:
		refuse("an order that is not that of the primary key")
	case !exact && !(ordered && (plain || !innodb && x.p.text.Locking == SkipLocked)):
		refuse("a condition without the whole primary key, unless ORDER BY has it, and nothing is locked " +
			"(or PostgreSQL skips what is locked)")
	case !exact:
		keys = nil
		for _, r := range x.table().rows {
			keys = append(keys, r.key)
		}
	}
	reply := x.columns(Reply{})
	for _, key := range keys {
		if x.p.text.Limit > 0 && len(reply.Rows) == int(x.p.text.Limit) {
			break
		}
		version := x.version(key)
		if !plain {
			var r Reply
			if version, r = x.reach(key); r.Code != OK || r.Waits {
				return r
			}
		} else if version == nil || !x.meets(version, nil) {
			continue
		}
		if version != nil {
			reply.Rows = append(reply.Rows, x.shown(version))
		}
	}
	return reply
}

// columns gives a reply the names of what the statement returns.
func (x *execution) columns(r Reply) Reply {
	if r.Code == OK && !r.Waits {
		for _, e := range x.p.text.Items {
			name := "?column?" // as PostgreSQL says; MySQL repeats the expression
			if len(e) == 1 && e[0].op == opColumn {
				name = e[0].text
			}
			r.Columns = append(r.Columns, name)
		}
	}
	return r
}

// returning replies that a row has been written.
func (x *execution) returning(version []Value, affected int64) Reply {
	r := x.columns(Reply{Affected: affected})
	if len(x.p.text.Items) > 0 {
		r.Rows = [][]Value{x.shown(version)}
	}
	return r
}

// write gives a row that this transaction has locked a new version.
func (x *execution) write(key, version []Value) {
	i, _ := x.table().at(key)
	r := &x.table().rows[i]
	r.reinserted = r.reinserted || !x.s.dialect.innodb() && r.writer == x.p.id && r.new == nil && r.old != nil
	r.new, r.writer = version, x.p.id
	x.p.written++
}

// update changes a row as the assignments say. MySQL counts a row only if it is another one then.
func (x *execution) update(key, version, proposed []Value, affected int64) Reply {
	next := slices.Clone(version)
	x.row, x.proposed = version, proposed
	for _, set := range x.p.text.Sets {
		at := x.def.column(set.Column)
		if at < 0 {
			refuse("the column %s does not exist", set.Column)
		}
		v := x.fits(at, x.eval(set.Value))
		if slices.Contains(x.def.Key, set.Column) && v != version[at] {
			refuse("another primary key for a row")
		}
		if next[at] = v; x.s.dialect.innodb() {
			x.row = slices.Clone(next) // MySQL goes on with what it has assigned
		}
	}
	if x.s.dialect.innodb() && slices.Equal(next, version) {
		return Reply{}
	}
	x.write(key, next)
	return x.returning(next, affected)
}

// proposal is the row that an INSERT would write, and its key.
func (x *execution) proposal() (key, values []Value) {
	values = make([]Value, len(x.def.Columns))
	for i, name := range x.p.text.Columns {
		at := x.def.column(name)
		if at < 0 || slices.Contains(x.p.text.Columns[:i], name) {
			refuse("the column %s does not exist, or stands twice", name)
		}
		values[at] = x.fits(at, x.eval(x.p.text.Values[i]))
	}
	key = x.def.key(values)
	target := slices.Sorted(slices.Values(x.p.text.Target))
	switch {
	case slices.ContainsFunc(key, Value.null):
		refuse("NULL in the primary key, or no value for it")
	case target != nil && !slices.Equal(target, slices.Sorted(slices.Values(x.def.Key))):
		refuse("ON CONFLICT of columns that are not the primary key")
	}
	return key, values
}

// insert adds a row, or does on a conflict what the statement says.
func (x *execution) insert() Reply {
	key, values := x.proposal()
	innodb, replaces := x.s.dialect.innodb(), x.p.text.Conflict == Replace
	i, exists := x.table().at(key)
	if !exists {
		gap := wish{kind: onGap, table: x.ti, key: key}
		if innodb {
			gap.among = x.s.blockers(x.p.id, gap)
		}
		if len(gap.among) > 0 {
			return x.wait(gap)
		}
		x.s.insertRow(x.ti, row{key: key, new: values, writer: x.p.id})
		x.p.written++
		return x.returning(values, 1)
	}
	if writer := x.table().rows[i].writer; !innodb && writer != 0 && writer != x.p.id {
		return x.wait(wish{kind: onWriter, table: x.ti, key: key})
	}
	w := wish{kind: onKey, table: x.ti, key: key, mode: shared}
	if replaces {
		w.mode = exclusive
	}
	if (innodb || replaces && x.version(key) != nil) && !x.s.lockRow(x.p.id, w) {
		return x.wait(w)
	}
	version := x.version(key)
	if version == nil {
		x.write(key, values)
		return x.returning(values, 1)
	}
	return x.conflict(key, version, values)
}

// conflict runs an INSERT on a key that exists.
func (x *execution) conflict(key, version, values []Value) Reply {
	x.instant = 0
	switch affected := int64(1); {
	case x.p.text.Conflict == Ignore:
		return x.columns(Reply{})
	case x.p.text.Conflict == Fail && x.s.dialect.innodb():
		return failure(DuplicateEntry)
	case x.p.text.Conflict == Fail:
		return failure(UniqueViolation)
	case !x.meets(version, values):
		return x.columns(Reply{})
	default:
		if x.s.dialect.innodb() {
			affected = 2
		}
		return x.update(key, version, values, affected)
	}
}
