package faults

import "locklab/simulator"

// Evict takes a key that has a time to live, before that is over: memory is
// short, and the volatile-* policies choose among exactly such keys (redis.io,
// eviction).
type Evict struct{}

func (Evict) Name() string         { return "evict" }
func (Evict) Verb() simulator.Verb { return verbEvict }

func (Evict) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		for k, key := range keys(m, n) {
			if key.expires {
				buf = append(buf, EvictOf(n, k))
			}
		}
	}
	return buf
}

func (Evict) Inject(m simulator.FaultContext, c simulator.Choice) string {
	key, why := keyOf(m, c)
	switch {
	case why != "":
		return why
	case !key.expires:
		return "the key has no time to live, so it is not evicted"
	}
	return m.Command(c.Node, "memory is short", "DEL", key.name)
}

// EvictOf is the choice that evicts the k-th key, by name and from 0, of server
// n, from 1.
func EvictOf(n, k int) simulator.Choice {
	return simulator.Choice{Verb: verbEvict, Node: int8(n), Thread: int8(k)}
}

type key struct {
	name    string
	expires bool
}

// maxNamed is how many keys a choice can tell apart.
const maxNamed = 16

func keys(m simulator.FaultContext, n int) (list []key) {
	if m.World().Down(n) || m.World().Hung(n) {
		return nil
	}
	m.Keys(n, func(name string, expires bool) {
		if len(list) < maxNamed {
			list = append(list, key{name, expires})
		}
	})
	return list
}

// keyOf is the key that a choice means.
func keyOf(m simulator.FaultContext, c simulator.Choice) (k key, why string) {
	if c.Node < 1 || int(c.Node) > m.Nodes() {
		return k, "there is no such server"
	}
	list := keys(m, int(c.Node))
	if c.Thread < 0 || int(c.Thread) >= len(list) {
		return k, "the server has no such key, or does not run"
	}
	return list[c.Thread], ""
}
