package explore

import (
	"fmt"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Result is what a search has covered and found.
type Result struct {
	Complete bool // every reachable state was visited
	// Limit is the limit of the simulator or the search that was exceeded, and what to do about it;
	// zero: none.
	Limit       i18n.Message
	OutOfMemory bool // Options.MaxBytes ended it
	States      int
	Transitions int
	Depth       int   // steps from the start to the farthest state
	Open        int   // states that were reached but not visited
	Bytes       int64 // memory of the states and their index
	ReadsClock  bool  // true time was part of the state: some code reads a clock
	Measures    bool  // it was not, although code reads its clock: at all times that were tried it uses it only to measure how long something takes
	// Grain above 0: code that measures also writes down what its clock shows; time stamps count from the present, by
	// whole grains. See simulator.Traits.
	Grain    time.Duration
	Phases   []time.Duration // past a whole Grain, that clocks have shown
	Symmetry bool            // states that differ only in a permutation of clients were counted as one
	// Asymmetry is the reason why they were not, although Options.Symmetric said that they could
	// be; the zero value if they were.
	Asymmetry simulator.AsymmetricError
	// Assumed are the hypotheses that the search ended with: none of them was refuted.
	Assumed   simulator.Assumptions
	Histories int              // distinct histories of observations of all clients
	Repeated  bool             // the code ran at least twice in each of them, and did the same
	Triggered []simulator.Verb // the faults that were injected anywhere, sorted
	// Lengths are the different times for which the clients' code has waited, without the
	// probe's, and which it has asked of servers. Code may compare others with a clock.
	Lengths []simulator.Length
	Found   []Witness

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
	// Attempts is the number that a client makes on the way, of a search of any number of attempts; else 0.
	Attempts int
}

// learn looks for lengths in what is new in the tables. What the probe waits for ends
// after all else.
func (s *search) learn() {
	clients := s.clients
	if s.probe > 0 {
		clients = s.probe - 1
	}
	s.sim.Learn(&s.lengths, clients)
}

// result returns what the search has covered and found so far, without the choices of the witnesses.
func (s *search) result() *Result {
	r := s.visited.result()
	r.ReadsClock, r.Symmetry = s.sim.Traits().ReadsClock, s.symmetric > 1
	r.Measures, r.Grain = s.sim.Traits().Measured && !r.ReadsClock, s.sim.Stamps().Grain()
	r.Phases = s.sim.Stamps().Phases()
	r.Assumed, r.Asymmetry, r.Repeated = s.opt.assumed.held(s.sim), s.opt.assumed.asymmetry, s.repeated
	r.Lengths = slices.SortedFunc(slices.Values(s.lengths.List[:min(s.visited.lengths, len(s.lengths.List))]), simulator.Length.Compare)
	for ch, injected := range s.visited.triggered {
		if v := s.choices[ch].Verb; injected && !slices.Contains(r.Triggered, v) {
			r.Triggered = append(r.Triggered, v)
		}
	}
	slices.Sort(r.Triggered)
	for i := range r.Found {
		r.Found[i].Cause = s.causes.entries[r.Found[i].cause]
	}
	return r
}
