package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Traits record the actions of code that were seen so far, which decide what belongs to a state. Each can become
// true, and stays so.
type Traits struct {
	// ReadsClock: what happens may depend on what time it is, and not only on how much time is left. A
	// client has read its clock, without Assumptions.Measures, or a command its server's, or a clock has a
	// rate of its own.
	ReadsClock bool
	Measured   bool // a client has read its clock to measure how long something takes
	// Grain: a client that measures has sent what its clock shows, in a time stamp that can be later by whole grains, of a second or
	// a millisecond; 0: none has.
	Grain     time.Duration
	SendsWait bool // a client has sent WAIT: it matters whose writes a replica lacks
	// Abandons: code has stopped waiting for a request in flight after it observed something else, so that
	// any observation may orphan a request.
	Abandons bool
	// OldBases: a client has written to the resource on the basis of a version that it had not read since it
	// was inside. With Assumptions.Merging the history decides that represents the client's own: the program must not read
	// inside after some histories and outside after others, and then write on the same version.
	OldBases bool

	byClients bool // clients have read their clocks, not only servers theirs: some may begin with one that is off
}

// Traits returns what code was seen to do so far.
func (s *Simulator) Traits() Traits {
	return Traits{s.readsClock || s.memo.ReadsClock, s.measured, s.stamps.seen, s.memo.Waits, s.abandons, s.oldBases, s.readsClock}
}

// OfTime are those that decide what of the present time belongs to a state.
func (t Traits) OfTime() Traits { return Traits{ReadsClock: t.ReadsClock, Grain: t.Grain} }

// Lasting reports whether the first client was seen to ask servers by a name that its process keeps for its whole life, and not for
// one attempt: the id of its thread. Tokens that are drawn have other names; see process.Code.Token.
func (ps Parts) Lasting() bool {
	p := ps.s.clients.procs[0]
	for at := range p.Len() {
		e := p.At(uint32(at))
		name := fmt.Sprintf("c1.%d", e.Born)
		for t := range e.Ops {
			if o := &e.Ops[t]; o.Kind.ToServer() && slices.ContainsFunc(ps.s.clients.words.Requests.Words(o.Arg), func(word string) bool { return hasName(word, name) }) {
				return true
			}
		}
	}
	return false
}

// Counts reports whether a counter has counted as far as Assumptions.Counters.
func (ps Parts) Counts() bool { return ps.s.memo.Counts }

// hasName reports whether a text has a name that no further digit follows.
func hasName(text, name string) bool {
	for at := strings.Index(text, name); at >= 0; at = strings.Index(text, name) {
		if text = text[at+len(name):]; text == "" || text[0] < '0' || text[0] > '9' {
			return true
		}
	}
	return false
}
