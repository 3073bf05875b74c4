package faults

import "locklab/simulator"

const verbFailCall = simulator.FaultVerb + 11

// FailCall has a server answer one request with an error, and not execute it: a call
// that fails once and would not the next time. One such renewal ends the watchdog of
// Redisson 3.12.5, which logs it and stops. The error is BUSY, with which
// a Redis answers any command while a script runs too long.
type FailCall struct{}

func (FailCall) Name() string         { return "fail-call" }
func (FailCall) Verb() simulator.Verb { return verbFailCall }

func (FailCall) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for m := range f.Requests {
		if m.ToRedis() && !m.Held() {
			buf = append(buf, FailCallOf(m.Client, m.ID))
		}
	}
	return buf
}

func (FailCall) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Thread(c.Client, c.Thread).Reject("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
}

// FailCallOf is the choice that fails the request of a thread (0 is the main one)
// of client c, from 1.
func FailCallOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbFailCall, Client: int8(c), Thread: int8(thread)}
}
