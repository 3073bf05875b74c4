package faults

import "locklab/simulator"

// Split cuts a master off, with one client, and promotes a replica for the
// others: split brain. The old master goes on serving the client that it can
// still reach; a further strike on the same server takes one more client to its
// side. It lasts until a Heal is chosen, or for good. Then the old master is
// demoted, and what it was told meanwhile is lost.
//
// Whoever is on the other side sees its connection break, and is led to the new
// master without delay.
type Split struct{}

func (Split) Name() string         { return "split" }
func (Split) Verb() simulator.Verb { return verbSplit }

func (Split) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		for r := range simulator.MaxReplicas {
			for c := 1; c <= m.Clients(); c++ {
				if m.World().Alive(c) && m.CanSplit(c, n, r) {
					buf = append(buf, SplitOf(c, n, r))
				}
			}
		}
	}
	return buf
}

func (Split) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.Split(c.Client, c.Node, c.Thread)
}

// SplitOf is the choice that cuts the master of server n, from 1, off with
// client c, from 1, and promotes replica r, from 0.
func SplitOf(c, n, r int) simulator.Choice {
	return simulator.Choice{Verb: verbSplit, Client: int8(c), Node: int8(n), Thread: int8(r)}
}
