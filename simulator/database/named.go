package database

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// A caller is a session that calls a function of named locks.
type caller struct {
	*State
	id       SessionID
	function string
}

// call runs a function of named locks.
func (a *act) call(id SessionID) (Reply, wish) {
	problem, st := &problem{}, a.find(id).text
	sc := a.scope(id, &Table{})
	c := caller{&a.State, id, st.Function}
	var values []Value
	for _, e := range st.Values {
		values = append(values, sc.eval(e, problem))
	}
	name := values[0]
	switch innodb := a.dialect.innodb(); {
	case problem.reason != "":
	case !innodb && name.Type != Integer && name.Type != hashed:
		problem.fail("an advisory lock that is neither a number nor hashtext of a text")
	case !innodb:
		return c.advisory(name)
	case name.Type != Text || name.Text == "" || len(name.Text) > 64 || strings.ContainsFunc(name.Text, func(r rune) bool { return r <= ' ' || r > '~' }):
		problem.fail("a named lock whose name is not of 1 to 64 letters of ASCII without spaces")
	case len(values) == 2 && (values[1].Type != Integer || values[1].Int < 0):
		problem.fail("GET_LOCK with a time-out that is not a number of whole seconds, 0 or more")
	default:
		if a.dialect == MySQL {
			name.Text = strings.ToLower(name.Text)
		}
		return c.userLock(name, values)
	}
	return notCarried(problem.reason), wish{}
}

// holder is the place of a named lock that a session holds; -1: it does not.
func (c *caller) holder(name Value, transaction bool) int {
	return slices.IndexFunc(c.named, func(n namedLock) bool {
		return n.session == c.id && n.name == name && n.transaction == transaction
	})
}

// take takes a named lock, once more if the session has it. With try it does not wait: got says what came of it.
func (c *caller) take(w wish, transaction, try bool) (got bool, on wish) {
	mine := slices.ContainsFunc(c.named, func(n namedLock) bool { return n.session == c.id && n.name == w.name })
	if !mine && len(c.blockers(c.id, w)) > 0 {
		if try {
			return false, wish{}
		}
		return false, w
	}
	if at := c.holder(w.name, transaction); at >= 0 {
		if !transaction {
			c.named[at].count++
		}
	} else {
		c.named = append(c.named, namedLock{w.name, c.id, 1, transaction})
	}
	return true, wish{}
}

// release gives a named lock of the session back, once.
func (c *caller) release(name Value) (held bool) {
	at := c.holder(name, false)
	if at < 0 {
		return false
	}
	if c.named[at].count--; c.named[at].count == 0 {
		c.named = slices.Delete(c.named, at, at+1)
	}
	return true
}

// userLock runs MySQL's functions.
func (c *caller) userLock(name Value, values []Value) (Reply, wish) {
	held := slices.ContainsFunc(c.named, func(n namedLock) bool { return n.name == name })
	v := Value{}
	switch c.function {
	case "get_lock":
		if c.options.OldGetLock {
			c.named = slices.DeleteFunc(c.named, func(n namedLock) bool { return n.session == c.id })
		}
		w := wish{kind: onName, name: name, seconds: values[1].Int}
		got, on := c.take(w, false, w.seconds == 0)
		if on.kind != nothing {
			return Reply{}, on
		}
		v = truth(got)
	case "release_lock":
		if ours := c.release(name); held {
			v = truth(ours)
		}
	case "is_free_lock":
		v = truth(!held)
	}
	if v.Type == Bool {
		v.Type = Integer
	}
	return one(c.function, v), wish{}
}

// advisory runs PostgreSQL's functions.
func (c *caller) advisory(name Value) (Reply, wish) {
	w := wish{kind: onName, name: name}
	switch transaction := strings.Contains(c.function, "xact"); {
	case strings.HasSuffix(c.function, "unlock"):
		return one(c.function, truth(c.release(name))), wish{}
	case strings.Contains(c.function, "try"):
		got, _ := c.take(w, transaction, true)
		return one(c.function, truth(got)), wish{}
	default:
		_, on := c.take(w, transaction, false)
		return one(c.function, TextValue("")), on
	}
}

