package faults

import (
	"time"

	"locklab/simulator"
)

const verbHang = simulator.FaultVerb + 9

// Hang stops a server for a while: a slow command, a fork, swapping, SIGSTOP. What reaches it meanwhile is executed
// afterwards, also if the sender has given up by then. Its clock goes on, and so do the times to live of its keys. A
// WAIT that was there before is answered when its time is over.
var Hang = &simulator.Fault{
	Name: "hang", Verb: verbHang,
	// Choices offers the longest that the budget allows; a budget without a length offers none, since every length
	// would be as good. With a Timing it may end before, by a Resume.
	Choices: each(verbHang, simulator.FaultContext.Servers, simulator.ServerTarget.Running, longest),
	Inject:  func(f simulator.FaultContext, c simulator.Choice) error { return f.Server(c.Node).Hang(c.D) },
}

// HangOf is the choice that stops server n, from 1, for d of true time.
func HangOf(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbHang, Node: int8(n), D: d}
}
