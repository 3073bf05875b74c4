package faults

import "locklab/simulator"

// LoseRequest loses a command on its way to the server: it is never executed,
// and its sender waits until it gives up, unable to tell this from LoseReply.
type LoseRequest struct{}

func (LoseRequest) Name() string         { return "lose-request" }
func (LoseRequest) Verb() simulator.Verb { return verbLoseRequest }

func (LoseRequest) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	m.Requests(func(c simulator.Choice) {
		c.Verb = verbLoseRequest
		buf = append(buf, c)
	})
	return buf
}

func (LoseRequest) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.LoseRequest(c.Client, c.Thread)
}

// LoseRequestOf is the choice that loses the request of a thread (0 is the
// main one) of client c, from 1.
func LoseRequestOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbLoseRequest, Client: int8(c), Thread: int8(thread)}
}
