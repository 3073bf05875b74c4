package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// ProbeRefused is the Note of the Refuse by which the probe reports a deadlock: all
// other clients had finished or died, it waited for longer than any lease, and the lock
// was still refused.
const ProbeRefused = "refused after all leases"

// ProbeFailed is the Note of the Refuse by which the probe reports a deadlock of another kind: all
// its attempts, which are longer than any lease apart, ended in an error that is no refusal.
const ProbeFailed = "errors after all leases"

// ReportsDeadlock reports whether the probe says by e that nobody can have the lock again.
func ReportsDeadlock(e *history.Event) bool {
	return e.Kind == history.Refuse && (e.Note == ProbeRefused || e.Note == ProbeFailed)
}

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
	// Causes looks for the shortest way to each verdict by each cause: which faults were
	// injected, and what the clients were doing that they hit. The causes are then part
	// of the state, which makes several times as many states, and there is no reduction.
	Causes bool
	Plain  Plain // what it does without
	// MaxStates ends the search; 0: no limit.
	MaxStates int
	// Hopeful ends the search at so many states if more than half of them still wait to be
	// visited: it will have many times as many. 0: it does not.
	Hopeful int
	// MaxBytes ends the search before the whole program uses more memory; 0: no limit. It
	// is checked from time to time, so a little more may be used. Whoever sets it has the
	// garbage collector keep to it too (debug.SetMemoryLimit): what is garbage does not
	// end a search.
	MaxBytes int64
	// Progress is called from time to time with what the search has covered so far, by
	// one goroutine at a time; nil: it is not.
	Progress func(r *Result)
	// Checkpoint is the file from which a search that was stopped can go on.
	Checkpoint checkpoint.Config

	outliving bool                      // see AtBoundary
	asymmetry simulator.AsymmetricError // why Symmetric was given up
	merging   process.Merging           // what clients forget
}

// A Result is what a search has covered and found.
type Result struct {
	Complete    bool         // every reachable state was visited
	Limit       i18n.Message // which limit of the simulator or the search was exceeded, and what to do about it; zero: none
	OutOfMemory bool         // Options.MaxBytes ended it
	States      int
	Transitions int
	Depth       int   // steps from the start to the farthest state
	Open        int   // states that were reached but not visited
	Bytes       int64 // memory of the states and their index
	ReadsClock  bool  // true time was part of the state: some code reads a clock
	Measures    bool  // it was not, although code reads its clock: at all times that were tried it uses it only to measure how long something takes
	Symmetry    bool  // states that differ only in a permutation of clients were counted as one
	// Asymmetry is why they were not, although Options.Symmetric said that they could
	// be; the zero value if they were.
	Asymmetry simulator.AsymmetricError
	Histories int              // distinct histories of observations of all clients
	Repeated  bool             // the code ran at least twice in each of them, and did the same
	Triggered []simulator.Verb // the faults that were injected anywhere, sorted
	// Lengths are the different times for which the clients' code has waited, without the
	// probe's, and which it has asked of servers. Code may compare others with a clock.
	Lengths []simulator.Length
	Found   []Witness
	Kept    checkpoint.Kept // of Options.Checkpoint

	settled bool // of what was wanted, all was found that there is
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
	Cause   []string // with Options.Causes: the faults, as "pause, its SET on the way"; sorted
	Choices []simulator.Choice
}

// Run searches everything that sim can come to. sim must not be used otherwise
// meanwhile. The error is about code that the simulator cannot run, a
// *checkpoint.Error, or ctx's; with ctx's error comes the result so far, or nil if ctx
// ended before the checkpoint was read.
func Run(ctx context.Context, sim *simulator.Simulator, opt Options) (r *Result, err error) {
	k, err := openCheckpoint(ctx, &opt)
	if err != nil {
		return nil, err
	}
	defer k.release()
	defer k.unfit(&r, &err)
	defer setUp(sim, &opt)()
	r, err = passes(ctx, sim, &opt, k)
	k.finish(r, err)
	return r, err
}

