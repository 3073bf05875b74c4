package faults

import "locklab/simulator"

const verbReturn = simulator.FaultVerb + 17

// Return starts a client process anew that was killed: another process on the same machine,
// with the same clock and the same code. It knows nothing of the one before it, draws other
// tokens, has connections of its own, and makes all its attempts. What the one before it has
// under way or has left on servers stays. It can happen at any moment after a Crash. To
// clients of a ZooKeeper, and to code that is not on coroutines, it does not happen.
//
// One client more that begins late does the same if its tokens are unique. If they are ids of
// threads it does more: living clients then take each other's lock for their own, and what a
// return alone breaks does not show.
type Return struct{}

func (Return) Name() string         { return "return" }
func (Return) Verb() simulator.Verb { return verbReturn }

// Clientside implements simulator.Clientside.
func (Return) Clientside() {}

// Returns implements simulator.Returner.
func (Return) Returns() {}

func (Return) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.MayReturn(c) {
			buf = append(buf, ReturnOf(c))
		}
	}
	return buf
}

func (Return) Inject(f simulator.FaultContext, c simulator.Choice) string { return f.Return(c.Client) }

// ReturnOf is the choice that starts client c, from 1, anew.
func ReturnOf(c int) simulator.Choice { return simulator.Choice{Verb: verbReturn, Client: int8(c)} }

const returnTexts = `
[en]
title.fault.return = a client process that was killed is started anew, with a new identity
lane.return = STARTS ANEW{note}
fault.return = {client} is started anew: another process, which knows nothing of the one before it.
painted.return = ANEW

[zh]
title.fault.return = 被杀的客户端进程重新启动，是一个身份全新的进程
lane.return = 重新启动{note}
fault.return = {client} 重新启动：这是另一个进程，对前一个进程一无所知。
painted.return = 重启
`
