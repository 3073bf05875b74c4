package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/i18n"
	"locklab/simulator/node"
	"locklab/simulator/verdict"
)

// A Result is what a search has covered and found.
type Result struct {
	Complete bool // every reachable state was visited
	// Limit is the limit of the simulator or the search that was exceeded, and what to do about it; zero: none.
	Limit       i18n.Message
	OutOfMemory bool // Options.MaxBytes ended it
	States      int
	Transitions int
	Depth       int   // steps from the start to the farthest state
	Open        int   // states that were reached but not visited
	Bytes       int64 // memory of the states and their index
	ReadsClock  bool  // true time was part of the state: some code reads a clock
	// Measures: it was not, although code reads its clock: at all times that were tried it measures durations only.
	Measures bool
	// Grain above 0: code that measures also writes down what its clock shows; time stamps count from the present, by
	// whole grains. See simulator.Traits.
	Grain    time.Duration
	Phases   []time.Duration // past a whole Grain, that clocks have shown
	Symmetry bool            // states that differ only in a permutation of clients were counted as one
	// Asymmetry is the reason why they were not, although Options.Symmetric said that they could be; nil if they were.
	Asymmetry *hypothesis.Refuted
	// Assumed are the hypotheses that the search ended with: none of them was refuted.
	Assumed   hypothesis.Set
	Histories int  // distinct histories of observations of all clients
	Repeated  bool // the code ran at least twice in each of them, and did the same
	Rechecked int  // with Limits.Recheck: moves that the plain rules have made from all states, each into the set
	Tokens    simulator.TokenUse
	Triggered []simulator.Verb // the faults that were injected anywhere, sorted
	// Lengths are the different times for which the clients' code has waited, without the
	// probe's, and which it has asked of servers. Code may compare others with a clock.
	Lengths []node.Length
	Found   []Witness
	// Boundary says, with Limits.Boundary, which verdicts of Found are met only at the very instant at which something
	// ends; nil: that was not searched.
	Boundary map[verdict.Word]Boundary

	settled bool // of what was wanted, all was found that there is
}

// HasLooked reports whether code or a server does not only compare tokens or what keys hold: others may lead elsewhere.
func (r *Result) HasLooked() bool {
	insight := func(one node.Length) bool { return one.Of == node.Insight }
	return r.Tokens == simulator.TokensLookedInto || slices.ContainsFunc(r.Lengths, insight)
}

// Pars are the verdicts that were found, each with its par, as in OVERLAP@1.
func (r *Result) Pars() []string {
	list := []string{}
	for _, w := range r.Found {
		list = append(list, fmt.Sprintf("%s@%d", w.Verdict, w.Par))
	}
	return list
}

// A Witness is a verdict with the shortest way to it.
type Witness struct {
	Verdict verdict.Word
	Par     int // fewest faults on any way to it
	Steps   int // fewest choices on a way with that many faults
	cause   uint32
	Cause   []string           // with Options.Causes: the faults, as "pause, its SET on the way"; sorted
	Choices []simulator.Choice `json:"-"`
	// Attempts is the number that a client makes on the way, of a search of any number of attempts; else 0.
	Attempts int
}

// learn looks for lengths in what is new in the tables. What the probe waits for ends after all else.
func (s *search) learn() {
	clients := s.clients
	if s.probe > 0 {
		clients = s.probe - 1
	}
	s.sim.Collect(&s.lengths, clients)
}

// result returns what the search has covered and found so far, without the choices of the witnesses.
func (s *search) result() *Result {
	r := s.visited.result()
	r.ReadsClock, r.Symmetry = s.sim.Traits().ReadsClock, s.symmetric > 1
	r.Measures, r.Grain = s.sim.Traits().Measured && !r.ReadsClock, s.sim.Stamps().Grain()
	r.Phases = s.sim.Stamps().Phases()
	r.Assumed, r.Asymmetry = s.opt.assumed.held(s.sim), s.opt.assumed.asymmetry
	r.Repeated, r.Tokens = s.repeated, s.tokens
	met := s.lengths.List[:min(s.visited.lengths, len(s.lengths.List))]
	r.Lengths = slices.SortedFunc(slices.Values(met), node.Length.Compare)
	for ch, injected := range s.visited.triggered {
		if v := s.choices[ch].Verb; injected && !slices.Contains(r.Triggered, v) {
			r.Triggered = append(r.Triggered, v)
		}
	}
	slices.Sort(r.Triggered)
	for i := range r.Found {
		r.Found[i].Cause = s.causes.Values[r.Found[i].cause]
	}
	return r
}

