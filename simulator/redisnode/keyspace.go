package redisnode

import (
	"slices"
	"strings"

	"locklab/simulator/translate"
)

// A keyspace is a server's data without the times: which keys there are, of what type and value, which will expire,
// which scripts are cached, which connections watch keys or have subscribed. Keyspaces are interned; 0 is empty.
type keyspace struct {
	keys    []keyValue   // by name
	scripts []string     // sources, sorted
	conns   []connection // that watch keys or have subscribed, by name
	ttls    []int        `codec:"derived"` // the indices of the keys that expire, by place
}

// A connection is what the server keeps of one.
type connection struct {
	name     string    // see connectionName
	keys     []string  // that it watches, sorted; none when touched: they do not matter any more
	touched  bool      // one of them has been written or has expired: EXEC is to fail
	channels []string  // to which it has subscribed, sorted
	inbox    []message // what its client has not taken yet, the oldest first
}

// idle reports whether the server need not keep anything of the connection.
func (c connection) idle() bool { return !c.touched && len(c.keys) == 0 && len(c.channels) == 0 }

// conn keeps the state of a connection; nil: there is none.
func (s *keyspace) conn(name string) *connection {
	if i := slices.IndexFunc(s.conns, func(c connection) bool { return c.name == name }); i >= 0 {
		return &s.conns[i]
	}
	return nil
}

// keyValue is one key. Keys that expire are numbered in the order of their names: their places in Data.deadline.
type keyValue struct {
	name    string
	kind    string   // string, hash, list, set, zset
	parts   []string // string: the value; hash: field, value, …; zset: score, member, …
	expires bool
}

// text returns the key's value as histories show it; "" if there is no key.
func (k *keyValue) text() string {
	switch {
	case k == nil:
		return ""
	case k.kind == "string":
		return k.parts[0]
	}
	return partsText(k.kind, k.parts)
}

// ValueText writes the parts of a value that is no string, in any order, as histories show it.
func ValueText(kind string, parts []string) string { return partsText(kind, inOrder(kind, parts)) }

func partsText(kind string, parts []string) string {
	if kind != "hash" {
		return "[" + strings.Join(parts, " ") + "]"
	}
	var pairs []string
	for p := range slices.Chunk(parts, 2) {
		pairs = append(pairs, p[0]+"="+p[1])
	}
	return "{" + strings.Join(pairs, " ") + "}"
}

func (k *keyValue) same(o *keyValue) bool {
	return k.kind == o.kind && k.expires == o.expires && slices.Equal(k.parts, o.parts)
}

// inOrder puts the parts of a key into their one order.
func inOrder(kind string, parts []string) []string {
	switch kind {
	case "set":
		slices.Sort(parts)
	case "hash", "zset":
		pairs := slices.Collect(slices.Chunk(parts, 2))
		slices.SortFunc(pairs, slices.Compare[[]string])
		return slices.Concat(pairs...)
	}
	return parts
}

// sorted brings a keyspace into its one canonical form.
func (s keyspace) sorted() keyspace {
	slices.SortFunc(s.keys, func(a, b keyValue) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(s.conns, func(a, b connection) int { return strings.Compare(a.name, b.name) })
	if !slices.IsSorted(s.scripts) {
		s.scripts = slices.Sorted(slices.Values(s.scripts))
	}
	return s
}

// counted fills in which keys expire.
func (s keyspace) counted() keyspace {
	s.ttls = nil
	for i := range s.keys {
		if s.keys[i].expires {
			s.ttls = append(s.ttls, i)
		}
	}
	return s
}

// mapped is a keyspace in a translation. Only with other names of clients have connections others.
func (s keyspace) mapped(t *translate.Translation) keyspace {
	to := translate.Value(s, t)
	for i := range to.conns {
		if t.Names == nil {
			to.conns[i].name = s.conns[i].name
		}
	}
	return to
}

// sortedWithin is sorted for a keyspace in which texts were replaced, within its parts too.
func (s keyspace) sortedWithin() keyspace {
	for i := range s.keys {
		s.keys[i].parts = inOrder(s.keys[i].kind, s.keys[i].parts)
	}
	for i := range s.conns {
		slices.Sort(s.conns[i].keys)
		slices.Sort(s.conns[i].channels)
	}
	return s.sorted()
}

// find returns the named key; nil: there is none.
func (s *keyspace) find(name string) *keyValue {
	if i := slices.IndexFunc(s.keys, func(k keyValue) bool { return k.name == name }); i >= 0 {
		return &s.keys[i]
	}
	return nil
}

// place returns the place of the deadline of the named key; -1 if it does not expire.
func (s *keyspace) place(name string) int {
	return slices.IndexFunc(s.ttls, func(i int) bool { return s.keys[i].name == name })
}

// expiring is the key whose deadline is kept in a place.
func (s *keyspace) expiring(place int) *keyValue { return &s.keys[s.ttls[place]] }

// without is s after one key has expired.
func (s *keyspace) without(name string) keyspace {
	keys := slices.DeleteFunc(slices.Clone(s.keys), func(k keyValue) bool { return k.name == name })
	return keyspace{keys: keys, scripts: s.scripts, conns: touch(s.conns, name)}
}
