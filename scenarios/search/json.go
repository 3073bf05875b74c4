package search

import (
	"cmp"
	"encoding/json"
	"errors"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// Said has the words of a command about a search or a proof, for scripts. A Search or Proof without it is written
// with all that it has covered, for another process of the program.
type Said struct {
	Claim       string   `json:"claim,omitempty"` // headline of the certificate
	MayHappen   []string `json:"may_happen,omitempty"`
	Assumed     []string `json:"assumed,omitempty"`
	Cut         string   `json:"cut,omitempty"`     // the limit that ended it
	Refused     string   `json:"refused,omitempty"` // why there is no proof
	Certificate string   `json:"certificate,omitempty"`
}

// searchJSON is a Search as JSON.
type searchJSON struct {
	*Said
	Lock        string          `json:"lock"`
	Clients     int             `json:"clients"`
	Attempts    any             `json:"attempts"` // a number, or "any"
	Nodes       int             `json:"nodes"`
	Budget      map[string]any  `json:"budget"` // numbers, or "any"
	Bounds      Bounds          `json:"bounds"` // all of them, as links have them
	Timing      string          `json:"timing"`
	Uses        []string        `json:"uses"`
	Retries     int             `json:"client_retries"`
	Skew        int64           `json:"skew_ns"`
	Tokens      string          `json:"tokens"`
	Untriggered []string        `json:"not_injected"`
	Scope       string          `json:"scope"`
	States      int             `json:"states"`
	Transitions int             `json:"transitions"`
	Depth       int             `json:"depth"`
	Complete    bool            `json:"complete"`
	Rechecked   int             `json:"rechecked,omitempty"`
	Beside      []*searchJSON   `json:"also_proved,omitempty"`
	Tried       []*searchJSON   `json:"not_proved,omitempty"`
	Found       []string        `json:"found"` // by this search alone: each verdict with its par
	Verdicts    []witnessJSON   `json:"verdicts"`
	Open        []verdict.Word  `json:"open,omitempty"`
	Unjudged    []verdict.Word  `json:"unjudged,omitempty"`
	Phased      bool            `json:"phased,omitempty"`
	NoClaims    bool            `json:"no_claims,omitempty"`
	Covered     *explore.Result `json:"covered,omitempty"` // without choices; for another process
}

type witnessJSON struct {
	Verdict  verdict.Word `json:"verdict"`
	Par      int          `json:"par"`
	Steps    int          `json:"steps"`
	Cause    []string     `json:"cause,omitempty"`
	Bounds   string       `json:"bounds,omitempty"`   // of another search that has found it
	Boundary string       `json:"boundary,omitempty"` // "only" or "unchecked"; see explore.Boundary
	Trace    string       `json:"trace"`
}

// MarshalJSON writes a search, with what is Said of it, or else with what it has covered.
func (s Search) MarshalJSON() ([]byte, error) { return json.Marshal(s.form(s.Said)) }

func (s *Search) form(said *Said) *searchJSON {
	b := s.Bounds
	j := &searchJSON{
		Said: said, Lock: s.Lock.ID, Clients: b.Clients, Attempts: numberOrAny(b.Attempts, b.Attempts == AnyAttempts),
		Nodes: b.Nodes, Budget: map[string]any{}, Bounds: b, Timing: b.Timing.String(), Retries: b.ClientRetries,
		Uses: append([]string{}, b.Uses.Names()...), Skew: int64(b.Skew), Tokens: b.Tokens.String(),
		Untriggered: append([]string{}, s.Untriggered()...), Scope: s.Scope(), States: s.States, Depth: s.Depth,
		Transitions: s.Transitions, Complete: s.Complete, Rechecked: s.Rechecked, Found: s.Pars(), Open: s.Open,
		Verdicts: []witnessJSON{}, Unjudged: s.Unjudged(), Phased: s.Phased, NoClaims: s.NoClaims,
	}
	for _, f := range b.Budget.Faults() {
		j.Budget[f.Fault.Name] = numberOrAny(f.Times, b.Endless)
	}
	for _, w := range s.Witnesses {
		one := w.form()
		if s.FoundBy(w) != s {
			one.Bounds = w.Trace.Settings
		}
		one.Boundary = s.AtBoundary(w)
		j.Verdicts = append(j.Verdicts, one)
	}
	nested := said
	if said == nil {
		j.Covered = s.Result
	} else {
		nested = &Said{}
	}
	for _, o := range s.Beside {
		j.Beside = append(j.Beside, o.form(nested))
	}
	for _, o := range s.Cut {
		j.Tried = append(j.Tried, o.form(nested))
	}
	return j
}

func (w Witness) form() witnessJSON {
	return witnessJSON{Verdict: w.Verdict, Par: w.Par, Steps: w.Steps, Cause: w.Cause, Trace: w.Trace.Link()}
}

// numberOrAny is a number, or "any".
func numberOrAny(n int, endless bool) any {
	if endless {
		return AnyTimes
	}
	return n
}

// UnmarshalJSON reads a search that was written with what it has covered; SetLock completes it.
func (s *Search) UnmarshalJSON(b []byte) error {
	j := &searchJSON{}
	if err := json.Unmarshal(b, j); err != nil {
		return err
	}
	return s.read(j)
}

func (s *Search) read(j *searchJSON) error {
	*s = Search{Said: j.Said, Bounds: j.Bounds, Result: j.Covered, Open: j.Open, Phased: j.Phased, NoClaims: j.NoClaims}
	if s.Result == nil {
		s.Result = &explore.Result{Complete: j.Complete, States: j.States, Transitions: j.Transitions, Depth: j.Depth}
	}
	for _, w := range j.Verdicts {
		t, err := simulator.ParseLink(w.Trace)
		if err != nil {
			return err
		}
		found := explore.Witness{Verdict: w.Verdict, Par: w.Par, Steps: w.Steps, Cause: w.Cause, Choices: t.Choices}
		s.Witnesses = append(s.Witnesses, Witness{found, t})
		s.Bounds.Causes = s.Bounds.Causes || w.Cause != nil
	}
	for _, list := range []struct {
		from []*searchJSON
		to   *[]*Search
	}{{j.Tried, &s.Cut}, {j.Beside, &s.Beside}} {
		for _, one := range list.from {
			o := &Search{}
			if err := o.read(one); err != nil {
				return err
			}
			*list.to = append(*list.to, o)
		}
	}
	return nil
}

// SetLock says which lock a search that was read from JSON is about.
func (s *Search) SetLock(entry lock.Entry) {
	s.Lock = entry
	for _, other := range append(s.Cut, s.Beside...) {
		other.SetLock(entry)
	}
}

// proofJSON is a Proof as JSON, without its views.
type proofJSON struct {
	*Said
	Lock   string         `json:"lock"`
	Budget string         `json:"budget"`
	Closed bool           `json:"closed"`
	Scope  string         `json:"scope"` // any, or instants: only those that were searched
	Once   bool           `json:"once"`  // each client takes the lock once; false: any number of times
	Proved []verdict.Word `json:"proved"`
	Open   []verdict.Word `json:"open"`
	Broken []witnessJSON  `json:"broken"`
	Views  int            `json:"views"`
	Worlds int            `json:"worlds"`
	Moves  int            `json:"transitions"`

	Found *foundJSON `json:"found,omitempty"` // for another process
}

// foundJSON has what another process needs of a Proof besides.
type foundJSON struct {
	Search   *Search                   `json:"search"`
	Refused  *explore.NotProvableError `json:"refused,omitempty"`
	Once     i18n.Message              `json:"once"`
	Harms    []verdict.Word            `json:"harms,omitempty"`
	Broken   []*Search                 `json:"broken,omitempty"`
	Searched bool                      `json:"searched,omitempty"`
}

// MarshalJSON writes a proof without its views, with what is Said of it, or else with what it has found.
func (p Proof) MarshalJSON() ([]byte, error) {
	s := cmp.Or(p.Search, &Search{Result: &explore.Result{}}) // code that cannot be run is not searched
	words := func(list []verdict.Word) []verdict.Word { return append([]verdict.Word{}, list...) }
	j := proofJSON{Said: p.Said, Lock: s.Lock.ID, Budget: s.Bounds.Faults(), Closed: p.Closed, Scope: s.Scope(),
		Once: !p.Once.IsZero(), Proved: words(p.Proved()), Open: words(p.Open), Broken: []witnessJSON{},
		Views: p.Views, Worlds: p.Worlds, Moves: p.Transitions}
	for _, w := range p.Witnesses() {
		j.Broken = append(j.Broken, w.form())
	}
	if p.Said == nil {
		j.Found = &foundJSON{s, nil, p.Once, p.Harms, p.Broken, p.Searched}
		errors.As(p.Refused, &j.Found.Refused)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a proof that was written with what it has found; SetLock completes it.
func (p *Proof) UnmarshalJSON(b []byte) error {
	j := proofJSON{Found: &foundJSON{Search: &Search{Result: &explore.Result{}}}}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	f := j.Found
	*p = Proof{Search: f.Search, Broken: f.Broken, Open: j.Open, Searched: f.Searched, Proof: &explore.Proof{
		Closed: j.Closed, Once: f.Once, Harms: f.Harms, Views: j.Views, Worlds: j.Worlds, Transitions: j.Moves}}
	if f.Refused != nil {
		p.Refused = f.Refused
	}
	return nil
}

// SetLock says which lock a proof that was read from JSON is about.
func (p *Proof) SetLock(entry lock.Entry) {
	for _, s := range append(p.Broken, p.Search) {
		s.SetLock(entry)
	}
}
