// Package search searches what a lock can come to, and proves what it cannot: within bounds ([Bounds], [Explore]), or
// for any number of clients ([Prove]). What is found is a trace: [Replay] plays it again, [Against] on another lock.
package search

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Search is what an exhaustive search of one lock has covered and found.
type Search struct {
	Lock            lock.Entry
	Bounds          Bounds // Settled
	*explore.Result        // its Found is what this search alone has found
	// Witnesses are of Result.Found, and of what the searches of Cut and Beside have found
	// besides or by fewer faults; in the order of explore.Words.
	Witnesses []Witness
	// Beside are complete searches of what this one leaves out, as lock.Search has one, and Cut incomplete ones.
	Cut, Beside []*Search
	// Ways are the searches for the witnesses of one of AnyAttempts, and Open the verdicts that it has come to and
	// none of them has found: neither proved nor shown.
	Ways []*Search
	Open []verdict.Word
	// Phased: runs begin in each phase of a grain that makes a difference to time stamps.
	Phased bool
	// NoClaims: the code does not say whether a release has given the lock back, so that no LIE can be seen.
	NoClaims bool
	Said     *Said // in words; nil: nothing
}

// AtBoundary is "only" where a witness is met at the instant at which something ends and not beyond it, at the steps
// searched, and "unchecked" where that is not known.
func (s *Search) AtBoundary(w Witness) string {
	switch {
	case slices.Contains(s.ByBoundary(explore.BoundaryOnly), w.Verdict):
		return "only"
	case slices.Contains(s.ByBoundary(explore.Unchecked), w.Verdict):
		return "unchecked"
	}
	return ""
}

// ByBoundary returns the verdicts of which the search has come to that; see Result.Boundary. What other searches have
// found, or one that was cut short, stays unchecked.
func (s *Search) ByBoundary(is explore.Boundary) (words []verdict.Word) {
	for _, w := range s.Witnesses {
		if b, looked := s.Boundary[w.Verdict]; s.Boundary != nil && s.FoundBy(w) == s &&
			(b == is && looked || !looked && is == explore.Unchecked) {
			words = append(words, w.Verdict)
		}
	}
	return slices.Compact(words)
}

// A Witness is the shortest way to a verdict, as a trace that can be replayed.
type Witness struct {
	explore.Witness
	Trace simulator.Trace
}

// InjectedFaults names the faults among the choices in their order, as in "crash+pause"; "" where there are none.
func InjectedFaults(choices []simulator.Choice) string {
	var names []string
	for _, c := range choices {
		for _, f := range faults.All() {
			if f.Verb == c.Verb {
				names = append(names, f.Name)
			}
		}
	}
	return strings.Join(names, "+")
}

// Untriggered names the faults of the budget that could be injected nowhere: the search says nothing about them.
func (s *Search) Untriggered() (names []string) {
	budget := s.Bounds.Budget.Faults()
	for _, a := range budget {
		if a.Times > 0 && !slices.Contains(s.Result.Triggered, a.Fault.Verb) {
			names = append(names, a.Fault.Name)
		}
	}
	return names
}

// AllPars are the verdicts of all witnesses, each with its par, as in OVERLAP@1.
func (s *Search) AllPars() []string {
	var all explore.Result
	for _, w := range s.Witnesses {
		all.Found = append(all.Found, w.Witness)
	}
	return all.Pars()
}

// SearchID is the race of traces that a search has found.
const SearchID = "search"

