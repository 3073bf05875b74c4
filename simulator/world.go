package simulator

import (
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
)

// Limits of one world. They keep a World a plain value; New refuses a Config that
// exceeds the first four. A world that needs more of the others ends with a
// *LimitError.
const (
	MaxClients  = node.MaxClients       // client processes
	MaxNodes    = node.MaxNodes         // servers
	MaxReplicas = redisnode.MaxReplicas // of one server
	MaxFaults   = 16                    // kinds of fault
	MaxSkews    = 127                   // by which a client's clock may be ahead at the start

	MaxThreads = process.MaxThreads // threads of one process: its main thread, running timers and parallel tasks
)

// Never is later than everything.
const Never = clock.Never

// Epoch is the wall-clock reading of a right clock at the start of a run.
var Epoch = clock.Epoch

// Midst is the first reading of a client's clock, up to a grain (Traits.Grain), where time stamps count from the present.
var Midst = Epoch.Add(clock.Midst)

// A LimitError is something that the simulator has no room for. Nothing is left out
// in its place: a run that meets it has no outcome, and a search that meets it is
// not complete.
type LimitError = table.LimitError

// NondeterministicError is client code that did two different things after the same
// observations.
type NondeterministicError = process.NondeterministicError

// A World is everything that is, at one instant. It is a value: assign it to keep
// it, compare it with ==. The numbers in it name entries of its Simulator's tables,
// so a World means something to the Simulator that made it and to no other.
type World struct {
	now      time.Duration // true time since the start
	procs    [MaxClients]node.ClientProcess
	servers  [MaxNodes]node.State
	orphans  uint32 // a list of the orphanTable
	sent     uint32 // messages so far; numbers them in the history
	tables   uint32 // how often the tables had been emptied whose entries it names
	resource resourceState
	budget   [MaxFaults]uint8 // what is left of each fault, in the Config's order
}

// Now is the true time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Alive reports whether client c, from 1, has not been killed.
func (w *World) Alive(c int) bool { return !w.procs[c-1].Dead }

// Paused reports whether client c, from 1, is paused.
func (w *World) Paused(c int) bool { return w.procs[c-1].Paused }

// failing is server n, from 1, if it is one that can fail.
func (w *World) failing(n int) (f node.Failing, ok bool) {
	f, ok = w.servers[n-1].(node.Failing)
	return f, ok
}

// Behind reports whether a replica of server n, from 1, or its disk lacks something.
func (w *World) Behind(n int) bool {
	f, ok := w.failing(n)
	return ok && f.Behind()
}

// Down reports whether server n, from 1, has crashed and is not back.
func (w *World) Down(n int) bool {
	f, ok := w.failing(n)
	return ok && f.Down()
}

// Hung reports whether server n, from 1, stands still.
func (w *World) Hung(n int) bool {
	f, ok := w.failing(n)
	return ok && f.Hung()
}

// Budget returns the injections that are left of the i-th fault of the Config.
func (w *World) Budget(i int) int { return int(w.budget[i]) }
