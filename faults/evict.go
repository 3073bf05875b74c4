package faults

import (
	"locklab/simulator"
	"locklab/simulator/node"
)

const verbEvict = simulator.FaultVerb + 12

// Evict removes a key that has a time to live, before that is over: memory is short,
// and the volatile-* policies choose among exactly such keys (redis.io, eviction).
var Evict = &simulator.Fault{
	Name: "evict", Verb: verbEvict,
	Choices: each(verbEvict, allKeys, func(k key) bool { return k.expires }, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		key, err := keyOf(f, c)
		switch {
		case err != nil:
			return err
		case !key.expires:
			return node.Refuse("refused.key.lasting")
		}
		return f.Server(c.Node).Command("memory is short", "DEL", key.name)
	},
}

// EvictOf is the choice that evicts the k-th key, by name and from 0, of server n, from 1.
func EvictOf(n, k int) simulator.Choice {
	return simulator.Choice{Verb: verbEvict, Node: int8(n), Thread: int8(k)}
}
