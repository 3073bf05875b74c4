package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Traits record the actions of code seen so far, which decide what belongs to a state. Each can come true and stays so.
type Traits struct {
	// ReadsClock: what happens may depend on what time it is, and not only on how much time is left. A client has read
	// its clock, without hypothesis.Measures, or a command its server's, or a clock has a rate of its own.
	ReadsClock bool
	Measured   bool // a client has read its clock to measure how long something takes
	// Grain: a client that measures has sent what its clock shows, in a time stamp that can be later by whole grains,
	// of a second or a millisecond; 0: none has.
	Grain     time.Duration
	SendsWait bool // a client has sent WAIT: it matters whose writes a replica lacks
	// Abandons: code has stopped waiting for a request in flight after it observed something else, so that
	// any observation may orphan a request.
	Abandons bool
	// OldBases: a client has written to the resource on the basis of a version that it had not read since it was
	// inside. With hypothesis.Merged the history decides that represents the client's own: the program must not read
	// inside after some histories and outside after others, and then write on the same version.
	OldBases bool

	// byClients: clients read their clocks, not only servers, or a clock has a rate: some may begin with one off.
	byClients bool
}

// Traits returns what code was seen to do so far.
func (s *Simulator) Traits() Traits {
	t := s.traits
	t.ReadsClock, t.Grain, t.SendsWait = t.byClients || s.memo.ReadsClock, s.stamps.seen, s.memo.Waits
	return t
}

// OfTime are those that decide what of the present time belongs to a state.
func (t Traits) OfTime() Traits { return Traits{ReadsClock: t.ReadsClock, Grain: t.Grain} }

// Lasting reports whether the first client was seen to ask servers by a name that its process keeps for its whole life,
// and not for one attempt: the id of its thread. Tokens that are drawn have other names; see process.Code.Token.
func (ps Parts) Lasting() bool {
	p := ps.s.clients.procs[0]
	for at := range p.Len() {
		e := p.At(uint32(at))
		name := fmt.Sprintf("c1.%d", e.Born)
		named := func(word string) bool { return hasName(word, name) }
		for t := range e.Ops {
			o := &e.Ops[t]
			if o.Kind.ToServer() && slices.ContainsFunc(ps.s.clients.words.Requests.Words(o.Arg), named) {
				return true
			}
		}
	}
	return false
}

// Counts reports whether a counter has counted as far as Set.Counters.
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

// A simulator's tables hold what its clients' code and its servers do. Models that are not the
// simulator may use them: they need no World, and none of the rules by which a World changes.

// Follow returns what the code of client c, from 1, does when it observes seen at an entry of its table, and the entry
// that follows: the one that represents all with the same future, if the client's history is abstracted. Entry 0 is the
// program that has not begun. does is valid until the next call.
func (s *Simulator) Follow(c int, at uint32, seen process.Observation) (does *process.Entry, to uint32, err error) {
	p := s.clients.procs[c-1]
	did, err := p.Advance(at, seen)
	if err != nil {
		return nil, 0, err
	}
	if to, err = p.Forget(did); err != nil {
		return nil, 0, err
	}
	return p.At(did), to, s.room.Take()
}

// Assume has worlds from now on assume a. Earlier worlds are void.
func (s *Simulator) Assume(a hypothesis.Set) {
	moved := s.stamps.seen != s.stamps.grain
	if s.stamps.move(s.stamps.seen, a.Ages); a == s.assumed && !moved {
		return
	}
	attempts := a.Peers || a.Ordered
	if s.assumed.Counters != a.Counters || s.memo.Attempts != attempts || s.assumed.Peers != a.Peers {
		s.memo.Clear()
		s.memo.Most, s.memo.Counts, s.memo.Attempts, moved = a.Counters, false, attempts, true
	}
	s.assumed = a
	for i, p := range s.clients.procs {
		p.KeepHistories(!a.Rests)
		p.Unfenced = a.Counters > 0 && s.config.Guard != history.Fenced
		if moved {
			p.Clear()
		}
		if i > 0 && i < a.Symmetric {
			p.Merge(hypothesis.NoMerging)
		} else {
			p.Merge(a.Merging)
		}
	}
	if s.numbers != nil {
		s.numbers.CountCreations(a.Creations)
	}
	s.measure(a.Measures)
	s.memo.Symmetric = uint8(a.Symmetric)
	clear(s.symmetry.renamed)
	s.symmetry.followed = 0
}

// measure has clients that read their clocks use them only to measure how long something takes: the clock of each is
// set to zero, but for what it shows below a millisecond, when it is read for the first time since its process has
// begun or rested. The time of day is no part of a world then, and Traits.ReadsClock stays false unless a server's
// clock is read too. CheckMeasures tries whether the code does nothing else with its clock.
//
// It does not apply to clocks with a rate of their own. Worlds of before mean nothing any more.
func (s *Simulator) measure(on bool) {
	on = on && !s.traits.byClients
	if s.measures == on {
		return
	}
	s.measures, s.traits.Measured, s.stamps.seen = on, false, 0
	s.stamps.move(0, s.assumed.Ages)
	for _, p := range s.clients.procs {
		p.Clear()
	}
}

// Repeat runs the code of every client once more in each history in which it has run only once; see
// process.Process.Repeat. Code that does something else then is a *process.NondeterministicError.
func (s *Simulator) Repeat() error {
	for _, p := range s.clients.procs {
		if err := p.Repeat(); err != nil {
			return err
		}
	}
	return nil
}

// CheckMeasures tries the code that has read a clock to measure at other times of day; see
// process.Process.CheckMeasures. Where it does something else, the error is a *hypothesis.Refuted.
func (s *Simulator) CheckMeasures() error {
	if !s.traits.Measured {
		return nil
	}
	for i, p := range s.clients.procs {
		if err := p.CheckMeasures(s.symmetry.represents(i + 1)); err != nil {
			return err
		}
	}
	return nil
}

// readClock notes that client p reads its clock.
func (v *view) readClock(p *node.ClientProcess) {
	switch {
	case !v.s.measures:
		v.s.traits.byClients = true
	case !p.Clock.Measures:
		v.s.traits.Measured = true
		v.s.stamps.zero(&p.Clock, v.w.now)
	}
}
