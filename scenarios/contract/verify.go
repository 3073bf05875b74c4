package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// Status says whether an expectation is met. A higher one is graver.
type Status int

const (
	NotRun       Status = iota // stopped before it was played or searched to the end
	Met                        // everything that must come about does, and nothing else
	Inconclusive               // the search was cut short, or the race did not happen
	Differs                    // something must come about and does not, or the reverse
)

// A Result is what became of an expectation.
type Result struct {
	Expectation
	Status  Status
	Got     []ExpectedVerdict // what came about
	Reasons []string          // why the expectation is not met
	Outcome *race.Outcome     // the race as played, or the witness that says most; nil: there is none
	Search  *study.Search     // nil for a race
}

// Verify plays and searches everything that is expected, on all cores. The results are
// in the order of list. done is called with the number of those that are finished, from
// several goroutines; it may be nil. When ctx ends, what is not finished is NotRun and
// the error is ctx's. Other errors are about code that the simulator cannot run.
func Verify(ctx context.Context, list []Expectation, done func(n int)) ([]Result, error) {
	results := make([]Result, len(list))
	order := make([]int, len(list))
	for i := range list {
		results[i].Expectation, order[i] = list[i], i
	}
	var runner race.Runner
	slices.SortStableFunc(order, func(a, b int) int { return list[b].weight() - list[a].weight() })
	err := study.Each(ctx, len(list), done, func(i int) error {
		r, err := list[order[i]].prove(ctx, &runner)
		if err == nil {
			results[order[i]] = *r
		}
		return err
	})
	return results, err
}

// weight puts long searches first, so that no core is idle while another is still
// busy with the last of them.
func (e *Expectation) weight() int {
	if !e.IsSearch() {
		return 0
	}
	nodes := e.Bounds.Nodes
	if nodes == 0 {
		nodes = e.Strategy.Nodes
	}
	return nodes * nodes * e.Bounds.Attempts * e.Bounds.Clients
}

// Prove plays the race or does the search. The lock is e.Strategy itself, which need
// not be listed. The error is about code that the simulator cannot run, or ctx's.
func (e Expectation) Prove(ctx context.Context) (*Result, error) {
	return e.prove(ctx, new(race.Runner))
}

func (e Expectation) prove(ctx context.Context, runner *race.Runner) (*Result, error) {
	r := &Result{Expectation: e, Status: Met}
	var err error
	if e.IsSearch() {
		if r.Search, err = study.Explore(ctx, e.Strategy, e.Bounds); err == nil {
			r.CompareSearch()
		}
	} else if r.Outcome, err = runner.Play(e.Strategy, e.Scenario, e.Scenario.Settings); err == nil {
		r.compareRace()
	}
	if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) { // of a race: a search reports it in its result
		r.Outcome = nil
		r.note(Inconclusive, "the run does not come to its end: %s", limit.What.Say("en"))
		return r, nil
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		err = text.Errorf("error.cause", "of", e.Name(), "cause", err)
		if e.File != "" {
			err = fmt.Errorf("%s:%d: %w", e.File, e.Line, err)
		}
	}
	return r, err
}

// note adds a reason. The gravest status wins.
func (r *Result) note(s Status, format string, args ...any) {
	r.Status = max(r.Status, s)
	r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
}

func (r *Result) compareRace() {
	o := r.Outcome
	for _, w := range o.Verdicts {
		r.Got = append(r.Got, ExpectedVerdict{w, noPar})
	}
	switch {
	case slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous):
		r.note(Inconclusive, "the run does not answer the question: it is %v", o.Verdicts)
	case !o.Reached:
		r.note(Inconclusive, "the fault was not injected")
	case !sameWords(o.Verdicts, r.Words()):
		r.note(Differs, "it is %s, contracted %s", FormatVerdicts(r.Got), FormatVerdicts(r.Expected))
	}
}

// CompareSearch compares r.Search with what is expected, and sets Status, Got, Reasons
// and Outcome. A search visits states in the order of the number of faults, so that par
// is exact even if the search was cut short; a verdict that it has not found may be in
// what it has not visited. Par differs in both directions: a lock that breaks with fewer
// faults than contracted is worse than contracted, and a simulator that needs more has
// lost sight of something.
func (r *Result) CompareSearch() {
	for i := range r.Search.Witnesses {
		r.compareWitness(&r.Search.Witnesses[i])
	}
	complete := r.Search.Result.Complete
	for _, want := range r.Expected {
		switch {
		case want.Verdict == verdict.Holds || slices.Contains(wordsOf(r.Got), want.Verdict):
		case complete:
			r.note(Differs, "%s does not come about any more, contracted %s: a better lock, or a lab that has gone blind", want.Verdict, want)
		default:
			r.note(Inconclusive, "%s was not found before the search was cut short, contracted %s", want.Verdict, want)
		}
	}
	if r.Got == nil && complete {
		r.Got = []ExpectedVerdict{{verdict.Holds, noPar}}
	}
	if names := r.Search.Untriggered(); complete && names != nil {
		r.note(Inconclusive, "%s was never injected: the search says nothing of it", strings.Join(names, ", "))
	}
	if limit := r.Search.Result.Limit; !limit.IsZero() {
		r.note(Inconclusive, "the search was cut short: %s", limit.Say("en"))
	}
	if r.Search.Result.OutOfMemory {
		r.note(Inconclusive, "the search was cut short by --max-memory: give it more, for example twice as much, or smaller bounds")
	}
	if !complete && r.Status == Met {
		r.note(Inconclusive, "the search was cut short after %d states: what it did not visit is unknown", r.Search.Result.States)
	}
}

// compareWitness accepts a verdict only if its witness shows it when it is replayed.
// The Outcome is the first witness that is a reason, or else the first.
func (r *Result) compareWitness(w *study.Witness) {
	got := ExpectedVerdict{w.Verdict, w.Par}
	r.Got = append(r.Got, got)
	metSoFar := len(r.Reasons) == 0
	o, err := study.ReplayOn(r.Strategy, w.Trace)
	switch want := r.find(w.Verdict); {
	case err != nil:
		r.note(Inconclusive, "the witness of %s cannot be played: %v", got, err)
	case !slices.Contains(o.Verdicts, w.Verdict):
		r.note(Inconclusive, "the witness of %s, played again, shows %v: a mistake of the search", got, o.Verdicts)
	case want == nil:
		r.note(Differs, "%s comes about, contracted %s", got, FormatVerdicts(r.Expected))
	case want.Par > w.Par:
		r.note(Differs, "%s takes only %s, contracted %s", w.Verdict, moves(w.Par), want)
	case want.Par < w.Par:
		r.note(Differs, "%s takes %s, contracted %s: the shorter way is not seen any more", w.Verdict, moves(w.Par), want)
	}
	if r.Outcome == nil || metSoFar && len(r.Reasons) > 0 {
		r.Outcome = o
	}
}

func moves(n int) string {
	if n == 1 {
		return "1 fault"
	}
	return fmt.Sprintf("%d faults", n)
}
