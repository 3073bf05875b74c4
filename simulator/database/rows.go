package database

import "slices"

// A change is a statement on the rows of one table.
type change struct {
	s       *State
	sc      scope
	id      SessionID
	st      Statement
	ti      int
	problem *problem
}

func (c *change) table() *table { return &c.s.tables[c.ti] }

// execute replies, or says what the statement waits for.
func (c *change) execute() (Reply, wish) {
	switch c.st.Verb {
	case Select:
		return c.selects()
	case Insert:
		return c.insert()
	}
	key, ok := c.key()
	if !ok {
		c.problem.fail("a condition without the whole primary key, which locks what a scan meets")
		return Reply{}, wish{}
	}
	version, r, on := c.reach(key)
	if version == nil {
		return c.columns(r), on
	}
	if c.st.Verb == Update {
		return c.update(key, version, nil, 1), wish{}
	}
	c.write(key, nil)
	return c.returning(version, 1), wish{}
}

// key is the primary key that the condition asks for.
func (c *change) key() (key []Value, ok bool) {
	key, ok = c.sc.keyOf(c.st.Where, c.problem)
	for i := range key {
		if at := c.sc.table.column(c.sc.table.Key[i]); key[i].Type != Null {
			c.sc.fits(c.sc.table.Columns[at], key[i], c.problem)
		}
	}
	return key, ok && c.problem.reason == ""
}

// version returns the version of a row that the session sees; nil: none.
func (c *change) version(key []Value) []Value {
	i, ok := c.table().at(key)
	if !ok {
		return nil
	}
	return c.table().rows[i].current(c.id)
}

// meets reports whether a version of a row meets the condition.
func (c *change) meets(version, proposed []Value) bool {
	c.sc.row, c.sc.proposed = version, proposed
	return c.sc.holds(c.st.Where, c.problem)
}

// reach locks the row of a key exclusively if it meets the condition, and returns its version; nil: there is none, with a
// reply, or the wish for which the statement waits.
func (c *change) reach(key []Value) (version []Value, r Reply, on wish) {
	w := wish{kind: onRow, table: c.ti, key: key, mode: exclusive}
	_, exists := c.table().at(key)
	version = c.version(key)
	p := c.s.find(c.id)
	switch innodb := c.s.dialect.innodb(); {
	case slices.ContainsFunc(key, func(v Value) bool { return v.Type == Null }), !innodb && (version == nil || p.gone):
		return nil, r, on
	case !exists:
		c.s.hold(lock{c.ti, c.table().heir(key), exclusiveGap, c.id})
		return nil, r, on
	case !innodb && !p.moved && !c.meets(version, nil):
		return nil, r, on
	case !c.s.lockRow(c.id, w):
		switch {
		case c.st.Verb != Select || c.st.Locking == ForUpdate:
			on = w
		case c.st.Locking == SkipLocked && innodb: // the search goes on to the next key
			c.s.hold(lock{c.ti, c.table().heir(key), exclusiveGap, c.id})
		case c.st.Locking == NoWait:
			r = failure(map[Dialect]Code{MariaDB: LockWaitTimeout, MySQL: LockNowait, PostgreSQL: LockNotAvailable}[c.s.dialect])
		}
		return nil, r, on
	case version == nil: // deleted by this transaction
		return nil, r, on
	}
	if p.moved {
		c.sc.clock = 0
	}
	if (c.s.dialect.innodb() || p.moved) && !c.meets(version, nil) {
		return nil, r, on
	}
	return version, r, on
}

// selects reads rows, and locks them.
func (c *change) selects() (Reply, wish) {
	key, exact := c.key()
	keys := [][]Value{key}
	plain, innodb := c.st.Locking == Plain, c.s.dialect.innodb()
	ordered := slices.Equal(c.st.Order, c.sc.table.Key)
	switch {
	case plain && innodb && c.s.find(c.id).open:
		c.problem.fail("SELECT without FOR UPDATE in a transaction, which reads a snapshot")
	case len(c.st.Order) > 0 && !ordered:
		c.problem.fail("an order that is not that of the primary key")
	case !exact && !(ordered && (plain || !innodb && c.st.Locking == SkipLocked)):
		c.problem.fail("a condition without the whole primary key, unless ORDER BY has it, and nothing is locked (or PostgreSQL skips what is locked)")
	case !exact:
		keys = nil
		for _, r := range c.table().rows {
			keys = append(keys, r.key)
		}
	}
	reply := c.columns(Reply{})
	for _, key := range keys {
		if c.problem.reason != "" || c.st.Limit > 0 && len(reply.Rows) == int(c.st.Limit) {
			break
		}
		version := c.version(key)
		if !plain {
			r, on := Reply{}, wish{}
			if version, r, on = c.reach(key); r.Code != OK || on.kind != nothing {
				return r, on
			}
		} else if version == nil || !c.meets(version, nil) {
			continue
		}
		if version != nil {
			c.sc.row = version
			reply.Rows = append(reply.Rows, c.sc.shown(c.st.Items, c.problem))
		}
	}
	return reply, wish{}
}