// Explore searches all that a lock can come to within the bounds. Where they leave open timing, uses or attempts, these
// are as written beside the lock; see lock.Search. When ctx ends, the search so far comes with ctx's error.
func Explore(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	if err := CheckSearch(entry, b); err != nil {
		return nil, err
	}
	if b.Attempts == AnyAttempts {
		return exploreAgain(ctx, entry, b)
	}
	if b.open() {
		return exploreOpen(ctx, entry, b)
	}
	search, err := b.Model(entry)
	if err != nil {
		return nil, err
	}
	result, err := explore.Search(ctx, search)
	if errors.Is(err, explore.ErrReadsClock) {
		b.Idle = true
		return Explore(ctx, entry, b)
	}
	if result == nil && errors.Is(err, ctx.Err()) {
		return nil, err
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		return nil, i18n.Errorf("error.cause", "of", entry.ID, "cause", err)
	}
	s := Of(entry, b, result)
	if few := len(s.Phases)*s.States < fewStates; err == nil && b.Timing == Lockstep && b.Epoch == 0 &&
		(few || b.Skew > 0) {
		err = s.searchPhases(ctx, b)
	}
	return s, err
}

// Of is the search of a lock within b that has come to result.
func Of(entry lock.Entry, b Bounds, result *explore.Result) *Search {
	s := &Search{Lock: entry, Bounds: b.Settled(entry), Result: result}
	for _, w := range result.Found {
		s.Witnesses = append(s.Witnesses, Witness{w, s.Bounds.Trace(entry, w.Choices)})
	}
	return s
}

// fewStates bounds those of all phases of time stamps that are searched where no clock is off.
const fewStates = 150_000

// searchPhases has a search in lockstep whose time stamps are whole grains begin in each phase of a grain: what is
// floor(t) to one run is floor(t)+1 to one that begins later. Phases are of one class if between them no time that a
// clock has shown comes to a whole grain.
func (s *Search) searchPhases(ctx context.Context, b Bounds) error {
	s.Phased = s.Grain > 0
	searched := []time.Duration{0}
	for shown := s.Phases; len(shown) > 0; shown = shown[1:] {
		phase := (s.Grain - shown[0]).Truncate(time.Millisecond) % s.Grain
		if slices.Contains(searched, phase) {
			continue
		}
		searched = append(searched, phase)
		b.Epoch = simulator.Date(simulator.Epoch.Add(phase).UnixMilli())
		o, err := Explore(ctx, s.Lock, b)
		if err != nil {
			return err
		}
		for _, one := range o.Phases { // as a run without this phase would show them
			shown = append(shown, (one-phase+s.Grain)%s.Grain)
		}
		s.Rechecked += o.Rechecked
		s.States, s.Transitions = s.States+o.States, s.Transitions+o.Transitions
		s.Depth, s.Complete = max(s.Depth, o.Depth), s.Complete && o.Complete
		if slices.ContainsFunc(o.Witnesses, func(w Witness) bool { return !s.hasAsGood(w) }) {
			s.addWitnesses(o)
			s.Ways = append(s.Ways, o)
		}
	}
	s.Found = nil
	for _, w := range s.Witnesses {
		s.Found = append(s.Found, w.Witness)
	}
	return nil
}

// Trace names the run of these choices in a search within b, in which nothing is left open.
func (b Bounds) Trace(entry lock.Entry, choices []simulator.Choice) simulator.Trace {
	return simulator.Trace{Lock: entry.ID, Race: SearchID, Settings: b.String(), Choices: choices}
}

// openSearch opens a trace that a search has found.
func openSearch(entry lock.Entry, t simulator.Trace) (*Opened, error) {
	b, err := ParseBounds(t.Settings)
	if err != nil {
		return nil, i18n.Errorf("error.replay.bounds", "cause", err)
	}
	m, sim, err := b.Simulator(entry)
	if err != nil {
		return nil, err
	}
	return b.Opened(m, sim), nil
}

// Opened is the simulator of m, a model of b, with what is said of its runs.
func (b Bounds) Opened(m *explore.Model, sim *simulator.Simulator) *Opened {
	return &Opened{sim, func(run *schedule.Run) *race.Outcome {
		o := OutcomeOf(m, run)
		o.Race, o.Trace = b.Race(), b.Trace(m.Entry, run.Choices)
		return o
	}}
}

