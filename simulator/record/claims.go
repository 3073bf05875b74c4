package record

import (
	"cmp"
	"slices"

	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// Claimed are the verdicts that a log can show, and NotClaimed those that need what only a server
// knows: whether the key existed, whose it was, and how long it had to live.
//
//   - OVERLAP: as package verdict has it. A client is inside from acquired to leaving, lost, or the From of
//     released. If its next lines are missing it may have died, unless it has an Until, and a released without From
//     does not say when the section ended: then it is UNKNOWN.
//   - STALE-WRITE: as there, if lines have version and base: an update was overwritten that the writer had not
//     read. The order of versions is that of the writes, whatever the clocks say. A write that only falls into
//     another's section is one if its client had left its own before it called, or if its token is not the highest.
//   - FENCED: a write was refused whose client had left its section, or whose token is not the highest, and no stale
//     one was accepted on that key.
//   - STARVED: one client is overtaken ten times, if no more than eight clients use the key. That no client
//     wins is not claimed: a key may have been left.
func Claimed() []verdict.Word {
	return []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.Starved}
}

// NotClaimed are the verdicts of package verdict that no log shows. Of LIE a log shows a contradiction: a release,
// renewal or check says "still yours", and another has acquired the lock since. That is UNKNOWN ([Either]). [Wait]
// has the longest row of refusals, which may have been BLOCKED, a DEADLOCK or an ORPHAN's.
func NotClaimed() []verdict.Word {
	return []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock, verdict.Blocked}
}

// A Finding is a verdict with the lines that show it.
type Finding struct {
	Verdict verdict.Word `json:"verdict"`
	May     verdict.Word `json:"may_be,omitempty"` // what an UNKNOWN may be
	Why     Why          `json:"why,omitempty"`    // it is UNKNOWN
	Key     string       `json:"key"`
	Clients []string     `json:"clients"` // the culprit first
	Lines   []Place      `json:"lines"`   // of each client
	From    Instant      `json:"from_ns"` // when it began; equal to To for an instant
	To      Instant      `json:"to_ns"`
	Around  []*Entry     `json:"-"` // lines of the key around it, in order; Event is the one that completes it
	Event   int          `json:"-"`
}

// finding is a finding at the instant of a line. The other lines show what its clients did, the culprit's first.
func (k *key) finding(w verdict.Word, at *Entry, lines ...*Entry) Finding {
	f := Finding{Verdict: w, Key: k.name, From: at.At, To: at.At}
	for _, l := range lines {
		f.Clients, f.Lines = append(f.Clients, l.Client), append(f.Lines, l.Place)
	}
	return f
}

// claim reports a finding; before are the lines up to the one that completes it, none: the last ones.
func (k *key) claim(f Finding, before ...*Entry) {
	k.stale = k.stale || f.Verdict == verdict.StaleWrite
	k.place(&f, before...)
	k.judge.add(f)
}

// doubt reports that something may be a finding.
func (k *key) doubt(f Finding, why Why, before ...*Entry) {
	k.unseen = k.unseen || f.Verdict == verdict.StaleWrite
	f.Verdict, f.May, f.Why = verdict.Unknown, f.Verdict, why
	k.claim(f, before...)
}

// place gives a finding the lines around it, if it is kept and has none, with the acquired of their clients' leases.
func (k *key) place(f *Finding, before ...*Entry) {
	if f.Around != nil || !k.judge.room(f.Verdict) {
		return
	}
	all := slices.Concat(before, k.recent)
	last := slices.Concat(k.recent, before)[len(all)-1]
	for _, l := range slices.Clone(all) {
		if l.inside != nil {
			all = append(all, l.inside)
		}
	}
	for _, client := range f.Clients {
		if s := k.open[client]; s != nil && s.acquired.at.n < last.at.n {
			all = append(all, s.acquired)
		}
	}
	slices.SortStableFunc(all, func(a, b *Entry) int { return cmp.Compare(a.at.n, b.at.n) })
	f.Around = slices.Compact(all)
	f.Event = slices.Index(f.Around, last)
}

// Why is the reason why something is UNKNOWN.
type Why string

// The reasons.
const (
	Clocks  Why = "clocks"  // the clocks can be so far off
	Silent  Why = "silent"  // there is no later line of the first client: it may have ended
	Either  Why = "either"  // one of two statements is false, and only the server knows which
	Unseen  Why = "unseen"  // a late write was refused; whether a stale one was accepted is not known
	Release Why = "release" // the first client's released has no from, and there is no leaving
)

// A Wait is a row of refusals while no client in the log had the lock.
type Wait struct {
	Key      string  `json:"key"`
	Refused  int     `json:"refused"`
	Since    Instant `json:"since_ns"`
	Until    Instant `json:"until_ns"`
	From, To Place   `json:"-"`
}

// A Result is what a log shows.
type Result struct {
	Verdicts []verdict.Word       `json:"verdicts"` // without doubt, in order; if there is none just UNKNOWN or HOLDS
	Counts   map[verdict.Word]int `json:"counts"`   // findings; of a lease without an end one that is UNKNOWN
	Findings []Finding            `json:"findings"` // the first of each verdict
	Wait     *Wait                `json:"longest_wait,omitempty"`

	Lines    int     `json:"lines"`
	Acquired int     `json:"acquired"`
	First    Instant `json:"first_ns"`
	Last     Instant `json:"last_ns"`

	// What is missing in the log, and what is not judged for that.
	NoVersion int `json:"writes_without_version"` // STALE-WRITE
	NoFrom    int `json:"releases_without_from"`  // when the section ended; LIE
	NoAnswer  int `json:"releases_without_ok"`    // LIE
	NoEntry   int `json:"ends_without_acquired"`  // released, leaving, lost: the log began later, or a line is missing
	Replaced  int `json:"acquired_twice"`         // by a client that had not released: its former lease ended by then
	Open      int `json:"open"`                   // leases without an end at the end of the log
	Crowded   int `json:"crowded"`                // keys of more than eight clients: STARVED
	Forgotten int `json:"forgotten"`              // keys without a lease: STALE-WRITE, FENCED, STARVED across it
	most      int // findings of each verdict that are kept

	// AtLeast: a lease had more overlaps than maxNear, which are not all counted.
	AtLeast bool `json:"overlap_at_least,omitempty"`
}

// add counts a finding, and keeps it if there is room.
func (r *Result) add(f Finding) {
	if r.room(f.Verdict) {
		r.Findings = append(r.Findings, f)
	}
	r.Counts[f.Verdict]++
}

// room reports whether one more finding of a verdict would be kept.
func (r *Result) room(w verdict.Word) bool { return r.Counts[w] < r.most }

// settle fills in Verdicts.
func (r *Result) settle() {
	for _, w := range Claimed() {
		if r.Counts[w] > 0 {
			r.Verdicts = append(r.Verdicts, w)
		}
	}
	switch {
	case len(r.Verdicts) > 0:
	case r.Counts[verdict.Unknown] > 0:
		r.Verdicts = []verdict.Word{verdict.Unknown}
	default:
		r.Verdicts = []verdict.Word{verdict.Holds}
	}
	unknown := func(f Finding) bool { return f.Verdict == verdict.Unknown }
	r.Findings = append(slices.DeleteFunc(slices.Clone(r.Findings), unknown), lists.Pick(r.Findings, unknown)...)
}
