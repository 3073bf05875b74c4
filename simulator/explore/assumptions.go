package explore

import (
	"errors"
	"time"

	"locklab/simulator"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// assumptions hold what a search takes for granted, so that it need not distinguish all states. It begins with
// as many as there are; what refutes one, in a step or in a check, ends the pass, and the next one begins with
// weaker assumptions (counterexample-guided abstraction refinement, Clarke, Grumberg, Jha, Lu and Veith 2000).
// None becomes stronger again.
//
// Two have no weaker form. That code does nothing that it was not seen to do (simulator.Traits) is seen when it
// does so for the first time: the pass begins again with that known. That code is a function of what it observes is
// an error if it is not; see checkCode.
type assumptions struct {
	simulator.Assumptions
	asymmetry simulator.AsymmetricError // why clients are not interchangeable; the zero value: they are
	disorder  string                    // why more than the order of numbers makes a difference; "": it does not
}

// assumptions are those with which a search begins.
func (o *Options) assumptions(sim *simulator.Simulator) (a assumptions) {
	without := o.Plain
	a.Rests, a.Measures, a.Creations = !without.Rests, !without.Clocks, !without.Transactions
	if o.active > 0 {
		a.Counters, a.Ordered = counted[0], sim.KeepsSessions()
		a.Strangers = !a.Ordered
	}
	if !without.Symmetry {
		a.Symmetric = o.Symmetric
	}
	_, numbers := sim.Kind().(node.Numbering)
	switch {
	case without.Histories:
	case o.own:
		a.Merging = process.MergeOrders
	case o.Step == 0:
	case numbers: // whose answers name much that code soon forgets: too many histories
		a.Merging = process.MergeOrders
	default:
		a.Merging = process.MergeHistories
	}
	return a
}

// counted are the numbers at which counters stand still: the second one where the first is refuted, as by a lock whose value is "1".
var counted = [...]int{1, 3}

// refine returns what is left of a after an error has refuted something of it; false: it has not. seen is what
// code was seen to do.
func (a assumptions) refine(counterexample error, seen simulator.Traits) (weaker assumptions, refuted bool) {
	asymmetric, split := (*simulator.AsymmetricError)(nil), (*process.SplitError)(nil)
	count, rest, order := (*node.CountError)(nil), (*simulator.RestError)(nil), (*simulator.OrderError)(nil)
	dated, stamp := (*process.TimeOfDayError)(nil), (*node.StampError)(nil)
	switch {
	case errors.As(counterexample, &dated), errors.As(counterexample, &stamp):
		a.Measures = false
	case errors.As(counterexample, &count):
		if a.Counters != counted[0] {
			a.Counters = 0
			break
		}
		a.Counters = counted[1]
	case errors.As(counterexample, &order):
		a.Ordered, a.disorder = false, order.Error()
	case errors.As(counterexample, &rest):
		a.Rests = false
	case errors.As(counterexample, &split):
		if split.End { // else the process has refined its classes
			a.Merging--
		}
	case errors.As(counterexample, &asymmetric):
		if a.Symmetric == 0 { // it depends on more than which client is which
			a.Ordered, a.disorder = false, asymmetric.Error()
		}
		a.Symmetric, a.asymmetry = 0, *asymmetric
	case errors.Is(counterexample, errNewTrait):
		a.Measures = a.Measures && !seen.ReadsClock
		if seen.ReadsClock || seen.Measured { // and remembers what it has read
			a.Merging = min(a.Merging, process.MergeOrders)
		}
	default:
		return a, false
	}
	return a, true
}

// olderStamps doubles one of a.Ages, most at most, if a counterexample refutes it; false: it does not, or it was most.
func (a *assumptions) olderStamps(counterexample error, most time.Duration) bool {
	old, dated, stamp := (*simulator.OldStampError)(nil), (*process.TimeOfDayError)(nil), (*node.StampError)(nil)
	age := &a.Ages.Ancient
	switch {
	case errors.As(counterexample, &old):
		if old.Span {
			age = &a.Ages.Span
		}
	case errors.As(counterexample, &dated) && dated.Ancient, errors.As(counterexample, &stamp):
	default:
		return false
	}
	if *age == 0 || *age >= most {
		return false
	}
	*age = min(2**age, most)
	return true
}

// held are the hypotheses that a search ended with; none of counters where none has counted that far.
func (a assumptions) held(sim *simulator.Simulator) simulator.Assumptions {
	if !sim.Parts().Counts() {
		a.Counters = 0
	}
	return a.Assumptions
}

var errNewTrait = errors.New("explore: a clock was read, or used to measure, replicas were waited for, a request was abandoned, or an old version was written on, for the first time")

// checkSoon checks the code when it has four times as many histories as at the last check, so that no long search
// relies on what is wrong.
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
