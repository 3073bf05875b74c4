package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Status is the outcome of an expectation. A higher one is graver.
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
	Reasons []i18n.Message    // why the expectation is not met; none: it is met, or it was not run
	// Outcome is the race as played, or the witness that says most; nil: there is none, or
	// another machine has played the race and it is as contracted.
	Outcome *race.Outcome
	Search  *search.Search  // nil for a race or a proof
	Proof   *search.Proof   // nil for a race or a search
	runs    []*race.Outcome // of the witnesses; nil: they are to be played
}

// Want returns the expected verdicts, as a contract has them.
func (r *Result) Want() string { return FormatVerdicts(r.Expected, r.Instants) }

// Found returns the verdicts that came about, as a contract has them; "": it was not run.
func (r *Result) Found() string { return FormatVerdicts(r.Got, r.AtInstants()) }

// Trace is the link to the Outcome; "": there is none.
func (r *Result) Trace() string {
	if r.Outcome == nil {
		return ""
	}
	return r.Outcome.Trace.Link()
}

// Verify plays and searches all that is expected, on all cores. Results are in list's order; w computes them. When ctx
// ends, what is not finished is NotRun and the error is ctx's. Others are about code that the simulator cannot run.
func Verify(ctx context.Context, list []Expectation, w *share.Work) ([]Result, error) {
	var tasks []share.Task
	for i := range list {
		tasks = append(tasks, share.Task{ID: "verify " + list[i].Name(), Cost: list[i].cost()})
	}
	var runner race.Runner
	found, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (Result, error) {
		r, err := list[i].prove(ctx, &runner)
		if err != nil {
			return Result{}, err
		}
		return *r, nil
	})
	results := make([]Result, len(list))
	for i, r := range found {
		if r != nil {
			results[i] = *r
		}
		results[i].Expectation = list[i]
		if r == nil {
			continue
		}
		if err := results[i].complete(&runner); err != nil {
			return results, err
		}
	}
	return results, err
}

// cost guesses how long a row takes, in seconds: the more servers the longer.
func (e *Expectation) cost() float64 {
	switch {
	case e.IsRace():
		return 0.004
	case e.IsProof():
		return 1
	}
	nodes := e.Bounds.Nodes
	if nodes == 0 {
		nodes = e.Lock.Nodes
	}
	return 0.05 * float64(nodes*nodes*e.Bounds.Attempts*e.Bounds.Clients)
}

// Prove plays the race or does the search. The lock is e.Lock itself, which need
// not be listed. The error is about code that the simulator cannot run, or ctx's.
func (e Expectation) Prove(ctx context.Context) (*Result, error) {
	return e.prove(ctx, new(race.Runner))
}

func (e Expectation) prove(ctx context.Context, runner *race.Runner) (*Result, error) {
	r := &Result{Expectation: e, Status: Met}
	var err error
	if e.IsProof() {
		if r.Proof, err = search.Prove(ctx, e.Lock, e.Bounds); err == nil {
			r.compareProof()
		}
	} else if e.IsSearch() {
		if r.Search, err = search.Explore(ctx, e.Lock, e.Bounds); err == nil {
			r.CompareSearch()
		}
	} else if r.Outcome, err = runner.Play(e.Lock, e.Race, e.Race.Settings); err == nil {
		r.compareRace()
	}
	if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) { // of a race: a search reports it in its result
		r.Outcome = nil
		r.note(Inconclusive, "unmet.limit", "limit", limit.What)
		return r, nil
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		err = i18n.Errorf("error.cause", "of", e.Name(), "cause", err)
		if e.File != "" {
			err = fmt.Errorf("%s:%d: %w", e.File, e.Line, err)
		}
	}
	return r, err
}

// note adds a reason. The gravest status wins.
func (r *Result) note(s Status, key string, pairs ...any) {
	r.Status = max(r.Status, s)
	r.Reasons = append(r.Reasons, i18n.New(key, pairs...))
}

func (r *Result) compareRace() {
	o := r.Outcome
	for _, w := range o.Verdicts {
		r.Got = append(r.Got, ExpectedVerdict{w, noPar})
	}
	switch {
	case slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous):
		r.note(Inconclusive, "unmet.no-answer", "verdicts", o.Verdicts)
	case !o.Triggered:
		r.note(Inconclusive, "unmet.not-injected")
	case !sameWords(o.Verdicts, r.Words()):
		r.note(Differs, "unmet.race", "got", r.Found(), "want", r.Want())
	}
}

