package study

import (
	"encoding/json"
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/explore"
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
	j := searchJSON{Bounds: s.Bounds, Result: &r, Tried: s.Cut, Beside: s.Beside}
	for _, w := range s.Witnesses {
		j.Witnesses = append(j.Witnesses, witnessJSON{w.Verdict, w.Par, w.Steps, w.Cause, w.Trace.Link()})
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a search; SetStrategy completes it.
func (s *Search) UnmarshalJSON(b []byte) error {
	j := searchJSON{}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Result == nil {
		j.Result = &explore.Result{}
	}
	*s = Search{Bounds: j.Bounds, Result: j.Result, Cut: j.Tried, Beside: j.Beside}
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

// SetStrategy says which lock a search that was read from JSON is about.
func (s *Search) SetStrategy(entry lock.Entry) {
	s.Strategy = entry
	for _, other := range slices.Concat(s.Cut, s.Beside) {
		other.SetStrategy(entry)
	}
}
