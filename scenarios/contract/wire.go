package contract

import (
	"encoding/json"

	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// resultJSON is a Result on its way between machines. What follows from the expectation is
// left out, and a run is the link from which it is played again.
type resultJSON struct {
	Status  Status            `json:"status"`
	Got     []ExpectedVerdict `json:"got,omitempty"`
	Reasons []i18n.Message    `json:"reasons,omitempty"`
	Witness string            `json:"witness,omitempty"` // link to the Outcome of a search or a proof
	Search  *search.Search    `json:"search,omitempty"`
	Proof   *search.Proof     `json:"proof,omitempty"`
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
			r.Search.SetLock(r.Lock)
		} else {
			r.Proof.SetLock(r.Lock)
		}
		if r.Outcome != nil && r.Outcome.History == nil {
			r.Outcome, err = search.ReplayOn(r.Lock, r.Outcome.Trace)
		}
	case r.Outcome == nil && r.Status == Differs, r.Outcome == nil && r.Status == Inconclusive && len(r.Got) > 0:
		r.Outcome, err = runner.Play(r.Lock, r.Race, r.Race.Settings)
	}
	return err
}
