package study

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// Checked holds what a test of package locktest has found out about a lock that is not in the list, as data: its
// reader can show it as if the lock were listed. What the test was not asked for is empty.
type Checked struct {
	Version   int             `json:"version"`             // CheckedVersion
	Test      string          `json:"test"`                // name of the test, which is that of the lock
	Nodes     int             `json:"nodes"`               // servers
	TTL       time.Duration   `json:"ttl_ns"`              // the lease that the code asks for
	Failed    bool            `json:"failed"`              // the test: a claim of it is wrong, or Unknown
	Folders   []string        `json:"folders,omitempty"`   // of the code that Runs show
	Drawing   int             `json:"drawing,omitempty"`   // -locklab.drawing of Runs; 0: as chance has it
	Unclaimed string          `json:"unclaimed,omitempty"` // what a test that claims nothing may claim
	Wrong     []string        `json:"wrong,omitempty"`     // verdicts whose claim is wrong, each with why
	Unknown   string          `json:"unknown,omitempty"`   // why there is no search: said in the language of the test
	Search    *CheckedSearch  `json:"search,omitempty"`    // of the bounds of the test
	Proof     *search.Proof   `json:"proof,omitempty"`     // for any number of clients, in place of a search
	Pars      []CheckedSearch `json:"pars,omitempty"`      // within SingleFaults
	Limits    []Limit         `json:"limits,omitempty"`    // of Hazards
	Races     []CheckedRun    `json:"races,omitempty"`     // in the order of the races
}

// CheckedVersion is the version of the data that this program writes and reads.
const CheckedVersion = 4

// Pattern is the -test.run of one test.
func Pattern(test string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
}

// Replay is the command that plays a run of a test once more, from another folder than that of its package.
func Replay(folder, test string, run simulator.Trace, drawing int) string {
	again := fmt.Sprintf("go test -C '%s' -run '%s' -v -locklab.replay=%s", folder, Pattern(test), run.Link())
	if drawing > 0 {
		again += fmt.Sprint(" -locklab.drawing=", drawing)
	}
	return again
}

// A CheckedSearch is a Search with what came of it.
type CheckedSearch struct {
	Search *search.Search `json:"search"`         // without its lock, which ReadChecked sets
	Runs   []CheckedRun   `json:"runs,omitempty"` // of the witnesses; none where nothing shows them
}

// A CheckedRun is an Outcome as data.
type CheckedRun struct {
	race.Outcome
	Race string `json:"race"` // its ID
	Link string `json:"link"` // of its trace
}

// Entry is the lock as an entry of the list. It cannot be made.
func (c *Checked) Entry() lock.Entry {
	return lock.Entry{ID: c.Test, Family: lock.OneStep, Server: lock.OnRedis(c.Nodes),
		TTL: c.TTL, Unit: time.Nanosecond, Expiry: lock.ExpiryServer}
}

// Write writes the data as JSON.
func (c *Checked) Write(w io.Writer) error {
	c.Version = CheckedVersion
	return json.NewEncoder(w).Encode(c)
}

// ProgressName is the file, beside the reports, in which a test says how much of its time a search has used.
const ProgressName = "progress"

// ReadChecked reads what Write wrote.
func ReadChecked(r io.Reader) (*Checked, error) {
	c := &Checked{}
	if err := json.NewDecoder(r).Decode(c); err != nil {
		return nil, i18n.Errorf("error.checked.data", "cause", err)
	}
	if c.Version != CheckedVersion {
		return nil, i18n.Errorf("error.checked.version", "version", c.Version, "ours", CheckedVersion)
	}
	for _, s := range c.Pars {
		s.Search.SetLock(c.Entry())
	}
	if c.Search != nil {
		c.Search.Search.SetLock(c.Entry())
	}
	if c.Proof != nil {
		c.Proof.SetLock(c.Entry())
	}
	return c, nil
}

// NewCheckedRun is an outcome as data.
func NewCheckedRun(o *race.Outcome) CheckedRun {
	return CheckedRun{Outcome: *o, Race: o.Race.ID, Link: o.Trace.Link()}
}

// Of returns the outcome, of the lock whose test has written the data.
func (c *CheckedRun) Of(entry lock.Entry) (_ *race.Outcome, err error) {
	o := c.Outcome
	o.Lock, o.Race.ID = entry, c.Race
	if c.Race != search.SearchID {
		if o.Race, err = scenarios.ByName(c.Race); err != nil {
			return nil, err
		}
	}
	if o.Trace, err = simulator.ParseLink(c.Link); err != nil {
		return nil, err
	}
	return &o, nil
}

// OutcomesOf are the outcomes that the data of runs tell of.
func OutcomesOf(runs []CheckedRun, entry lock.Entry) (all []*race.Outcome, err error) {
	for i := range runs {
		o, err := runs[i].Of(entry)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}
