package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/process"
)

// Assumptions hold what a simulator takes for granted of code and servers, so that fewer worlds differ. The zero
// value assumes nothing. Each is a hypothesis; where a step, or a check, refutes it, the error is the one named here.
type Assumptions struct {
	// Symmetric: so many clients, from the first, are interchangeable (symmetry reduction): for each other's code
	// and for servers. Refuted by an *AsymmetricError of Step. Below 2: none are.
	Symmetric int
	// Strangers: where more than two clients are symmetric, what code does is the same whichever other
	// client an answer names, or which other attempt of its own, and servers do the same with the tokens of any attempt (data
	// independence). Needs Merging. Refuted by an *AsymmetricError of Step or Symmetry.CheckStrangers.
	Strangers bool
	// Merging: histories of observations with equal future behaviour are one (bisimulation); see process.Process.Merge.
	// Symmetric clients have the classes of the first. Refuted by a *process.SplitError of Step; the
	// process has refined its classes by then, unless the error says End.
	Merging process.Merging
	// Measures: clients use their clocks only to measure how long something takes (data independence); see
	// measure. Refuted by a *process.TimeOfDayError of CheckMeasures.
	Measures bool
	// Ages: see there. Needs Measures. Refuted by an *OldStampError of CheckMeasures, CheckOld or Step.
	Ages Ages
	// Counters: what code and servers do is the same however far beyond this a counter has counted, but for its number, as that of a
	// fencing token; 0: it may not be. Needs Merging. Refuted by a *node.CountError of Step or Symmetry.CheckStrangers.
	Counters int
	// Creations: code learns only of transactions that create something, so that an ensemble numbers no
	// others (data independence); see node.Sessions. No check tries it: it follows from what
	// requests can ask for, and a simulator whose code opens connections of its own does not assume it.
	Creations bool
	// Ordered: of the numbers that an ensemble counts, and that its answers name, and of those of the tokens of clients, code depends on the
	// order only (data independence). Needs Creations. Refuted by an *OrderError of Symmetry.Recounted or Symmetry.CheckOrder.
	Ordered bool
	// Rests: what a process at rest, or at its end, has observed is dead (dead variables), but for the memory of
	// its strategy, which is read; see process.Process.Forget. Refuted by a *RestError of Symmetry.CheckRests.
	Rests bool
}

// Ages bound the ages of time stamps that code and servers can tell apart (extrapolation; Behrmann, Bouyer, Larsen and Pelánek
// 2004). The zero value does not.
type Ages struct {
	Ancient time.Duration // to a client all stamps are one that were so old when it first read its clock
	Span    time.Duration // no client measures for longer; servers cannot tell apart stamps that are older than both together
}

// Usual are the assumptions of a new simulator.
var Usual = Assumptions{Rests: true}

// Assume has worlds from now on assume a. Earlier worlds are void.
func (s *Simulator) Assume(a Assumptions) {
	moved := s.stamps.seen != s.stamps.grain
	if s.stamps.move(s.stamps.seen, a.Ages); a == s.assumed && !moved {
		return
	}
	if attempts := a.Strangers || a.Ordered; s.assumed.Counters != a.Counters || s.memo.Attempts != attempts || s.assumed.Strangers != a.Strangers {
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
			p.Merge(process.NoMerging)
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
