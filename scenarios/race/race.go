package race

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

// A Scenario is one race.
type Scenario struct {
	ID   string // as typed
	Race string // as the catalogues of races number it: R18; S1 and on are those that search has found
	// Settings are the numbers. What is zero here is no setting of this scenario.
	Settings Settings
	// Budget is how often each fault may strike, given the number of servers.
	Budget func(nodes int) string
	// Replicas is how many replicas every server has.
	Replicas int
	// MinReplicas is how many of them a server wants to have heard of, or it refuses
	// to write; 0: it always writes.
	MinReplicas int
	// AOF is what every server keeps on disk for when it restarts.
	AOF simulator.AOF
	// NodePPM is how many microseconds each server's clock gains per true second.
	NodePPM int32
	// Guard is what the resource does about late writes. Where it is Fenced, the
	// lock gets fencing tokens.
	Guard history.Guard
	// Worn has the queues of a ZooKeeper give out their last number from the start.
	SequenceExhausted bool
	// Needs says why the question has no meaning for a lock with this profile;
	// "" is: it has. Nil needs nothing.
	Needs func(p Profile) Reason
	// Unprotected asks also the locks that let a second client in while nothing
	// goes wrong. The others do not: what such a lock does there proves nothing.
	IncludeNonExclusive bool
	// Together asks also the locks that let two in together, as they say they do. The
	// others are about two of whom one has to wait.
	AllowsShared bool
	// Cast is who plays. Settings.Clients cuts it, or prolongs it with more
	// clients like the last.
	Clients func(s Settings) []Client
	// Script makes the hand that interferes; nil: nobody does. It is made anew
	// for each run.
	Script func(s Settings, nodes int) []Trigger
	// Struck says whether a run is what its title says: the process did
	// stand still while it was inside and somebody else asked.
	Triggered func(h *history.History) bool
}

// A Role is one client: it asks for the lock until it has it, reads the
// resource, works, writes what follows from what it read, works on, and gives
// the lock back. All times are of its own clock, unless said otherwise.
type Client struct {
	Start time.Duration // true time at which it begins
	Work  time.Duration // inside, from the read to the write
	Tail  time.Duration // inside, after the write
	Retry time.Duration // after a refusal; 0: Settings.Retry
	Skew  time.Duration // what its clock is ahead of true time
	PPM   int32         // microseconds that its clock gains per true second
	First int           // the server with which its list of them begins, from 0
	// Patience is how long it stands in line at each attempt, on its own clock, where
	// the lock has a line; 0: it does not wait.
	Patience time.Duration
	// Thread is what its runtime calls its thread; "": a name that nobody else has.
	Thread string
	// Token is what its source of tokens gives each time; "": each time a value
	// that nobody else has.
	Token string
	// Play is what it does instead; nil: all of the above.
	Play  func(a *ClientRun)
	Fails bool // after Work an exception ends its business: no write, no release; its process lives on
}

// A Reason says why a question has no meaning for a lock, as a key of the
// catalogues of texts; "" means that the question has a meaning.
type Reason string
