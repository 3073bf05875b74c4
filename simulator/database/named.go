package database

import (
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
