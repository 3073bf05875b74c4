package study

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// Checked holds what a test of package locktest has found out about a lock that is not in
// the list, as data: its reader can show it as if the lock were listed. What the
// test was not asked for is empty.
type Checked struct {
	Version int             `json:"version"`           // CheckedVersion
	Test    string          `json:"test"`              // name of the test, which is that of the lock
	Nodes   int             `json:"nodes"`             // servers
	TTL     time.Duration   `json:"ttl_ns"`            // the lease that the code asks for
	Failed  bool            `json:"failed"`            // the test: a claim of it is wrong, or Unknown
	Unknown string          `json:"unknown,omitempty"` // why there is no search: said in the language of the test
	Search  *CheckedSearch  `json:"search,omitempty"`  // of the bounds of the test
	Pars    []CheckedSearch `json:"pars,omitempty"`    // within SingleFaults
	Within  []CheckedSearch `json:"within,omitempty"`  // bounds of a contract
	Limits  []Limit         `json:"limits,omitempty"`  // of Hazards
	Races   []CheckedRun    `json:"races,omitempty"`   // in the order of the races
}

// CheckedVersion is the version of the data that this program writes and reads.
const CheckedVersion = 1

// A CheckedSearch is a Search.
type CheckedSearch struct {
	Bounds    string         `json:"bounds"` // as ParseBounds reads them
	MaxStates int            `json:"max_states"`
	Result    explore.Result `json:"result"`         // without the choices
	Links     []string       `json:"links"`          // of the witnesses
	Runs      []CheckedRun   `json:"runs,omitempty"` // of the witnesses; none where nobody looks at them
	Seconds   float64        `json:"seconds"`
}

// A CheckedRun is an Outcome.
type CheckedRun struct {
	Scenario      string            `json:"scenario"`
	Settings      race.Settings     `json:"settings"`
	NotApplicable race.Reason       `json:"not_applicable,omitempty"`
	Reached       bool              `json:"reached"`
	Verdicts      []verdict.Word    `json:"verdicts"`
	Link          string            `json:"link"`
	Judgement     verdict.Judgement `json:"judgement"`
	History       *history.History  `json:"history,omitempty"`
	Code          map[int][]string  `json:"code,omitempty"` // the lines that made an event, by its index: history.Event.Code
}

// Entry is the lock as an entry of the list. It cannot be made.
func (c *Checked) Entry() lock.Entry {
	return lock.Entry{ID: c.Test, Family: lock.OneStep, Nodes: c.Nodes, TTL: c.TTL, Unit: time.Nanosecond, Expiry: lock.ExpiryServer}
}

// Write writes the data as JSON.
func (c *Checked) Write(w io.Writer) error {
	c.Version = CheckedVersion
	return json.NewEncoder(w).Encode(c)
}

// ReadChecked reads what Write wrote.
func ReadChecked(r io.Reader) (*Checked, error) {
	c := &Checked{}
	if err := json.NewDecoder(r).Decode(c); err != nil {
		return nil, i18n.Errorf("error.checked.data", "cause", err)
	}
	if c.Version != CheckedVersion {
		return nil, i18n.Errorf("error.checked.version", "version", c.Version, "ours", CheckedVersion)
	}
	return c, nil
}

// NewCheckedSearch is a search as data.
func NewCheckedSearch(s *Search, took time.Duration) CheckedSearch {
	out := CheckedSearch{Bounds: s.Bounds.String(), MaxStates: s.Bounds.MaxStates, Result: *s.Result, Seconds: took.Seconds()}
	if p := &out.Result.Limit; !p.IsZero() { // what it says stands in its values
		values := append([]any{}, p.Pairs...)
		for i := range values {
			values[i] = fmt.Sprint(values[i])
		}
		p.Pairs = values
	}
	out.Result.Found = nil
	for i, w := range s.Result.Found {
		w.Choices = nil
		out.Result.Found = append(out.Result.Found, w)
		out.Links = append(out.Links, s.Witnesses[i].Trace.Link())
	}
	return out
}

// Search is the search that the data tell of.
func (c *CheckedSearch) Search(entry lock.Entry) (*Search, error) {
	b, err := ParseBounds(c.Bounds)
	if err != nil {
		return nil, err
	}
	b.MaxStates = c.MaxStates
	result := c.Result
	s := &Search{Strategy: entry, Bounds: b, Result: &result}
	for i := range result.Found {
		t, err := simulator.ParseLink(c.Links[min(i, len(c.Links)-1)])
		if err != nil {
			return nil, err
		}
		result.Found[i].Choices = t.Choices
		s.Witnesses = append(s.Witnesses, Witness{result.Found[i], t})
	}
	return s, nil
}

// Outcomes are the runs of the witnesses.
func (c *CheckedSearch) Outcomes(entry lock.Entry) (all []*race.Outcome, err error) {
	for i := range c.Runs {
		o, err := c.Runs[i].Outcome(entry)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// NewCheckedRun is an outcome as data.
func NewCheckedRun(o *race.Outcome) CheckedRun {
	out := CheckedRun{
		Scenario: o.Scenario.ID, Settings: o.Settings, NotApplicable: o.NotApplicable, Reached: o.Reached, Verdicts: o.Verdicts,
		Link: o.Trace.Link(), Judgement: o.Judgement, History: o.History, Code: map[int][]string{},
	}
	if o.History != nil {
		for i, e := range o.History.Events {
			if e.Code != nil {
				out.Code[i] = e.Code
			}
		}
	}
	return out
}

// Outcome is the outcome that the data tell of.
func (c *CheckedRun) Outcome(entry lock.Entry) (*race.Outcome, error) {
	o := &race.Outcome{
		Strategy: entry, Scenario: race.Scenario{ID: SearchID}, Settings: c.Settings, NotApplicable: c.NotApplicable, Reached: c.Reached,
		Verdicts: c.Verdicts, History: c.History, Judgement: c.Judgement,
	}
	err := error(nil)
	if c.Scenario != SearchID {
		if o.Scenario, err = scenarios.ByName(c.Scenario); err != nil {
			return nil, err
		}
	}
	if o.Trace, err = simulator.ParseLink(c.Link); err != nil {
		return nil, err
	}
	if c.History != nil {
		for i, lines := range c.Code {
			if i >= 0 && i < len(c.History.Events) {
				c.History.Events[i].Code = lines
			}
		}
	}
	return o, nil
}