// columns gives a reply the names of what the statement returns.
func (c *change) columns(r Reply) Reply {
	if r.Code == OK {
		for _, e := range c.st.Items {
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
func (c *change) returning(version []Value, affected int64) Reply {
	r := c.columns(Reply{Affected: affected})
	if c.sc.row = version; len(c.st.Items) > 0 {
		r.Rows = [][]Value{c.sc.shown(c.st.Items, c.problem)}
	}
	return r
}

// write gives a row that this transaction has locked a new version.
func (c *change) write(key, version []Value) {
	i, _ := c.table().at(key)
	r := &c.table().rows[i]
	r.reinserted = r.reinserted || !c.s.dialect.innodb() && r.writer == c.id && r.new == nil && r.old != nil
	r.new, r.writer = version, c.id
	c.s.find(c.id).written++
}

// update changes a row as the assignments say. MySQL counts a row only if it is another one then.
func (c *change) update(key, version, proposed []Value, affected int64) Reply {
	next := slices.Clone(version)
	c.sc.row, c.sc.proposed = version, proposed
	for _, set := range c.st.Sets {
		at := c.sc.table.column(set.Column)
		if at < 0 {
			c.problem.fail("the column %s does not exist", set.Column)
			return Reply{}
		}
		v := c.sc.fits(c.sc.table.Columns[at], c.sc.eval(set.Value, c.problem), c.problem)
		if slices.Contains(c.sc.table.Key, set.Column) && v != version[at] {
			c.problem.fail("another primary key for a row")
		}
		if next[at] = v; c.s.dialect.innodb() {
			c.sc.row = slices.Clone(next) // MySQL goes on with what it has assigned
		}
	}
	if c.s.dialect.innodb() && slices.Equal(next, version) {
		return Reply{}
	}
	c.write(key, next)
	return c.returning(next, affected)
}

// insert adds a row, or does on a conflict what the statement says.
func (c *change) insert() (Reply, wish) {
	def := c.sc.table
	values := make([]Value, len(def.Columns))
	for i, name := range c.st.Columns {
		at := def.column(name)
		if at < 0 || slices.Contains(c.st.Columns[:i], name) {
			c.problem.fail("the column %s does not exist, or stands twice", name)
			return Reply{}, wish{}
		}
		values[at] = c.sc.fits(def.Columns[at], c.sc.eval(c.st.Values[i], c.problem), c.problem)
	}
	key := def.key(values)
	switch {
	case slices.ContainsFunc(key, func(v Value) bool { return v.Type == Null }):
		c.problem.fail("NULL in the primary key, or no value for it")
	case c.st.Target != nil && !slices.Equal(slices.Sorted(slices.Values(c.st.Target)), slices.Sorted(slices.Values(def.Key))):
		c.problem.fail("ON CONFLICT of columns that are not the primary key")
	}
	i, exists := c.table().at(key)
	gap := wish{kind: onGap, table: c.ti, key: key}
	if c.s.dialect.innodb() && !exists {
		gap.among = c.s.blockers(c.id, gap)
	}
	switch {
	case c.problem.reason != "":
		return Reply{}, wish{}
	case len(gap.among) > 0:
		return Reply{}, gap
	case !exists:
		c.s.insertRow(c.ti, row{key: key, new: values, writer: c.id})
		c.s.find(c.id).written++
		return c.returning(values, 1), wish{}
	}
	w := wish{kind: onWriter, table: c.ti, key: key}
	if writer := c.table().rows[i].writer; !c.s.dialect.innodb() && writer != 0 && writer != c.id {
		return Reply{}, w
	}
	w.kind, w.mode = onRow, shared
	if c.st.Conflict == Replace {
		w.mode = exclusive
	}
	if (c.s.dialect.innodb() || c.st.Conflict == Replace && c.version(key) != nil) && !c.s.lockRow(c.id, w) {
		return Reply{}, w
	}
	version := c.version(key)
	if version == nil {
		c.write(key, values)
		return c.returning(values, 1), wish{}
	}
	return c.conflict(key, version, values), wish{}
}

// conflict runs an INSERT on a key that exists.
func (c *change) conflict(key, version, values []Value) Reply {
	c.sc.clock = 0
	switch affected := int64(1); {
	case c.st.Conflict == Ignore:
		return c.columns(Reply{})
	case c.st.Conflict == Fail && c.s.dialect.innodb():
		return failure(DuplicateEntry)
	case c.st.Conflict == Fail:
		return failure(UniqueViolation)
	case !c.meets(version, values):
		return c.columns(Reply{})
	default:
		if c.s.dialect.innodb() {
			affected = 2
		}
		return c.update(key, version, values, affected)
	}
}
