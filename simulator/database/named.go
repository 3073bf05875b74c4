package database

import (
	"slices"
	"strings"
)

// call runs a function of named locks.
func (x *execution) call() Reply {
	var values []Value
	for _, e := range x.p.text.Values {
		values = append(values, x.eval(e))
	}
	name := values[0]
	switch innodb := x.s.dialect.innodb(); {
	case !innodb && name.Type != Integer && name.Type != hashed:
		refuse("an advisory lock that is neither a number nor hashtext of a text")
	case !innodb:
		return x.advisory(name)
	case name.Type != Text || name.Text == "" || len(name.Text) > 64 ||
		strings.ContainsFunc(name.Text, func(r rune) bool { return r <= ' ' || r > '~' }):
		refuse("a named lock whose name is not of 1 to 64 letters of ASCII without spaces")
	case len(values) == 2 && (values[1].Type != Integer || values[1].Int < 0):
		refuse("GET_LOCK with a time-out that is not a number of whole seconds, 0 or more")
	}
	if x.s.dialect == MySQL {
		name.Text = strings.ToLower(name.Text)
	}
	return x.userLock(name, values)
}

// userLock runs MySQL's functions.
func (x *execution) userLock(name Value, values []Value) Reply {
	w := wish{kind: onKey, table: names, key: []Value{name}, mode: exclusive}
	held := slices.ContainsFunc(x.s.locks, func(l lock) bool { return l.of(names, w.key) })
	v := Value{}
	switch x.p.text.Function {
	case "get_lock":
		if x.s.options.OldGetLock {
			held := func(l lock) bool { return l.session == x.p.id && l.table == names }
			x.s.locks = slices.DeleteFunc(x.s.locks, held)
		}
		w.seconds = values[1].Int
		got := x.s.takeName(x.p.id, w, true)
		if !got && w.seconds > 0 {
			return x.wait(w)
		}
		v = truth(got)
	case "release_lock":
		if ours := x.s.releaseName(x.p.id, name); held {
			v = truth(ours)
		}
	case "is_free_lock":
		v = truth(!held)
	}
	return one(x.p.text.Function, x.s.dialect.shown(v))
}

// advisory runs PostgreSQL's functions.
func (x *execution) advisory(name Value) Reply {
	function := x.p.text.Function
	if strings.HasSuffix(function, "unlock") {
		return one(function, truth(x.s.releaseName(x.p.id, name)))
	}
	w := wish{kind: onKey, table: names, key: []Value{name}, mode: exclusive}
	got := x.s.takeName(x.p.id, w, !strings.Contains(function, "xact"))
	switch {
	case strings.Contains(function, "try"):
		return one(function, truth(got))
	case !got:
		return x.wait(w)
	}
	return one(function, TextValue(""))
}
