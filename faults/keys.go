package faults

import "locklab/simulator"

// A key is one on a server, for the faults that happen to keys.
type key struct {
	name    string
	expires bool
}

// maxNamed is how many keys a choice can tell apart.
const maxNamed = 16

// keys are the first maxNamed keys of server n, by name; none, if it does not run.
func keys(f simulator.FaultContext, n int) (list []key) {
	if f.World().Down(n) || f.World().Hung(n) {
		return nil
	}
	f.Keys(n, func(name string, expires bool) {
		if len(list) < maxNamed {
			list = append(list, key{name, expires})
		}
	})
	return list
}

// keyOf is the key that a choice means.
func keyOf(f simulator.FaultContext, c simulator.Choice) (k key, why string) {
	if c.Node < 1 || int(c.Node) > f.Nodes() {
		return k, "refused.server.unknown"
	}
	list := keys(f, int(c.Node))
	if c.Thread < 0 || int(c.Thread) >= len(list) {
		return k, "refused.key"
	}
	return list[c.Thread], ""
}
