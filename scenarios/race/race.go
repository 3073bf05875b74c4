// Package race is the language in which a race between users of a lock is written down, and the runner that plays it.
//
// A Race is one race: its Settings (the numbers), its Clients (who uses the lock, when and for how long), its Script
// (Triggers that inject faults or hold messages back at a certain event) and Triggered (whether a run shows the race).
// It knows no lock: Race.Needs decides from a lock's Profile, which is observed in runs, whether the race applies.
//
// Play runs a lock in a race on the simulator, and returns an Outcome: the history, the judges' findings and the
// verdicts. A run is deterministic; Settings.Seed other than 0 varies the length of messages.
//
// Conditions on events are Patterns: Event, Sends, Applies, CreatesKey and others match
// one event, InOrder and InOrderWithout match a sequence in a history.
package race

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

// A Race is one race. Its texts are in the catalogues of locklab/reports/text, as
// title.race.<ID>, story.race.<ID> and numbers.race.<ID>; what mends it is race.<ID>.mends.
type Race struct {
	ID   string // as typed on a command line
	Code string // its number in the list of races: R18; S1 and on were found by search
	// Group is its subject: its heading in the list of races is the text list.races.<Group>.
	Group string
	// Settings are the race's own numbers. A zero duration is no setting of this race, except for Timeout.
	Settings Settings
	// Budget returns the faults that the Script injects, given the number of servers, see faults.Budget. Nil: none.
	Budget func(nodes int) string
	// Replicas is the number of replicas of each server.
	Replicas int
	// MinReplicas is min-replicas-to-write: with answers of fewer lately a server refuses writes; 0: it never does.
	MinReplicas int
	// AOF is the persistence of each server: what it has after a restart.
	AOF simulator.AOF
	// NodePPM is the number of microseconds that each server's clock gains per true second.
	NodePPM int32
	// FastServers: in place of NodePPM, each server's clock gains Settings.Drift.
	FastServers bool
	// Guard is how the resource treats late writes. With history.Fenced the lock gets fencing tokens.
	Guard history.Guard
	// SequenceExhausted starts with ZooKeeper queues whose next number is the last one.
	SequenceExhausted bool
	// Needs are what the race needs of a lock. Without one of them it does not apply to the lock.
	Needs []Need
	// IncludeNonExclusive applies the race also to locks that let a second client in
	// without any fault. In other races such a lock would prove nothing.
	IncludeNonExclusive bool
	// AllowsShared applies the race also to locks shared by design. Other races need one of two clients to wait.
	AllowsShared bool
	// Data applies the race also to what is no lock (lock.Guard). In the others something happens to a lock: it
	// is left behind, lost, or given twice.
	Data bool
	// Clients returns the clients. If Settings.Clients asks for fewer, the rest is cut
	// off; if for more, the last one is repeated, a little later each time.
	Clients func(s Settings) []ClientSpec
	// Script returns the triggers of one run: they keep state, so each run has its own. Nil: nothing interferes.
	Script func(s Settings, nodes int) []Trigger
	// Triggered reports whether a run is the title's race: a process was paused while inside and another client asked.
	Triggered func(h *history.History) bool
}

// A ClientSpec is what a client does: it tries until it has the lock, reads the resource, works for Work, writes a
// value based on that, works for Tail, and releases the lock. Durations are by its own clock, if not stated otherwise.
type ClientSpec struct {
	Start time.Duration // true time at which it begins
	Work  time.Duration // inside, from the read to the write
	Tail  time.Duration // inside, after the write
	Retry time.Duration // pause after a refusal; 0: Settings.Retry
	Skew  time.Duration // how far its clock is ahead of true time
	PPM   int32         // microseconds that its clock gains per true second
	First int           // the server with which its list of servers begins, from 0
	List  int           // number of servers on its list, if its lock chooses from one; 0: lock.Entry.Shards
	// Patience is how long each attempt waits in the lock's queue, if it has one (lock.Queuer); 0: it does not wait.
	Patience time.Duration
	// Thread is the runtime's name of its thread; "": a unique one.
	Thread string
	// Token is the value that its source of random tokens returns each time; "": unique ones.
	Token string
	// Run replaces ClientRun.AcquireWorkRelease, which is what the client does otherwise.
	Run   func(a *ClientRun)
	Fails bool // an exception after Work: no write and no release, but its process lives on
	Once  bool // it does not try again after a refusal, as a scheduled job
}
