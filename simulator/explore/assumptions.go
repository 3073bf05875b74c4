package explore

import (
	"errors"

	"locklab/simulator"
	"locklab/simulator/process"
)

// assumptions hold what a search takes for granted of the lock's code, so that it need not distinguish
// all states. Each is a hypothesis and is checked while the search runs. What refutes one is
// an error; refine weakens it, and the pass begins again (counterexample-guided abstraction refinement,
// Clarke, Grumberg, Jha, Lu and Veith 2000):
//
//   - So many clients are interchangeable. Checked by symmetry.go and Simulator.Alike: AsymmetricError.
//   - Histories of observations have the same future (process.Merging). Checked on the code by
//     process.Process.Merge: SplitError, which the process itself refines as long as it can.
//   - A clock is read only to measure how long something takes. Checked by Simulator.CheckMeasures:
//     TimeOfDayError.
//   - Code does nothing that it was not seen to do (simulator.Traits). What it does for the first time is seen
//     when it happens.
//
// That code is a function of what it observes has no weaker form: see checkCode.
type assumptions struct {
	symmetric int // so many clients, from the first
	asymmetry simulator.AsymmetricError
	merging   process.Merging
}

// assume has sim and opt make the assumptions of a search, until the function that it returns is called.
func assume(sim *simulator.Simulator, opt *Options) (undo func()) {
	if !opt.Plain.Symmetry {
		opt.assumed.symmetric = opt.Symmetric
	}
	if opt.Plain.Rests {
		sim.KeepHistories()
	}
	sim.Measure(!opt.Plain.Clocks)
	sim.CountCreations(!opt.Plain.Transactions)
	switch {
	case opt.Plain.Histories || opt.Step == 0:
	case sim.KeepsSessions(): // whose answers name much that code soon forgets: too many histories
		opt.assumed.merging = process.MergeOrders
	default:
		opt.assumed.merging = process.MergeHistories
	}
	opt.assumed.merge(sim)
	return func() {
		sim.Merge(process.NoMerging, 0)
		sim.CountCreations(false)
		sim.Measure(false)
		sim.Symmetry().Check(0)
	}
}

func (a *assumptions) merge(sim *simulator.Simulator) { sim.Merge(a.merging, a.symmetric) }

// refine weakens the assumption that an error has refuted, and reports whether it is about one.
func (a *assumptions) refine(sim *simulator.Simulator, err error) bool {
	asymmetric, split, dated := (*simulator.AsymmetricError)(nil), (*process.SplitError)(nil), (*process.TimeOfDayError)(nil)
	switch {
	case errors.As(err, &dated):
		sim.Measure(false)
	case errors.As(err, &split):
		if split.End {
			a.merging--
			a.merge(sim)
		}
	case errors.As(err, &asymmetric):
		a.symmetric, a.asymmetry = 0, *asymmetric
		a.merge(sim)
	case errors.Is(err, errNewTrait):
		if sim.Traits().ReadsClock {
			sim.Measure(false)
		}
		if seen := sim.Traits(); seen.ReadsClock || seen.Measured { // and remembers what it has read
			a.merging = min(a.merging, process.MergeOrders)
			a.merge(sim)
		}
	default:
		return false
	}
	return true
}

var errNewTrait = errors.New("explore: a clock was read, or used to measure, replicas were waited for, a request was abandoned, or an old version was written on, for the first time")

// checkSoon checks the code when it has four times as many histories as at the last check, so that no long search
// relies on what is wrong.
func (s *search) checkSoon() error {
	if n := s.sim.Histories(); n > 4*s.checked {
		s.checked = n
		return s.checkCode()
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
