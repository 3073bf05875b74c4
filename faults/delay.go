package faults

import (
	"time"

	"locklab/simulator"
)

const verbDelay = simulator.FaultVerb + 10

// Delay holds up one message in the network, to or from a server or the resource, while others pass: Kleppmann (2016)
// reports packets that were 90 s late. The sender may have given up, or released its lock, when it arrives.
var Delay = &simulator.Fault{
	Name: "delay", Verb: verbDelay, Living: true, Clientside: true,
	// Choices offers the longest delay that the budget allows; a budget without a length offers none, since every
	// length would be as good. With a Timing the message may arrive before.
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		buf = each(verbDelay, simulator.FaultContext.Requests, passes, longest)(f, buf)
		return each(verbDelay, simulator.FaultContext.Replies, passes, longest)(f, buf)
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		return f.Thread(c.Client, c.Thread).Delay(c.D)
	},
}

// DelayOf is the choice to hold up the message that a thread (0: main) of client c, from 1, awaits, for d of true time.
func DelayOf(c, thread int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbDelay, Client: int8(c), Thread: int8(thread), D: d}
}