// setUp has sim do what a search with these options needs, until the function that it returns is called.
func setUp(sim *simulator.Simulator, opt *Options) (undo func()) {
	if opt.Plain.Symmetry {
		opt.Symmetric = 0
	}
	if opt.Plain.Rests {
		sim.KeepHistories()
	}
	sim.Measure(!opt.Plain.Clocks)
	sim.CountCreations(!opt.Plain.Transactions)
	switch {
	case opt.Plain.Histories || opt.Step == 0:
	case sim.ZooKeeper(): // whose answers name much that code soon forgets: too many histories
		opt.merging = process.MergeOrders
	default:
		opt.merging = process.MergeHistories
	}
	sim.Merge(opt.merging, opt.Symmetric)
	return func() {
		sim.Merge(process.NoMerging, 0)
		sim.CountCreations(false)
		sim.Measure(false)
		sim.Alike(0)
	}
}

func passes(ctx context.Context, sim *simulator.Simulator, opt *Options, k *checkpointer) (*Result, error) {
	r := k.known()
	if r == nil {
		var err error
		if r, err = pass(ctx, sim, opt, k, nil); err != nil {
			return r, err
		}
		k.passed(r)
	}
	if opt.Plain.Order || opt.Causes || len(r.Found) == 0 || k.done() {
		return r, nil
	}
	short, err := pass(ctx, sim, opt, k, r.Found)
	if short == nil {
		return r, err
	}
	if !short.Limit.IsZero() { // there may be shorter ways
		r.Complete, r.Limit = false, short.Limit
	}
	r.OutOfMemory = r.OutOfMemory || short.OutOfMemory
	for i := range r.Found {
		for _, f := range short.Found {
			old := &r.Found[i] // if the second pass was cut short it may know a longer way only
			if f.Verdict == old.Verdict && (f.Par < old.Par || f.Par == old.Par && f.Steps < old.Steps) {
				r.Found[i] = f
			}
		}
	}
	return r, err
}

// pass is one search. With a list of wanted witnesses it uses no reduction, and ends
// when it has the shortest way to each. It begins anew if it turns out that clients are
// not symmetric, that they remember more than was thought, or that states need more.
func pass(ctx context.Context, sim *simulator.Simulator, opt *Options, k *checkpointer, wanted []Witness) (*Result, error) {
	for {
		s, err := k.search(ctx, sim, opt, wanted)
		if err != nil {
			return nil, err
		}
		err = s.run(ctx, k)
		asymmetric, split, dated := (*simulator.AsymmetricError)(nil), (*process.SplitError)(nil), (*process.TimeOfDayError)(nil)
		switch {
		case errors.As(err, &dated):
			sim.Measure(false)
		case errors.As(err, &split):
			if split.End {
				opt.merging--
				sim.Merge(opt.merging, opt.Symmetric)
			}
		case errors.As(err, &asymmetric):
			opt.Symmetric, opt.asymmetry = 0, *asymmetric
			sim.Merge(opt.merging, 0)
		case errors.Is(err, errNowAbsolute) && opt.Unending && sim.ReadsClock():
			return nil, cmp.Or(k.empty(), ErrReadsClock)
		case errors.Is(err, errNowAbsolute):
			if sim.ReadsClock() {
				sim.Measure(false)
			}
			if sim.ReadsClock() || sim.Measured() { // and remembers what it has read
				opt.merging = min(opt.merging, process.MergeOrders)
				sim.Merge(opt.merging, opt.Symmetric)
			}
		default:
			r := s.result()
			if what := limit(err); !what.IsZero() {
				r.Complete, r.Limit, err = false, what, nil
			}
			if err == nil || errors.Is(err, ctx.Err()) {
				err = errors.Join(err, s.witnesses(r))
				k.after(s)
			}
			return r, err
		}
	}
}
