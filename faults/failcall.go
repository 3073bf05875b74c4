package faults

import "locklab/simulator"

const verbFailCall = simulator.FaultVerb + 11

// FailCall has a server answer one request with an error, and not execute it: a call that fails once and would not the
// next time. One such renewal ends the watchdog of Redisson 3.12.5, which logs it and stops. The error is BUSY, with
// which a Redis answers any command while a script runs too long.
var FailCall = &simulator.Fault{
	Name: "fail-call", Verb: verbFailCall, Living: true,
	Choices: each(verbFailCall, simulator.FaultContext.Requests, fails, once),
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		const busy = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
		return f.Thread(c.Client, c.Thread).Reject(busy)
	},
}

func fails(m simulator.ThreadTarget) bool { return m.ToRedis() && passes(m) }
