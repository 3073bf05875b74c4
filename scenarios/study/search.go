package study

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// A Search is what an exhaustive search of one lock has covered and found.
type Search struct {
	Strategy  lock.Entry
	Bounds    Bounds
	Result    *explore.Result
	Witnesses []Witness // one for each verdict, in the verdicts' order; with Bounds.Causes one for each cause
}

// A Witness is the shortest way to a verdict.
type Witness struct {
	Verdict verdict.Word
	Par     int      // fewest unlucky moves: strikes of faults
	Steps   int      // fewest choices with that many
	Cause   []string // with Bounds.Causes: what struck, and what its victim was at
	Trace   simulator.Trace
}

// Unstruck names the faults of the budget that could strike nowhere: of them the
// search says nothing.
func (s *Search) Untriggered() (names []string) {
	budget, _ := faults.ParseBudget(s.Bounds.Budget) // Check has read it
	for _, a := range budget {
		if a.Times > 0 && !slices.Contains(s.Result.Triggered, a.Fault.Verb()) {
			names = append(names, a.Fault.Name())
		}
	}
	return names
}

// SearchID is the scenario of traces that a search has found.
const SearchID = "search"

// Explore searches everything that a lock can come to within the bounds. When
// ctx ends, the search so far comes with ctx's error.
func Explore(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	if err := b.Check(entry); err != nil {
		return nil, err
	}
	b = b.Settled(entry)
	sim, err := b.Lab(entry)
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	result, err := explore.Run(ctx, sim, b.Options(entry))
	if unfit := (*explore.CheckpointError)(nil); errors.As(err, &unfit) {
		return nil, err
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		return nil, fmt.Errorf("%s: %w", entry.ID, err)
	}
	s := &Search{Strategy: entry, Bounds: b, Result: result}
	for _, f := range result.Found {
		if !slices.ContainsFunc(result.Found, func(g explore.Witness) bool { return g.Verdict == f.Verdict && SubsetOf(g.Cause, f.Cause) }) {
			s.Witnesses = append(s.Witnesses, s.witness(sim, f))
		}
	}
	return s, err
}

// lesser says whether cause a is b with something left out: b then says nothing
// new. Both are sorted.
func SubsetOf(a, b []string) bool {
	if len(a) >= len(b) {
		return false
	}
	for _, what := range b {
		if len(a) > 0 && a[0] == what {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// witness tells a discovery so that each client's story stays together.
func (s *Search) witness(sim *simulator.Simulator, f explore.Witness) Witness {
	choices := explore.Tidy(f.Choices, func(choices []simulator.Choice) bool {
		run, err := schedule.Replay(sim, choices)
		if err != nil {
			return false
		}
		_, words := s.Bounds.judge(s.Strategy, run, choices)
		return slices.Contains(words, f.Verdict)
	})
	return Witness{f.Verdict, f.Par, f.Steps, f.Cause, simulator.Trace{
		Strategy: s.Strategy.ID, Scenario: SearchID, Settings: s.Bounds.String(), Choices: choices,
	}}
}

// haunted says whether an orphan refused somebody. One that has not yet done so
// when the run ends is none for a search.
func haunted(h *history.History) bool {
	var judges verdict.Safety
	c := verdict.CaseOf(h)
	for i := range h.Events {
		if judges.RefusedByOrphan(&c, &h.Events[i]) {
			return true
		}
		judges.Observe(&c, i, &h.Events[i], nil)
	}
	return false
}

// settleStall turns what the judges had to leave open, because the run has come
// to its end, into what the probe has shown: nothing is left that could end it.
func settleStall(o *race.Outcome) {
	for i := range o.Judgement.Findings {
		if f := &o.Judgement.Findings[i]; f.Verdict == verdict.Unknown {
			f.Verdict, f.Forever = verdict.Deadlock, true
		}
	}
}

// replaySearch plays a trace that a search has found.
func replaySearch(entry lock.Entry, t simulator.Trace, watched string) (*race.Outcome, error) {
	b, err := ParseBounds(t.Settings)
	if err == nil {
		err = b.Check(entry)
	}
	if err != nil {
		return nil, fmt.Errorf("the trace's bounds: %w", err)
	}
	b = b.Settled(entry)
	sim, err := b.Lab(entry)
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	sim.ShowCode(watched)
	run, err := schedule.Replay(sim, t.Choices)
	if err != nil {
		return nil, fmt.Errorf("this trace does not fit this version of %s: %w", entry.ID, err)
	}
	o, _ := b.judge(entry, run, t.Choices)
	o.Trace = t
	return o, nil
}

// give is a visit without work.
func Give(c *simulator.Client, lease lock.Lease) {
	c.Record(history.Event{Kind: history.Leave})
	client.Release(c, lease)
}

// SearchWords are what a search looks for. ORPHAN is one that refused somebody
// else. STARVED: with nobody's bad luck, every client was refused each time.
var SearchWords = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock, verdict.Starved,
}
