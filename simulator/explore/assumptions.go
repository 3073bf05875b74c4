package explore

import (
	"errors"

	"locklab/simulator"
	"locklab/simulator/hypothesis"
	"locklab/simulator/node"
)

// assumptions hold what a search takes for granted: it begins with as much as there is (package hypothesis). Two more
// have no weaker form. That code does nothing that it was not seen to do (simulator.Traits) is seen when it first does
// so: the pass begins again, knowing it. That code is a function of what it observes is an error if not; see checkCode.
type assumptions struct {
	hypothesis.Set
	asymmetry *hypothesis.Refuted // why clients are not interchangeable; nil: they are
	disorder  string              // why more than the order of numbers makes a difference; "": it does not
}

// assumptions are those with which a search begins.
func (o *Options) assumptions(sim *simulator.Simulator) (a assumptions) {
	without := o.Plain
	a.Rests, a.Measures, a.Creations = !without.Rests, !without.Clocks, !without.Transactions
	if o.active > 0 {
		a.Counters, a.Ordered = hypothesis.CountedFrom, sim.KeepsSessions()
		a.Peers = !a.Ordered
	}
	if !without.Symmetry {
		a.Symmetric = o.Symmetric
	}
	_, numbers := sim.Kind().(node.Numbering)
	switch {
	case without.Histories:
	case o.own:
		a.Merging = hypothesis.MergeOrders
	case o.Step == 0:
	case numbers: // whose answers name much that code soon forgets: too many histories
		a.Merging = hypothesis.MergeOrders
	default:
		a.Merging = hypothesis.MergeHistories
	}
	return a
}

// refine returns what is left of a after an error refuted some of it; false: it did not. seen is what code has done.
func (a assumptions) refine(counterexample error, seen simulator.Traits) (weaker assumptions, refuted bool) {
	if errors.Is(counterexample, errNewTrait) {
		a.Measures = a.Measures && !seen.ReadsClock
		if seen.ReadsClock || seen.Measured { // and remembers what it has read
			a.Merging = min(a.Merging, hypothesis.MergeOrders)
		}
		return a, true
	}
	r := (*hypothesis.Refuted)(nil)
	if !errors.As(counterexample, &r) || hypothesis.All[r.Of].Weaken == nil {
		return a, false
	}
	ordered := a.Ordered
	hypothesis.All[r.Of].Weaken(&a.Set, r)
	if r.Of == hypothesis.Alike || r.Of == hypothesis.Peers {
		a.asymmetry = r
	}
	if ordered && !a.Ordered {
		a.disorder = r.Error()
	}
	return a, true
}

// held are the hypotheses that a search ended with; none of counters where none has counted that far.
func (a assumptions) held(sim *simulator.Simulator) hypothesis.Set {
	if !sim.Parts().Counts() {
		a.Counters = 0
	}
	return a.Set
}

var errNewTrait = errors.New("explore: a clock was read, or used to measure, replicas were waited for, " +
	"a request was abandoned, or an old version was written on, for the first time")

// checkSoon checks code that has four times the histories of the last check: no long search relies on what is wrong.
func (s *search) checkSoon() error {
	if n := s.sim.Histories(); n > 4*s.checked {
		s.checked = n
		return errors.Join(s.checkAgain(), s.checkCode())
	}
	return nil
}

// checkCode checks what no step of a search shows: that the code is a function of what it
// observes, and that it uses its clock only to measure, if that is assumed.
func (s *search) checkCode() error {
	if s.visited.wanted == nil { // otherwise a pass before this one has claimed all
		if err := s.sim.Repeat(); err != nil {
			return err
		}
	}
	return s.sim.CheckMeasures()
}
