package faults

import (
	"time"

	"locklab/simulator"
)

const verbNodeClock = simulator.FaultVerb + 5

// NodeClock makes a server's clock jump. Redis expires keys by the wall clock, so a
// jump forward ends leases early and a jump back prolongs them.
var NodeClock = &simulator.Fault{
	Name: "node-clock", Verb: verbNodeClock, Rewinds: true,
	// Choices offers the jumps of FaultContext.Jumps. Where a key ends at the instant to which the
	// clock jumps, the jump is offered once more with that key still standing.
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for n := range f.Servers {
			for d := range f.Jumps {
				c := NodeClockOf(n.ID, d)
				buf = append(buf, c)
				if n.JumpsToEnd(d) {
					c.Thread = simulator.Pending
					buf = append(buf, c)
				}
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		return f.Server(c.Node).StepClock(c.D, c.Thread == simulator.Pending)
	},
}

// NodeClockOf is the choice that moves the clock of server n, from 1, by d.
func NodeClockOf(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbNodeClock, Node: int8(n), D: d}
}
