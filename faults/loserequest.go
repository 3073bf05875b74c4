package faults

import "locklab/simulator"

const verbLoseRequest = simulator.FaultVerb + 3

// LoseRequest loses a command on its way to the server: it is never executed,
// and its sender waits until it gives up, unable to tell this from LoseReply.
type LoseRequest struct{}

func (LoseRequest) Name() string         { return "lose-request" }
func (LoseRequest) Verb() simulator.Verb { return verbLoseRequest }

// Clientside implements simulator.Clientside.
func (LoseRequest) Clientside() {}

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

const loseRequestTexts = `
[en]
title.fault.lose-request = a command is lost on the way and never executed
lane.lose-request = {command} request LOST
fault.lose-request = {client} sends {command}, and the request is lost on its way.
painted.lose-request = LOST

[zh]
title.fault.lose-request = 命令在途中丢失，没有执行
lane.lose-request = {command} 请求丢失
fault.lose-request = {client} 发送 {command}，请求在途中丢失。
painted.lose-request = 丢失
`
