package contract

import (
	"encoding/json"
	"strconv"
	"strings"

	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// resultJSON is a Result as JSON, for scripts and for another process. A run is the link from which it is played again.
type resultJSON struct {
	Lock       string            `json:"lock"`
	Bounds     string            `json:"bounds"`   // of a search or a proof, or the race: Subject
	Expected   []string          `json:"expected"` // as the contract has them, with par
	AsExpected bool              `json:"as_expected"`
	Status     Status            `json:"status"`
	Found      []ExpectedVerdict `json:"found"`
	Reasons    []i18n.Message    `json:"reasons,omitempty"`
	Trace      string            `json:"trace,omitempty"` // of the Outcome of a search or a proof
	Search     *search.Search    `json:"search,omitempty"`
	Proof      *search.Proof     `json:"proof,omitempty"`
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (r Result) MarshalJSON() ([]byte, error) {
	j := resultJSON{Lock: r.Lock.ID, Bounds: r.Subject(), AsExpected: r.Status == Met, Status: r.Status,
		Reasons:  r.Reasons,
		Expected: strings.Fields(r.Want()), Found: append([]ExpectedVerdict{}, r.Got...),
		Search: r.Search, Proof: r.Proof}
	if !r.IsRace() {
		j.Trace = r.Trace()
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a result without its Expectation; complete does the rest.
func (r *Result) UnmarshalJSON(b []byte) error {
	j := resultJSON{}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = Result{Status: j.Status, Got: j.Found, Reasons: j.Reasons, Search: j.Search, Proof: j.Proof}
	if j.Trace == "" {
		return nil
	}
	t, err := simulator.ParseLink(j.Trace)
	r.Outcome = &race.Outcome{Trace: t}
	return err
}

// MarshalText writes what String does.
func (v ExpectedVerdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *ExpectedVerdict) UnmarshalText(text []byte) (err error) {
	word, par, found := strings.Cut(string(text), "@")
	if *v = (ExpectedVerdict{verdict.Word(word), noPar}); found {
		v.Par, err = strconv.Atoi(par)
	}
	return err
}

// complete plays the Outcome of a result that another process has found.
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
	case r.Outcome == nil && (r.Status == Differs || r.Status == Inconclusive && len(r.Got) > 0):
		r.Outcome, err = runner.Play(r.Lock, r.Race, r.Race.Settings)
	}
	return err
}

// Told returns a result for scripts: without what only another process reads.
func (r Result) Told() Result {
	r.Reasons = nil
	if r.Search != nil {
		s := *r.Search
		s.Said, r.Search = &search.Said{}, &s
	}
	if r.Proof != nil {
		p := *r.Proof
		p.Said, r.Proof = &search.Said{}, &p
	}
	return r
}
