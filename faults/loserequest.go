package faults

import "locklab/simulator"

// LoseRequest loses a command on its way to the server: it is never executed,
// and its sender waits until it gives up, unable to tell this from LoseReply.
type LoseRequest struct{}

func (LoseRequest) Name() string         { return "lose-request" }
func (LoseRequest) Verb() simulator.Verb { return verbLoseRequest }

func (LoseRequest) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for m := range f.Requests {
		buf = append(buf, LoseRequestOf(int(m.Client), int(m.Thread)))
	}
	return buf
}

func (LoseRequest) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.LoseRequest(c.Client, c.Thread)
}

// LoseRequestOf is the choice that loses the request of a thread (0 is the
// main one) of client c, from 1.
func LoseRequestOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbLoseRequest, Client: int8(c), Thread: int8(thread)}
}
