// Package verdict judges runs. Its judges see a history and nothing else: not
// which strategy was played, not what anybody expected.
package verdict

import (
	"time"

	"locklab/simulator/history"
)

// A Word is a verdict's name, as it stands in reports and contracts.
type Word string

// Safety.
const (
	Overlap    Word = "OVERLAP"     // two clients inside the critical section at one true time; a paused one counts
	StaleWrite Word = "STALE-WRITE" // the resource accepted a write based on a superseded read: an update is lost
	Fenced     Word = "FENCED"      // an overlap, but the resource refused every stale write
	WrongDel   Word = "WRONG-DEL"   // a command removed, replaced or prolonged/shortened a live grant of somebody else
	Lie        Word = "LIE"         // the API said something false
)

// Progress.
const (
	Phantom Word = "PHANTOM" // the key is held by a living client that does not believe it holds it
	Stall   Word = "STALL"   // after the last fault nobody ever acquired again
	Blocked Word = "BLOCKED" // nobody held the lock, and yet it was refused, for a time
	Starved Word = "STARVED" // one waiter is overtaken without bound, or nobody wins round after round
)

// Neither.
const (
	Holds   Word = "HOLDS"   // none of the above
	Unknown Word = "UNKNOWN" // the run ended before the answer was in
	Vacuous Word = "VACUOUS" // the fault never struck, or nobody contended: the run says nothing
	NA      Word = "N/A"     // the question has no meaning for this lock
)

// A Finding is one verdict with its evidence.
type Finding struct {
	Verdict Word          `json:"verdict"`
	Clients []int         `json:"clients"`        // who is involved, the culprit first
	From    time.Duration `json:"from_ns"`        // true time at which it began
	To      time.Duration `json:"to_ns"`          // true time at which it ended; equal to From for an instant
	Forever bool          `json:"forever"`        // it had not ended when the run did, and nothing was left that could end it
	Event   int           `json:"event"`          // index in History.Events of the event that completed it
	Node    int           `json:"node,omitempty"` // server concerned, 0: none in particular
}

// A Judgement is everything the judges say of one run.
type Judgement struct {
	// Verdicts are the distinct words of Findings, safety first, each in the
	// order in which the constants above stand; just HOLDS when there are none.
	Verdicts []Word    `json:"verdicts"`
	Findings []Finding `json:"findings"` // in order of Event
	// Contended says that a client asked for the lock while another had it,
	// was being granted it, or had lost it without knowing.
	Contended bool `json:"contended"`
}

// Judge hears all judges on a finished run.
func Judge(h *history.History) Judgement {
	panic("to be written")
}
