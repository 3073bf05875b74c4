package redisnode

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
)

// A keyspace is a server's data without the times: which keys there are, of what
// type and value, which of them will expire, which scripts are cached, and which
// connections watch keys or have subscribed. Keyspaces are interned; 0 is empty.
type keyspace struct {
	keys        []keyValue   // by name
	scripts     []string     // sources, sorted
	watches     []watch      // by connection
	subscribers []subscriber // by connection; see withSubscribers
	id          string       // all of the above in one string; never ""
	ttls        int          // how many keys expire
}

// keyValue is one key. Keys that expire are numbered in the order of their
// names; that number is their place in Data.deadline.
type keyValue struct {
	name    string
	kind    string   // string, hash, list, set, zset
	parts   []string // string: the value; hash: field, value, …; zset: score, member, …
	expires bool
}

// text is the key's value as histories show it.
func (k *keyValue) text() string {
	switch k.kind {
	case "string":
		return k.parts[0]
	case "hash":
		var b strings.Builder
		for i := 0; i+1 < len(k.parts); i += 2 {
			fmt.Fprintf(&b, "%s%s=%s", sep(i), k.parts[i], k.parts[i+1])
		}
		return "{" + b.String() + "}"
	default:
		return "[" + strings.Join(k.parts, " ") + "]"
	}
}

func sep(i int) string {
	if i == 0 {
		return ""
	}
	return " "
}

func (k *keyValue) same(o *keyValue) bool {
	return k.kind == o.kind && k.expires == o.expires && slices.Equal(k.parts, o.parts)
}

// sort puts the parts into the order in which the engine reads them.
func (k *keyValue) sort() {
	switch k.kind {
	case "set":
		slices.Sort(k.parts)
	case "hash", "zset":
		pairs := slices.Collect(slices.Chunk(k.parts, 2))
		slices.SortFunc(pairs, slices.Compare[[]string])
		k.parts = slices.Concat(pairs...)
	}
}

// newKeyspace puts keys, scripts and watches into their one canonical form.
func newKeyspace(keys []keyValue, scripts []string, watches ...watch) keyspace {
	slices.SortFunc(keys, func(a, b keyValue) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(watches, func(a, b watch) int { return strings.Compare(a.conn, b.conn) })
	s := keyspace{keys: keys, scripts: scripts, watches: watches}
	if !slices.IsSorted(scripts) {
		s.scripts = slices.Sorted(slices.Values(scripts))
	}
	id := binary.AppendUvarint(make([]byte, 0, 64), uint64(len(keys)))
	for i := range keys {
		k := &keys[i]
		id = table.AppendText(table.AppendText(id, k.name), k.kind)
		id = binary.AppendUvarint(id, uint64(len(k.parts)))
		for _, p := range k.parts {
			id = table.AppendText(id, p)
		}
		if k.expires {
			s.ttls++
			id = append(id, '!')
		} else {
			id = append(id, '.')
		}
	}
	id = binary.AppendUvarint(id, uint64(len(s.scripts)))
	for _, src := range s.scripts {
		id = table.AppendText(id, src)
	}
	for i := range watches {
		id = table.AppendText(id, watches[i].text())
	}
	s.id = string(id)
	return s
}

// place is where the deadline of the named key is kept; -1 if it does not expire.
func (s *keyspace) place(name string) int {
	n := 0
	for i := range s.keys {
		if s.keys[i].name == name {
			if s.keys[i].expires {
				return n
			}
			return -1
		}
		if s.keys[i].expires {
			n++
		}
	}
	return -1
}

// expiring is the key whose deadline is kept in place i.
func (s *keyspace) expiring(i int) *keyValue {
	for j := range s.keys {
		if s.keys[j].expires {
			if i == 0 {
				return &s.keys[j]
			}
			i--
		}
	}
	panic("redisnode: a deadline without a key")
}

func (s keyspace) key() string { return s.id }

func (s keyspace) save(w *codec.Writer) { w.Put(s.keys, s.scripts, s.watches, s.subscribers) }

func loadKeyspace(r *codec.Reader) (s keyspace, err error) {
	r.Get(&s.keys, &s.scripts, &s.watches, &s.subscribers)
	return newKeyspace(s.keys, s.scripts, s.watches...).withSubscribers(s.subscribers), nil
}

// renamed is s with the clients renamed in all that it holds.
func (s keyspace) renamed(to *node.Names) (keyspace, error) {
	keys := make([]keyValue, len(s.keys))
	for i, k := range s.keys {
		k.name = to.Rename(k.name)
		parts := make([]string, len(k.parts))
		for j, p := range k.parts {
			parts[j] = to.Rename(p)
		}
		k.parts = parts
		k.sort()
		keys[i] = k
	}
	watches := slices.Clone(s.watches)
	for i := range watches {
		w := &watches[i]
		w.conn = to.Rename(w.conn)
		w.keys = slices.Clone(w.keys)
		for j, k := range w.keys {
			w.keys[j] = to.Rename(k)
		}
		slices.Sort(w.keys)
	}
	var subscribers []subscriber
	for i := range s.subscribers {
		subscribers = append(subscribers, s.subscribers[i].renamed(to))
	}
	scripts := make([]string, len(s.scripts))
	for i, source := range s.scripts {
		scripts[i] = to.Rename(source)
	}
	return newKeyspace(keys, scripts, watches...).withSubscribers(subscribers), nil
}

// without is s after one key has expired.
func (s *keyspace) without(name string) keyspace {
	keys := slices.Clone(s.keys)
	keys = slices.DeleteFunc(keys, func(k keyValue) bool { return k.name == name })
	return newKeyspace(keys, s.scripts, touch(s.watches, name)...).withSubscribers(s.subscribers)
}

// scriptless is what another server takes over of s: the data, but no cached
// script and no connection.
func (s *keyspace) scriptless() keyspace { return newKeyspace(slices.Clone(s.keys), nil) }
