package faults

import "locklab/simulator"

// Flush empties a server by the hand of a stranger: FLUSHALL, meant for another
// server, or for a cache that lives beside the locks. Its replicas hear of it as
// of any write.
type Flush struct{}

func (Flush) Name() string         { return "flush" }
func (Flush) Verb() simulator.Verb { return verbFlush }

func (Flush) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		if len(keys(m, n)) > 0 {
			buf = append(buf, FlushOf(n))
		}
	}
	return buf
}

func (Flush) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.Command(c.Node, "by a stranger's hand", "FLUSHALL")
}

// FlushOf is the choice that empties server n, from 1.
func FlushOf(n int) simulator.Choice { return simulator.Choice{Verb: verbFlush, Node: int8(n)} }
