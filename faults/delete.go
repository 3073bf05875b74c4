package faults

import "locklab/simulator"

const verbDelete = simulator.FaultVerb + 14

// Delete removes a key from outside: an operator clears a lock that looks stuck, or a
// script cleans up.
type Delete struct{}

func (Delete) Name() string         { return "delete" }
func (Delete) Verb() simulator.Verb { return verbDelete }

func (Delete) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := range f.Servers {
		for k := range keys(n) {
			buf = append(buf, DeleteOf(n.ID, k))
		}
	}
	return buf
}

func (Delete) Inject(f simulator.FaultContext, c simulator.Choice) string {
	key, why := keyOf(f, c)
	if why != "" {
		return why
	}
	return f.Server(c.Node).Command("by a stranger's hand", "DEL", key.name)
}

// DeleteOf is the choice that removes the k-th key, by name and from 0, of server
// n, from 1.
func DeleteOf(n, k int) simulator.Choice {
	return simulator.Choice{Verb: verbDelete, Node: int8(n), Thread: int8(k)}
}
