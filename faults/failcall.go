package faults

import "locklab/simulator"

// FailCall has a server answer one request with an error, and not execute it:
// the call that fails once and would not the next time. One such renewal ends
// the watchdog of Redisson 3.12.5, which logs it and schedules no more. The error
// is BUSY, which a Redis gives to anything while a script runs too long.
type FailCall struct{}

func (FailCall) Name() string         { return "fail-call" }
func (FailCall) Verb() simulator.Verb { return verbFailCall }

func (FailCall) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	m.Requests(func(c simulator.Choice) {
		if m.ToServer(c.Client, c.Thread) && !m.Held(c.Client, c.Thread) {
			buf = append(buf, FailCallOf(int(c.Client), int(c.Thread)))
		}
	})
	return buf
}

func (FailCall) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.Reject(c.Client, c.Thread, "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
}

// FailCallOf is the choice that fails the request of a thread (0 is the main one)
// of client c, from 1.
func FailCallOf(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbFailCall, Client: int8(c), Thread: int8(thread)}
}
