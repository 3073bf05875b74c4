package faults

import "locklab/simulator"

const verbDelete = simulator.FaultVerb + 14

// Delete removes a key from outside: an operator clears a lock that looks stuck, or a script cleans up.
var Delete = &simulator.Fault{
	Name: "delete", Verb: verbDelete,
	Choices: each(verbDelete, allKeys, func(key) bool { return true }, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		key, err := keyOf(f, c)
		if err != nil {
			return err
		}
		return f.Server(c.Node).Command("by a stranger's hand", "DEL", key.name)
	},
}

// DeleteOf is the choice that removes the k-th key, by name and from 0, of server n, from 1.
func DeleteOf(n, k int) simulator.Choice {
	return simulator.Choice{Verb: verbDelete, Node: int8(n), Thread: int8(k)}
}
