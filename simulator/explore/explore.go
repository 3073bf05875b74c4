package explore

import (
	"context"
	"errors"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

// ProbeRefused is the Note of the Refuse by which the probe reports a deadlock: all
// other clients had finished or died, it waited for longer than any lease, and the lock
// was still refused.
const ProbeRefused = "refused after all leases"

// ProbeFailed is the Note of the Refuse by which the probe reports a deadlock of another kind: all
// its attempts, which are longer than any lease apart, ended in an error that is no refusal.
const ProbeFailed = "errors after all leases"

// ReportsDeadlock reports whether the probe says by e that no client can have the lock again.
func ReportsDeadlock(e *history.Event) bool {
	return e.Kind == history.Refuse && (e.Note == ProbeRefused || e.Note == ProbeFailed)
}

// ErrReadsClock is a search of every timing in which clients wait without end, of code
// that reads a clock: it has no end. Bound Durations.Idle.
var ErrReadsClock = errors.New("explore: a clock is read by clients that wait without end")

// Options bound a search.
type Options struct {
	// Case is a history without events: Clients, Nodes, Key, TTL, Holders and Guard are
	// for the judges.
	Case history.History
	// Probe is the client, from 1, that begins only when all other clients have
	// finished or died, or wait without end, and reports a deadlock by a Refuse with the
	// note ProbeRefused or ProbeFailed.
	// No fault is injected into it. 0: there is none, and no deadlock is found.
	Probe int
	// Symmetric says that so many clients, from the first, run the same code with the
	// same clock; states that differ only in a permutation of them count as one. Code or
	// servers that treat them otherwise are found out; see Result.Asymmetry.
	Symmetric int
	// Step above 0 searches every timing within the bounds of the simulator's Timing: time
	// passes by a step, or to the next deadline where that is sooner, also while something
	// could happen at once. 0: what can happen at once happens before time passes, and time
	// passes to the next deadline.
	Step time.Duration
	// Unending says that clients wait without end for something that is due at no time. A
	// search in which a clock is read ends with ErrReadsClock then.
	Unending bool
	Limits

	afterwards func(sim *simulator.Simulator) error // Model.Afterwards
	own        bool                                 // Model.Code is set

	outliving bool        // see AtBoundary
	victims   bool        // with Causes: they are as Cause has them; see CausesOf
	active    int         // so many clients make any number of attempts, see again.go; 0: attempts are counted
	endless   bool        // with active: no fault is ever used up
	assumed   assumptions // of the present pass
}

// Exhaust searches everything that sim can come to. sim must not be used otherwise
// meanwhile. The error is about code that the simulator cannot run, or ctx's; with ctx's
// error comes the result so far.
func Exhaust(ctx context.Context, sim *simulator.Simulator, opt Options) (*Result, error) {
	opt.assumed = opt.assumptions(sim)
	defer sim.Assume(simulator.Usual)
	r, err := pass(ctx, sim, &opt, nil)
	return opt.after(sim, r, err)
}

// after calls Model.Afterwards, while what the search has assumed still counts.
func (o *Options) after(sim *simulator.Simulator, r *Result, err error) (*Result, error) {
	if o.afterwards == nil || r == nil || err != nil {
		return r, err
	}
	if err := o.afterwards(sim); err != nil {
		return nil, err
	}
	return r, nil
}

// pass is one search. With a list of wanted witnesses it ends when it has the shortest way to each. Where what it
// takes for granted turns out to be wrong, it begins again with less.
func pass(ctx context.Context, sim *simulator.Simulator, opt *Options, wanted []Witness) (*Result, error) {
	for {
		sim.Assume(opt.assumed.Assumptions)
		s := newPass(sim, opt, wanted)
		err := s.run(ctx)
		weaker, refuted := opt.assumed.refine(err, sim.Traits())
		if what := opt.countsWithoutEnd(weaker, sim.Traits()); refuted && !what.IsZero() {
			r := s.result()
			r.Complete, r.Limit = false, what
			return r, nil
		}
		if errors.Is(err, errNewTrait) && opt.Unending && (sim.Traits().ReadsClock || sim.Traits().Grain > 0) {
			return nil, ErrReadsClock
		}
		if refuted {
			opt.assumed = weaker
			continue
		}
		r := s.result()
		if what := limit(err); !what.IsZero() {
			r.Complete, r.Limit, err = false, what, nil
		}
		if err == nil || errors.Is(err, ctx.Err()) {
			err = errors.Join(err, s.witnesses(r))
		}
		return r, err
	}
}
