package search

import (
	"encoding/json"
	"errors"
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// searchJSON is a Search on its way between machines. The lock is left out: the receiver has
// asked for the search knows it, and it need not be listed.
type searchJSON struct {
	Bounds    Bounds          `json:"bounds"`
	Result    *explore.Result `json:"result"` // without choices, and without what is found where Witnesses have it
	Witnesses []witnessJSON   `json:"witnesses,omitempty"`
	Tried     []*Search       `json:"tried,omitempty"` // Search.Cut
	Beside    []*Search       `json:"beside,omitempty"`
	Phased    bool            `json:"phased,omitempty"`
	NoClaims  bool            `json:"no_claims,omitempty"`
}

type witnessJSON struct {
	Verdict verdict.Word `json:"verdict"`
	Par     int          `json:"par"`
	Steps   int          `json:"steps"`
	Cause   []string     `json:"cause,omitempty"`
	Trace   string       `json:"trace"`
}

// MarshalJSON writes a search without its lock.
func (s Search) MarshalJSON() ([]byte, error) {
	r := *s.Result
	r.Found = nil
	if len(s.Cut)+len(s.Beside) > 0 { // whose witnesses are among Witnesses
		for _, w := range s.Found {
			w.Choices = nil
			r.Found = append(r.Found, w)
		}
	}
	j := searchJSON{Bounds: s.Bounds, Result: &r, Tried: s.Cut, Beside: s.Beside, Phased: s.Phased, NoClaims: s.NoClaims}
	for _, w := range s.Witnesses {
		j.Witnesses = append(j.Witnesses, witnessJSON{w.Verdict, w.Par, w.Steps, w.Cause, w.Trace.Link()})
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a search; SetLock completes it.
func (s *Search) UnmarshalJSON(b []byte) error {
	j := searchJSON{}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Result == nil {
		j.Result = &explore.Result{}
	}
	*s = Search{Bounds: j.Bounds, Result: j.Result, Cut: j.Tried, Beside: j.Beside, Phased: j.Phased, NoClaims: j.NoClaims}
	for _, w := range j.Witnesses {
		t, err := simulator.ParseLink(w.Trace)
		if err != nil {
			return err
		}
		found := explore.Witness{Verdict: w.Verdict, Par: w.Par, Steps: w.Steps, Cause: w.Cause, Choices: t.Choices}
		if len(s.Cut)+len(s.Beside) == 0 {
			s.Found = append(s.Found, found)
		}
		s.Witnesses = append(s.Witnesses, Witness{found, t})
	}
	return nil
}

// SetLock says which lock a search that was read from JSON is about.
func (s *Search) SetLock(entry lock.Entry) {
	s.Lock = entry
	for _, other := range slices.Concat(s.Cut, s.Beside) {
		other.SetLock(entry)
	}
}

// proofJSON is a Proof on its way between machines, without its lock and its views.
type proofJSON struct {
	Search   *Search                   `json:"search"`
	Refused  *explore.NotProvableError `json:"refused,omitempty"`
	Closed   bool                      `json:"closed,omitempty"`
	Once     i18n.Message              `json:"once"`
	Harms    []verdict.Word            `json:"harms,omitempty"`
	Views    int                       `json:"views"`
	Worlds   int                       `json:"worlds"`
	Moves    int                       `json:"transitions"`
	Broken   []*Search                 `json:"broken,omitempty"`
	Open     []verdict.Word            `json:"open,omitempty"`
	Searched bool                      `json:"searched,omitempty"`
}

// MarshalJSON writes a proof without its lock and its views.
func (p Proof) MarshalJSON() ([]byte, error) {
	j := proofJSON{p.Search, nil, p.Closed, p.Once, p.Harms, p.Views, p.Worlds, p.Transitions, p.Broken, p.Open, p.Searched}
	errors.As(p.Refused, &j.Refused)
	return json.Marshal(j)
}

// UnmarshalJSON reads a proof; SetLock completes it.
func (p *Proof) UnmarshalJSON(b []byte) error {
	j := proofJSON{}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Search == nil {
		j.Search = &Search{Result: &explore.Result{}}
	}
	*p = Proof{Search: j.Search, Broken: j.Broken, Open: j.Open, Searched: j.Searched, Proof: &explore.Proof{
		Closed: j.Closed, Once: j.Once, Harms: j.Harms, Views: j.Views, Worlds: j.Worlds, Transitions: j.Moves}}
	if j.Refused != nil {
		p.Refused = j.Refused
	}
	return nil
}

// SetLock says which lock a proof that was read from JSON is about.
func (p *Proof) SetLock(entry lock.Entry) {
	p.Search.SetLock(entry)
	for _, s := range p.Broken {
		s.SetLock(entry)
	}
}
