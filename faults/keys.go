package faults

import "locklab/simulator"

// A key is one on a server, for the faults that happen to keys.
type key struct {
	name    string
	expires bool
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
			list = append(list, key{name, expires})
		}
	})
	return list
}

// keyOf is the key that a choice means.
func keyOf(f simulator.FaultContext, c simulator.Choice) (k key, why string) {
	n := f.Server(c.Node)
	if !n.Exists() {
		return k, "refused.server.unknown"
	}
	list := keys(n)
	if c.Thread < 0 || int(c.Thread) >= len(list) {
		return k, "refused.key"
	}
	return list[c.Thread], ""
}
