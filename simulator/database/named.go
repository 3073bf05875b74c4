package database

import (
	"slices"
	"strings"
)

// call runs a function of named locks.
func (a *act) call(id SessionID) (Reply, wish) {
	p, problem := a.find(id), &problem{}
	sc := a.scope(id, &Table{})
	var values []Value
	for _, e := range p.text.Values {
		values = append(values, sc.eval(e, problem))
	}
	name := values[0]
	switch innodb := a.dialect.innodb(); {
	case problem.reason != "":
	case !innodb && name.Type != Integer && name.Type != hashed:
		problem.fail("an advisory lock that is neither a number nor hashtext of a text")
	case !innodb:
		return a.advisory(id, name)
	case name.Type != Text || name.Text == "" || len(name.Text) > 64 || strings.ContainsFunc(name.Text, func(r rune) bool { return r <= ' ' || r > '~' }):
		problem.fail("a named lock whose name is not of 1 to 64 letters of ASCII without spaces")
	case len(values) == 2 && (values[1].Type != Integer || values[1].Int < 0):
		problem.fail("GET_LOCK with a time-out that is not a number of whole seconds, 0 or more")
	default:
		if a.dialect == MySQL {
			name.Text = strings.ToLower(name.Text)
		}
		return a.userLock(id, name, values)
	}
	return notCarried(problem.reason), wish{}
}

// holder is the place of a named lock that a session holds; -1: it does not.
func (a *act) holder(id SessionID, name Value, transaction bool) int {
	return slices.IndexFunc(a.named, func(n namedLock) bool {
		return n.session == id && n.name == name && n.transaction == transaction
	})
}

// take takes a named lock, once more if the session has it. With try it does not wait: got says what came of it.
func (a *act) take(id SessionID, w wish, transaction, try bool) (got bool, on wish) {
	mine := slices.ContainsFunc(a.named, func(n namedLock) bool { return n.session == id && n.name == w.name })
	if !mine && len(a.blockers(id, w)) > 0 {
		if try {
			return false, wish{}
		}
		return false, w
	}
	if at := a.holder(id, w.name, transaction); at >= 0 {
		if !transaction {
			a.named[at].count++
		}
	} else {
		a.named = append(a.named, namedLock{w.name, id, 1, transaction})
	}
	return true, wish{}
}

// release gives a named lock of the session back, once.
func (a *act) release(id SessionID, name Value) (held bool) {
	at := a.holder(id, name, false)
	if at < 0 {
		return false
	}
	if a.named[at].count--; a.named[at].count == 0 {
		a.named = slices.Delete(a.named, at, at+1)
	}
	return true
}

// userLock runs MySQL's functions.
func (a *act) userLock(id SessionID, name Value, values []Value) (Reply, wish) {
	function := a.find(id).text.Function
	held := slices.ContainsFunc(a.named, func(n namedLock) bool { return n.name == name })
	v := Value{}
	switch function {
	case "get_lock":
		if a.options.OldGetLock {
			a.named = slices.DeleteFunc(a.named, func(n namedLock) bool { return n.session == id })
		}
		w := wish{kind: onName, name: name, seconds: values[1].Int}
		got, on := a.take(id, w, false, w.seconds == 0)
		if on.kind != nothing {
			return Reply{}, on
		}
		v = truth(got)
	case "release_lock":
		if ours := a.release(id, name); held {
			v = truth(ours)
		}
	case "is_free_lock":
		v = truth(!held)
	}
	if v.Type == Bool {
		v.Type = Integer
	}
	return one(function, v), wish{}
}

// advisory runs PostgreSQL's functions.
func (a *act) advisory(id SessionID, name Value) (Reply, wish) {
	function := a.find(id).text.Function
	w := wish{kind: onName, name: name}
	switch transaction := strings.Contains(function, "xact"); {
	case strings.HasSuffix(function, "unlock"):
		return one(function, truth(a.release(id, name))), wish{}
	case strings.Contains(function, "try"):
		got, _ := a.take(id, w, transaction, true)
		return one(function, truth(got)), wish{}
	default:
		_, on := a.take(id, w, transaction, false)
		return one(function, TextValue("")), on
	}
}
