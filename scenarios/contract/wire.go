package contract

import (
	"encoding/json"
	"fmt"
	"slices"

	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// resultJSON is a Result on its way between machines. What follows from the expectation is
// left out, and a run is the link from which it is played again.
type resultJSON struct {
	Status  Status            `json:"status"`
	Got     []ExpectedVerdict `json:"got,omitempty"`
	Reasons []i18n.Message    `json:"reasons,omitempty"`
	Witness string            `json:"witness,omitempty"` // link to the Outcome of a search or a proof
	Search  *study.Search     `json:"search,omitempty"`
	Proof   *study.Proof      `json:"proof,omitempty"`
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (r Result) MarshalJSON() ([]byte, error) {
	j := resultJSON{Status: r.Status, Got: r.Got, Reasons: r.Reasons, Search: r.Search, Proof: r.Proof}
	if !r.IsRace() && r.Outcome != nil {
		j.Witness = r.Outcome.Trace.Link()
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a result without its Expectation; complete does the rest.
func (r *Result) UnmarshalJSON(b []byte) error {
	j := resultJSON{}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = Result{Status: j.Status, Got: j.Got, Reasons: j.Reasons, Search: j.Search, Proof: j.Proof}
	if j.Witness == "" {
		return nil
	}
	t, err := simulator.ParseLink(j.Witness)
	r.Outcome = &race.Outcome{Trace: t}
	return err
}

// complete plays the Outcome of a result that another machine has found.
func (r *Result) complete(runner *race.Runner) (err error) {
	switch {
	case r.Search != nil || r.Proof != nil:
		if r.Search != nil {
			r.Search.SetStrategy(r.Strategy)
		} else {
			r.Proof.SetStrategy(r.Strategy)
		}
		if r.Outcome != nil && r.Outcome.History == nil {
			r.Outcome, err = study.ReplayOn(r.Strategy, r.Outcome.Trace)
		}
	case r.Outcome == nil && r.Status == Differs, r.Outcome == nil && r.Status == Inconclusive && len(r.Got) > 0:
		r.Outcome, err = runner.Play(r.Strategy, r.Scenario, r.Scenario.Settings)
	}
	return err
}

// checkValues refuses what becomes of no expectation. What follows from the verdicts that
// came about is compared with what this process makes of them.
func (r *Result) checkValues(e Expectation, v *share.Values) {
	v.Require((r.Search != nil) == (e.IsSearch() && !r.endless()), "search", r.Search != nil, i18n.New("share.want.is", "value", e.IsSearch()))
	v.Require((r.Proof != nil) == (e.IsProof() && !r.endless()), "proof", r.Proof != nil, i18n.New("share.want.is", "value", e.IsProof()))
	for i, got := range r.Got {
		w, err := verdict.ParseWord(string(got.Verdict))
		v.Require(err == nil && w == got.Verdict, fmt.Sprintf("got[%d].Verdict", i), got.Verdict, i18n.New("share.want.known"))
	}
	for i, reason := range r.Reasons {
		v.Message(fmt.Sprintf("reasons[%d]", i), reason, "unmet.")
	}
	if !v.OK() {
		return
	}
	switch {
	case r.endless():
		v.Same("", r, &Result{Status: Inconclusive, Reasons: r.Reasons})
	case r.Search != nil:
		runs := r.Search.CheckValues(e.Strategy, e.Bounds, "search.", v)
		if v.OK() {
			r.Search.SetStrategy(e.Strategy)
			v.Same("", r, e.JudgeSearch(r.Search, runs))
		}
	case r.Proof != nil:
		r.Proof.CheckValues(e.Strategy, e.Bounds, e.AnyNumber.Endless, "proof.", v)
		if v.OK() {
			r.Proof.SetStrategy(e.Strategy)
			v.Same("", r, e.judgeProof(r.Proof))
		}
	default:
		o := &race.Outcome{Strategy: e.Strategy, Scenario: e.Scenario}
		for _, got := range r.Got {
			o.Verdicts = append(o.Verdicts, got.Verdict)
		}
		o.Reached = !slices.ContainsFunc(r.Reasons, func(p i18n.Message) bool { return p.Key == "unmet.not-injected" })
		v.Require(len(o.Verdicts) > 0, "got", nil, i18n.New("share.want.some"))
		v.Same("", r, e.JudgeRace(o))
	}
}

// endless reports whether a limit of the simulator has ended the run.
func (r *Result) endless() bool {
	return len(r.Reasons) == 1 && r.Reasons[0].Key == "unmet.limit" && r.Search == nil && r.Proof == nil
}