// A lease is a key that a client has: by a row of a table (see [Table]), or by a lock that the server keeps for a
// session, of a row that has no owner or by a name.
type lease struct {
	key     string
	owner   string    // of a row
	session SessionID // whose lock it is; 0: it is a row
	until   int64     // milliseconds of the server's clock, from now; forever: without end
}

const forever = math.MaxInt64

// held reports whether there is a lease.
func (l lease) held() bool { return l.owner != "" || l.session != 0 }

// SessionText is the session of a client's connection as histories have it: as the value of the key that it has locked.
func SessionText(client, slot int8) string { return fmt.Sprintf("c%d.session%d", client, slot) }

// text is the owner as histories have it: as the value of the key.
func (l lease) text() string {
	if l.session != 0 {
		return SessionText(clientOf(l.session), slotOf(l.session))
	}
	return l.owner
}

// holds reports whether a session has a transaction, or a lock by a name: something that is lost with it.
func holds(s *State, id SessionID) bool {
	p := s.find(id)
	return p != nil && (p.open || slices.ContainsFunc(s.named, func(n namedLock) bool { return n.session == id }))
}

// withoutIdle is a State without sessions that are as if they had just begun, which begin again when they ask for something.
func withoutIdle(s State) State {
	fresh := State{dialect: s.dialect}
	idle := func(p session) bool {
		return !holds(&s, p.id) && reflect.DeepEqual(p, fresh.Connect(p.id).sessions[0])
	}
	s.sessions = none(slices.DeleteFunc(slices.Clone(s.sessions), idle))
	return s
}

// waitOf is the wait of a session; the zero Wait: it does not wait.
func waitOf(s *State, id SessionID) Wait {
	for _, w := range s.Waits() {
		if w.Session == id {
			return w
		}
	}
	return Wait{}
}

// leasesOf are the keys that clients have, in order.
func leasesOf(s *State) (all []lease) {
	for _, t := range s.tables {
		for _, r := range s.Rows(t.def.Name) {
			if l := t.def.lease(r); l.held() {
				all = append(all, l)
			}
		}
	}
	for _, n := range s.Named() {
		all = append(all, lease{key: n.Name.plain(), session: n.Session, until: forever})
	}
	slices.SortStableFunc(all, func(a, b lease) int { return slices.Compare([]string{a.key}, []string{b.key}) })
	return all
}

// lease is that of a row. A deadline on the server's clock ends it; that of a column of numbers is one of clients' clocks, of which the
// server knows nothing.
func (t *Table) lease(r Row) (l lease) {
	now := r.Committed
	if r.Writer != 0 {
		now = r.Written
	}
	if now == nil {
		return lease{}
	}
	l = lease{until: forever}
	var key []string
	for _, v := range t.key(now) {
		key = append(key, v.plain())
	}
	l.key = strings.Join(key, "/")
	if owner := t.column(cmp.Or(t.Owner, "owner")); owner >= 0 {
		l.owner = now[owner].plain()
	}
	if l.owner == "" {
		l.session = r.Holder
		return l
	}
	if until := t.column(cmp.Or(t.Until, "until")); until >= 0 && now[until].Type == Timestamp {
		if l.until = now[until].Int; l.until <= 0 {
			return lease{}
		}
	}
	return l
}

// leaseChange is a lease that has another owner, or another end.
type leaseChange struct {
	before, after lease
}

// leaseChanges lists what becomes of the leases, in the order of their keys, after some milliseconds.
func leaseChanges(from, to []lease, after int64) (changes []leaseChange) {
	var keys []string
	for _, l := range slices.Concat(from, to) {
		keys = append(keys, l.key)
	}
	slices.Sort(keys)
	of := func(list []lease, key string) lease {
		if i := slices.IndexFunc(list, func(l lease) bool { return l.key == key }); i >= 0 {
			return list[i]
		}
		return lease{key: key}
	}
	for _, key := range slices.Compact(keys) {
		a, b := of(from, key), of(to, key)
		if a.until != forever && a.held() {
			a.until -= after
		}
		if a != b {
			changes = append(changes, leaseChange{a, b})
		}
	}
	return changes
}
