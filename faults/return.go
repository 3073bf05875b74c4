package faults

import "locklab/simulator"

const verbReturn = simulator.FaultVerb + 17

// Return starts a client process anew that was killed: another process on the same machine, with the same clock and the
// same code. It knows nothing of the one before it, draws other tokens, has connections of its own, and makes all its
// attempts. What the one before it has under way or has left on servers stays. It can happen at any moment after a
// Crash. To clients of a ZooKeeper, and to code that is not on coroutines, it does not happen.
//
// One client more that begins late does the same if its tokens are unique. If they are ids of threads it does more:
// living clients then take each other's lock for their own, and what a return alone breaks does not show.
var Return = &simulator.Fault{
	Name: "return", Verb: verbReturn, Clientside: true, Returns: true,
	Choices: each(verbReturn, simulator.FaultContext.Clients, simulator.ClientTarget.MayReturn, once),
	Inject:  func(f simulator.FaultContext, c simulator.Choice) error { return f.Client(c.Client).Return() },
}