// ProbeRefused is the Note of the Refuse by which the probe reports a deadlock: all other clients had finished or died,
// it waited for longer than any lease, and the lock was still refused.
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
	// Case is a history without events: Clients, Nodes, Key, TTL, Holders and Guard are for the judges.
	Case history.History
	// Probe is the client, from 1, that begins only when all other clients have finished or died, or wait without end,
	// and reports a deadlock by a Refuse with the note ProbeRefused or ProbeFailed. No fault is injected into it. 0:
	// there is none, and no deadlock is found.
	Probe int
	// Symmetric says that so many clients, from the first, have the same code and clock; states that differ only by
	// permuting them count as one. Code or servers that treat them otherwise are found; see Result.Asymmetry.
	Symmetric int
	// Step above 0 searches every timing within the bounds of the simulator's Timing: time passes by a step, or to the
	// next deadline where that is sooner, also while something could happen at once. 0: what can happen at once happens
	// before time passes, and time passes to the next deadline.
	Step time.Duration
	// Unending says that clients wait without end for something that is due at no time. A
	// search in which a clock is read ends with ErrReadsClock then.
	Unending bool
	Late     bool // see Model
	Limits

	afterwards func(sim *simulator.Simulator) error // Model.Afterwards
	own        bool                                 // Model.Code is set

	outliving bool        // see atBoundary
	active    int         // so many clients make any number of attempts, see again.go; 0: attempts are counted
	endless   bool        // with active: no fault is ever used up
	assumed   assumptions // of the present pass
}

// Exhaust searches everything that sim can come to. sim must not be used otherwise meanwhile. The error is about code
// that the simulator cannot run, or ctx's; with ctx's error comes the result so far.
func Exhaust(ctx context.Context, sim *simulator.Simulator, opt Options) (*Result, error) {
	opt.assumed = opt.assumptions(sim)
	defer sim.Assume(hypothesis.Usual)
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

// pass is one search. With a list of wanted witnesses it ends when it has the shortest way to each.
func pass(ctx context.Context, sim *simulator.Simulator, opt *Options, wanted []Witness) (*Result, error) {
	sim.Assume(opt.assumed.Set)
	return newPass(sim, opt, wanted).pass(ctx)
}

// pass makes the search. Where what it takes for granted turns out to be wrong, it begins again with less.
func (s *search) pass(ctx context.Context) (*Result, error) {
	err := s.run(ctx)
	opt, seen := s.opt, s.sim.Traits()
	weaker, refuted := opt.assumed.refine(err, seen)
	if what := opt.countsWithoutEnd(weaker, seen); refuted && !what.IsZero() {
		r := s.result()
		r.Complete, r.Limit = false, what
		return r, nil
	}
	if errors.Is(err, errNewTrait) && opt.Unending && (seen.ReadsClock || seen.Grain > 0) {
		return nil, ErrReadsClock
	}
	if refuted {
		opt.assumed = weaker
		return pass(ctx, s.sim, &opt, s.visited.wanted)
	}
	r := s.result()
	if what := limit(err); !what.IsZero() {
		r.Complete, r.Limit, err = false, what, nil
	}
	if opt.outliving { // of which only that is asked
		return r, err
	}
	if err == nil && r.Complete && opt.Recheck && !opt.Causes && opt.active == 0 {
		r.Rechecked, err = s.recheck(ctx)
	}
	if err == nil || errors.Is(err, ctx.Err()) {
		err = errors.Join(err, s.witnesses(r))
	}
	if err == nil && r.Complete && opt.Boundary && opt.Step > 0 && opt.active == 0 {
		r.Boundary, err = s.atBoundary(ctx, r.Found)
	}
	return r, err
}
