package faults

import (
	"time"

	"locklab/simulator"
)

const verbRestart = simulator.FaultVerb + 6

// Restart crashes a server, which comes back with what it keeps on disk (AOF in its config): nothing, all, or the state
// of its last fsync. A client waiting for its answer sees the connection break; so does one asking while it is down.
var Restart = &simulator.Fault{
	Name: "restart", Verb: verbRestart,
	// Choices offers coming back after the length that the budget names, or at once if it names none: restart=1@10s is
	// a restart delayed by 10 s. With a Timing it may come back before, by a Resume.
	Choices: each(verbRestart, simulator.FaultContext.Servers, up, most),
	Inject:  func(f simulator.FaultContext, c simulator.Choice) error { return f.Server(c.Node).Restart(c.D) },
}

// RestartOf is the choice that restarts server n, from 1, at once.
func RestartOf(n int) simulator.Choice { return RestartAfter(n, 0) }

// RestartAfter is the choice that crashes server n, from 1, for d of true time.
func RestartAfter(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbRestart, Node: int8(n), D: d}
}

func up(n simulator.ServerTarget) bool { return !n.Down() }
