package faults

import "locklab/simulator"

const verbLoseRequest = simulator.FaultVerb + 3

// LoseRequest loses a command on its way to the server: it is never executed,
// and its sender waits until it gives up, unable to tell this from LoseReply.
var LoseRequest = &simulator.Fault{
	Name: "lose-request", Verb: verbLoseRequest, Clientside: true,
	Choices: each(verbLoseRequest, simulator.FaultContext.Requests, anyMessage, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) string {
		return f.Thread(c.Client, c.Thread).LoseRequest()
	},
}

// LoseRequestOf is the choice that loses the request of a thread (0 is the
// main one) of client c, from 1.
func LoseRequestOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbLoseRequest, Client: int8(c), Thread: int8(thread)}
}
