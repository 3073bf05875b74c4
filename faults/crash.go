package faults

import "locklab/simulator"

const verbCrash = simulator.FaultVerb + 0

// Crash kills a client process with all its threads: the watchdog dies with its
// owner. It can happen between any two operations; a request that has left may still
// arrive, so the command can take effect before or after.
type Crash struct{}

func (Crash) Name() string         { return "crash" }
func (Crash) Verb() simulator.Verb { return verbCrash }

// Clientside implements simulator.Clientside.
func (Crash) Clientside() {}

// Punctual implements simulator.Punctual.
func (Crash) Punctual() {}

func (Crash) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := range f.Clients {
		if c.Present() {
			buf = append(buf, CrashOf(c.ID))
		}
	}
	return buf
}

func (Crash) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Client(c.Client).Crash()
}

// CrashOf is the choice that kills client c, from 1.
func CrashOf(c int) simulator.Choice { return simulator.Choice{Verb: verbCrash, Client: int8(c)} }
