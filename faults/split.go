package faults

import "locklab/simulator"

const verbSplit = simulator.FaultVerb + 8

// Split cuts a master off, with one client, and promotes a replica for the others: split brain. The old master still
// serves the client that it can reach; injected again on the same server, it takes one more client to that side. It
// lasts until a Heal is chosen, or for good. Then the old master is demoted, and the writes it took meanwhile are lost.
//
// The clients on the other side see their connections break, and reach the new master without delay.
var Split = &simulator.Fault{
	Name: "split", Verb: verbSplit,
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for n := range f.Servers {
			for r := range simulator.MaxReplicas {
				for c := range f.Clients {
					if c.Alive() && n.CanSplit(c, r) {
						buf = append(buf, SplitOf(c.ID, n.ID, r))
					}
				}
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		return f.Server(c.Node).Split(f.Client(c.Client), c.Thread)
	},
}

// SplitOf is the choice that cuts server n's master, from 1, off with client c, from 1, and promotes replica r, from 0.
func SplitOf(c, n, r int) simulator.Choice {
	return simulator.Choice{Verb: verbSplit, Client: int8(c), Node: int8(n), Thread: int8(r)}
}
