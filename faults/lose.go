package faults

import "locklab/simulator"

const verbLoseReply = simulator.FaultVerb + 2

// LoseReply loses a server's answer on its way: the command has been executed, and its sender waits until it gives up.
var LoseReply = &simulator.Fault{
	Name: "lose-reply", Verb: verbLoseReply, Living: true, Clientside: true,
	Choices: each(verbLoseReply, simulator.FaultContext.Replies, anyMessage, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		return f.Thread(c.Client, c.Thread).LoseReply()
	},
}

// LoseReplyTo is the choice that loses the reply on its way to a thread (0 is the main one) of client c, from 1.
func LoseReplyTo(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbLoseReply, Client: int8(c), Thread: int8(thread)}
}

const verbLoseRequest = simulator.FaultVerb + 3

// LoseRequest loses a command on its way to the server: it is never executed,
// and its sender waits until it gives up, unable to tell this from LoseReply.
var LoseRequest = &simulator.Fault{
	Name: "lose-request", Verb: verbLoseRequest, Living: true, Clientside: true,
	Choices: each(verbLoseRequest, simulator.FaultContext.Requests, anyMessage, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		return f.Thread(c.Client, c.Thread).LoseRequest()
	},
}

// LoseRequestOf is the choice that loses the request of a thread (0 is the main one) of client c, from 1.
func LoseRequestOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbLoseRequest, Client: int8(c), Thread: int8(thread)}
}
