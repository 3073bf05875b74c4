package faults

import "locklab/simulator"

const verbFailCall = simulator.FaultVerb + 11

// FailCall has a server answer one request with an error, and not execute it: a call
// that fails once and would not the next time. One such renewal ends the watchdog of
// Redisson 3.12.5, which logs it and stops. The error is BUSY, with which
// a Redis answers any command while a script runs too long.
var FailCall = &simulator.Fault{
	Name: "fail-call", Verb: verbFailCall, Living: true,
	Choices: each(verbFailCall, simulator.FaultContext.Requests, fails, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		const busy = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
		return f.Thread(c.Client, c.Thread).Reject(busy)
	},
}

// FailCallOf is the choice that fails the request of a thread (0 is the main one)
// of client c, from 1.
func FailCallOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbFailCall, Client: int8(c), Thread: int8(thread)}
}

func fails(m simulator.ThreadTarget) bool { return m.ToRedis() && passes(m) }