// Simulator makes the simulator in which a trace of a search within b is played. The caller closes it.
func (b Bounds) Simulator(entry lock.Entry) (search *explore.Model, sim *simulator.Simulator, err error) {
	if err := b.Check(entry); err != nil {
		return nil, nil, i18n.Errorf("error.replay.bounds", "cause", err)
	}
	if search, err = b.Model(entry); err != nil {
		return nil, nil, err
	}
	sim, err = search.Simulator()
	return search, sim, err
}

// OutcomeOf returns what the judges and the search's own rules say of a run within the bounds of a search.
func OutcomeOf(b *explore.Model, run *schedule.Run) *race.Outcome {
	h := b.Case()
	h.Race = SearchID
	h.Events, h.End, h.Horizon = race.MergeParallel(run.Events), run.End, run.Horizon
	o := &race.Outcome{Lock: b.Entry, History: &h, Judgement: verdict.Judge(&h), Triggered: true}
	o.Verdicts = b.Verdicts(&h, run.Choices)
	for _, w := range o.Verdicts {
		switch w {
		case verdict.Deadlock:
			confirmDeadlock(b, &h, &o.Judgement)
		case verdict.Starved:
			f := verdict.Finding{Verdict: w, To: h.End, Event: len(h.Events) - 1}
			for c := range b.Clients {
				f.Clients = append(f.Clients, c+1)
			}
			o.Judgement.Findings = append(o.Judgement.Findings, f) // all were refused in the whole run
		case verdict.Slow: // unless the judges have seen one wait for too long
			if !slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool { return f.Verdict == w }) {
				o.Judgement.Findings = append(o.Judgement.Findings, atEnd(w, &h, b.Waiting(&h)))
			}
		}
	}
	o.Judgement.Findings = slices.DeleteFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
		return f.Verdict == verdict.Unknown // the run ends with what it shows: more of it is other runs of the search
	})
	switch blocked := func(f verdict.Finding) bool { return f.Verdict == verdict.Blocked }; {
	case o.Verdicts != nil:
	case slices.ContainsFunc(o.Judgement.Findings, blocked): // for which a search does not look
		o.Verdicts = []verdict.Word{verdict.Blocked}
	default:
		o.Verdicts = []verdict.Word{verdict.Holds}
	}
	return o
}

// confirmDeadlock turns what the judges had to leave open, because the run has ended, into what the probe has shown:
// nothing is left that could end it. If clients wait for their turn without end, or nothing bars the lock but the
// errors that the probe gets, or that it asks, that is a finding of its own.
func confirmDeadlock(b *explore.Model, h *history.History, j *verdict.Judgement) {
	for i := range j.Findings {
		if f := &j.Findings[i]; f.Verdict == verdict.Unknown {
			f.Verdict, f.Forever = verdict.Deadlock, true
		}
	}
	failed := func(e history.Event) bool { return e.Note == explore.ProbeFailed }
	if i := slices.IndexFunc(h.Events, failed); i >= 0 {
		j.Findings = append(j.Findings, forever(verdict.Deadlock, h, i, h.Probe))
	}
	var reading verdict.Reading
	for i, c := 0, verdict.CaseOf(h); i < len(h.Events); i++ {
		if e := &h.Events[i]; reading.KeptByAsking(&c, e) {
			j.Findings = append(j.Findings, forever(verdict.Deadlock, h, i, h.Probe))
		} else {
			reading.Observe(&c, e)
		}
	}
	if waiting := b.Waiting(h); waiting != nil {
		j.Findings = append(j.Findings, atEnd(verdict.Deadlock, h, waiting))
	}
}

// forever is a finding about a client that lasts from an event on without end.
func forever(w verdict.Word, h *history.History, event, client int) verdict.Finding {
	return verdict.Finding{Verdict: w, Clients: []int{client}, From: h.Events[event].At, To: h.End, Forever: true,
		Event: event}
}

// atEnd is a finding about clients that lasts from the end of the run on without end.
func atEnd(w verdict.Word, h *history.History, clients []int) verdict.Finding {
	return verdict.Finding{Verdict: w, Clients: clients, From: h.End, To: h.End, Forever: true,
		Event: len(h.Events) - 1}
}