// CompareSearch compares r.Search with what is expected, and sets Status, Got, Reasons and Outcome. A search visits
// states in the order of the number of faults, so that par is exact even if the search was cut short; a verdict that it
// has not found may be in what it has not visited. Par differs in both directions: a lock that breaks with fewer faults
// than contracted is worse than contracted, and a simulator that needs more has lost sight of something.
func (r *Result) CompareSearch() {
	for i := range r.Search.Witnesses {
		r.compareWitness(i)
	}
	complete := r.Search.Result.Complete
	for _, want := range r.Expected {
		switch {
		case want.Verdict == verdict.Holds || slices.Contains(wordsOf(r.Got), want.Verdict):
		case complete:
			r.note(Differs, "unmet.gone", "verdict", want.Verdict, "want", want)
		default:
			r.note(Inconclusive, "unmet.not-found", "verdict", want.Verdict, "want", want)
		}
	}
	if words := r.Search.Unjudged(); complete && words != nil && r.Got == nil {
		r.note(Inconclusive, "unmet.unjudged", "verdicts", words, "clients", r.Search.Bounds.Clients, "more",
			r.Search.Enough())
	}
	if r.Got == nil && complete {
		r.Got = []ExpectedVerdict{{verdict.Holds, noPar}}
	}
	if complete {
		r.compareScope()
	}
	if names := r.Search.Untriggered(); complete && names != nil {
		r.note(Inconclusive, "unmet.untriggered", "faults", strings.Join(names, ", "))
	}
	if limit := r.Search.Result.Limit; !limit.IsZero() {
		r.note(Inconclusive, "unmet.cut.limit", "limit", limit)
	}
	if r.Search.Result.OutOfMemory {
		r.note(Inconclusive, "unmet.cut.memory")
	}
	if !complete && r.Status == Met {
		r.note(Inconclusive, "unmet.cut.states", "states", r.Search.Result.States)
	}
}

// compareScope has a row say whether it is about the instants searched only.
func (r *Result) compareScope() {
	switch at := r.AtInstants(); {
	case at && !r.Instants:
		r.note(Differs, "unmet.instants")
	case !at && r.Instants:
		r.note(Differs, "unmet.instants.none")
	}
}

// AtInstants reports whether what was searched or proved is about the instants searched only.
func (r *Result) AtInstants() bool {
	s := r.Search
	if r.Proof != nil {
		s = r.Proof.Search
	}
	return s != nil && s.Scope() == search.ScopeInstants
}

// compareWitness accepts a verdict only if its witness, the i-th, shows it when it is replayed.
// The Outcome is the first witness that is a reason, or else the first.
func (r *Result) compareWitness(i int) {
	w := r.Witnesses()[i]
	got := ExpectedVerdict{w.Verdict, w.Par}
	r.Got = append(r.Got, got)
	metSoFar := len(r.Reasons) == 0
	o, err := r.Replay(i)
	switch want := r.find(w.Verdict); {
	case err != nil:
		r.note(Inconclusive, "unmet.unplayable", "verdict", got, "cause", err)
	case !slices.Contains(o.Verdicts, w.Verdict):
		r.note(Inconclusive, "unmet.not-shown", "verdict", got, "verdicts", o.Verdicts)
	case want == nil:
		r.note(Differs, "unmet.comes", "verdict", got, "want", r.Want())
	case want.Par != w.Par:
		key := "unmet.dearer"
		if want.Par > w.Par {
			key = "unmet.cheaper"
		}
		if w.Par == 1 {
			key += ".1"
		}
		r.note(Differs, key, "verdict", w.Verdict, "par", w.Par, "want", want)
	}
	if r.Outcome == nil || metSoFar && len(r.Reasons) > 0 {
		r.Outcome = o
	}
}

// Witnesses are those of the search, or of the verdicts that the proof does not exclude; nil for a race.
func (r *Result) Witnesses() []search.Witness {
	switch {
	case r.Search != nil:
		return r.Search.Witnesses
	case r.Proof != nil:
		return r.Proof.Witnesses()
	}
	return nil
}

// Replay returns the run of the i-th of Witnesses.
func (r *Result) Replay(i int) (*race.Outcome, error) {
	if r.runs != nil {
		return r.runs[i], nil
	}
	return search.ReplayOn(r.Lock, r.Witnesses()[i].Trace)
}

// compareProof compares r.Proof with what is expected, and sets Status, Got, Reasons and Outcome. What a row does not
// name is to be proved impossible, and what it names is to have a witness.
func (r *Result) compareProof() {
	for i := range r.Witnesses() {
		r.compareWitness(i)
	}
	why := (*explore.NotProvableError)(nil)
	if errors.As(r.Proof.Refused, &why) {
		r.note(Inconclusive, "unmet.prove.refused", "why", why.Why)
		return
	}
	proved := r.Proof.Proved()
	r.compareScope()
	for _, word := range explore.Provable {
		switch want := r.find(word); {
		case slices.Contains(proved, word) && want != nil:
			r.note(Differs, "unmet.prove.impossible", "verdict", word, "want", want)
		case slices.Contains(r.Proof.Open, word):
			r.note(Inconclusive, "unmet.prove.open", "verdict", word)
		}
	}
	if len(proved) == len(explore.Provable) {
		r.Got = []ExpectedVerdict{{verdict.Holds, noPar}}
	}
	switch first := r.Proof.Once; {
	case len(proved) == 0:
	case !first.IsZero() && r.Attempts != once:
		r.note(Inconclusive, "unmet.prove.once", "why", first)
	case first.IsZero() && r.Attempts == once:
		r.note(Differs, "unmet.prove.any")
	}
}
