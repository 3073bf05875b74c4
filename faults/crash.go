package faults

import "locklab/simulator"

// Crash kills a client process with all its threads: the watchdog dies with its
// owner. It can happen between any two operations; a request that has left may still
// arrive, so the command can take effect before or after.
type Crash struct{}

func (Crash) Name() string         { return "crash" }
func (Crash) Verb() simulator.Verb { return verbCrash }

func (Crash) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.World().Paused(c) || f.Running(c) {
			buf = append(buf, simulator.Choice{Verb: verbCrash, Client: int8(c)})
		}
	}
	return buf
}

func (Crash) Inject(f simulator.FaultContext, c simulator.Choice) string { return f.Crash(c.Client) }

// CrashOf is the choice that kills client c, from 1.
func CrashOf(c int) simulator.Choice { return simulator.Choice{Verb: verbCrash, Client: int8(c)} }
