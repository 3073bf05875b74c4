package faults

import (
	"locklab/simulator"
	"locklab/simulator/node"
)

// A key is one on a server, for the faults that happen to keys.
type key struct {
	name    string
	expires bool
	server  simulator.ServerTarget
	place   int // among those of the server, by name
}

// maxNamed is the number of keys that a choice can name.
const maxNamed = 16

// keys are the first maxNamed keys of server n, by name; none, if it does not run.
func keys(n simulator.ServerTarget) (list []key) {
	if !n.Running() {
		return nil
	}
	n.Keys(func(name string, expires bool) {
		if len(list) < maxNamed {
			list = append(list, key{name, expires, n, len(list)})
		}
	})
	return list
}

// keyOf is the key that a choice means.
func keyOf(f simulator.FaultContext, c simulator.Choice) (k key, err error) {
	n := f.Server(c.Node)
	if !n.Exists() {
		return k, node.Refuse("refused.server.unknown")
	}
	list := keys(n)
	if c.Thread < 0 || int(c.Thread) >= len(list) {
		return k, node.Refuse("refused.key")
	}
	return list[c.Thread], nil
}

// allKeys calls yield for each key of each server.
func allKeys(f simulator.FaultContext, yield func(key) bool) {
	for n := range f.Servers {
		for _, k := range keys(n) {
			yield(k)
		}
	}
}

// Choice implements target.
func (k key) Choice(v simulator.Verb) simulator.Choice {
	c := k.server.Choice(v)
	c.Thread = int8(k.place)
	return c
}
