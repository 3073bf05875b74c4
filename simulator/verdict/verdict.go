// Package verdict judges runs. Its judges see a history only: not which lock was played, and not what was expected.
//
// [Judge] judges a finished run. A [Monitor] judges event by event. Its state is a small comparable value, so that a
// search can keep it, or its [Safety] part, inside a hashed state. A [Reading] is the interpretation of events that the
// judges share. The exact meaning of every verdict, with its borderline cases, is at the head of the file of its judge;
// in short it stands beside its name. testdata/histories.txt has a small history for each.
//
// The verdicts rest on these terms:
//
//   - A grant is the key on one node, as long as its value stands. It belongs to the lease
//     under which it was made: to one attempt of one client ([history.Event].Lease). It is
//     live, or left: its owner was refused, has given the lock back, failed or died.
//   - A client has the lock, by a lease, if the key is the grant of that lease on a quorum
//     of nodes. To have the lock and to be inside are two things: a client whose lease has
//     ended can be inside without knowing.
//   - A write is late if its client does not have the lock, by the lease under which it was
//     sent, when the write arrives at the resource.
//
// Tests judge exclusion once more from these definitions, without sharing code, and compare the two.
//
// The package knows no expectations, no statistics over runs, nor whether a race's fault was injected (see [Settle]).
package verdict

import (
	"slices"
	"time"

	"locklab/simulator/history"
)

// A Word is the name of a verdict, as reports and contracts have it.
type Word string

// Safety.
const (
	Overlap Word = "OVERLAP" // two clients are inside the critical section at one true time; a paused one counts
	// StaleWrite: the resource accepted a late write that harms another: it overwrites an update that its writer has
	// not read, or falls into another's section after that one's first read. Also: the one who has the lock overwrites
	// an update that it has not read.
	StaleWrite Word = "STALE-WRITE"
	Fenced     Word = "FENCED"    // the resource refused a late write, and accepted no stale one
	WrongDel   Word = "WRONG-DEL" // a command removed, replaced, prolonged or shortened a live grant of another lease
	Lie        Word = "LIE"       // the lock said that it is still its caller's, or that it is not, and that was false
)

// Progress.
const (
	// Orphan: the key is the grant of a living client not believing in it, and refused another or outlasts the run.
	Orphan   Word = "ORPHAN"
	Deadlock Word = "DEADLOCK" // the lock is free and refused, for good
	Blocked  Word = "BLOCKED"  // the lock is free and refused, for a time
	Starved  Word = "STARVED"  // no client wins although nothing stands in the way, or one is overtaken again and again
	Slow     Word = "SLOW"     // a client asks and has no answer for longer than history.History.Slow
	Noisy    Word = "NOISY"    // a client that waits sends more than history.History.Noisy requests a second
)

// Neither.
const (
	Holds   Word = "HOLDS"   // none of the above
	Unknown Word = "UNKNOWN" // the run ended before the answer was in
	Vacuous Word = "VACUOUS" // the fault was never injected, or nobody contended: the run says nothing
	NA      Word = "N/A"     // the question has no meaning for this lock
)

// A Finding is one verdict with its evidence.
type Finding struct {
	Verdict Word          `json:"verdict"`
	Clients []int         `json:"clients"`        // the clients involved, the culprit first
	From    time.Duration `json:"from_ns"`        // true time at which it began
	To      time.Duration `json:"to_ns"`          // true time at which it ended; equal to From for an instant
	Forever bool          `json:"forever"`        // it had not ended when the run did, and nothing left could end it
	Event   int           `json:"event"`          // index in History.Events of the event that completed it
	Node    int           `json:"node,omitempty"` // server concerned, 0: none in particular
}

// A Judgement is everything the judges say of one run.
type Judgement struct {
	// Verdicts are the distinct words of Findings in the constants' order, or just HOLDS. Shared: do not change it.
	Verdicts []Word    `json:"verdicts"`
	Findings []Finding `json:"findings"` // in order of Event
	// Contended says that a client asked for the lock while another had it, was being granted it, or had lost it
	// without knowing; see contends for the exact rule.
	Contended bool `json:"contended"`
}

// Judge gives all judges a finished run. It panics, naming the limit, if it has more than MaxClients or MaxNodes.
func Judge(h *history.History) Judgement {
	var (
		c        = CaseOf(h)
		m        Monitor
		findings []Finding
		fenced   Finding // if the run is
	)
	note := func(f Finding) { findings = append(findings, f) }
	for i := range h.Events {
		e, saved := &h.Events[i], m.saved
		m.Observe(&c, i, e, note)
		if m.saved && !saved {
			fenced = Finding{Verdict: Fenced, Clients: []int{e.Client}, From: e.At, To: e.At, Event: i}
		}
	}
	m.Finish(&c, h.End, h.Horizon, len(h.Events)-1, note)
	if m.fenced() {
		note(fenced)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return a.Event - b.Event })
	var found Set
	for i := range findings {
		findings[i].close(h)
		found.Add(findings[i].Verdict)
	}
	words := justHolds
	if found != 0 {
		words = found.Words()
	}
	return Judgement{words, findings, m.contended}
}

// justHolds is shared by all judgements without findings. It has no spare capacity, so that an append copies it.
var justHolds = slices.Clip([]Word{Holds})

// close gives an OVERLAP and a SLOW their To. The judges themselves report an OVERLAP when it begins and a SLOW when it
// is one: a search has to know at once, and a state that remembered the beginning would never recur.
func (f *Finding) close(h *history.History) {
	over := map[Word]func(history.EventKind) bool{Overlap: endsInside, Slow: ends}[f.Verdict]
	if over == nil {
		return
	}
	f.To = h.End
	for _, e := range h.Events[f.Event:] {
		if over(e.Kind) && slices.Contains(f.Clients, e.Client) {
			f.To = e.At
			return
		}
	}
}
