package faults

import "locklab/simulator"

// Delete removes a key by the hand of a stranger: an operator who clears a lock
// that looks stuck, a script that cleans up.
type Delete struct{}

func (Delete) Name() string         { return "delete" }
func (Delete) Verb() simulator.Verb { return verbDelete }

func (Delete) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		for k := range keys(m, n) {
			buf = append(buf, DeleteOf(n, k))
		}
	}
	return buf
}

func (Delete) Inject(m simulator.FaultContext, c simulator.Choice) string {
	key, why := keyOf(m, c)
	if why != "" {
		return why
	}
	return m.Command(c.Node, "by a stranger's hand", "DEL", key.name)
}

// DeleteOf is the choice that removes the k-th key, by name and from 0, of server
// n, from 1.
func DeleteOf(n, k int) simulator.Choice {
	return simulator.Choice{Verb: verbDelete, Node: int8(n), Thread: int8(k)}
}
