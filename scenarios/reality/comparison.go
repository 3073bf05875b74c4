package reality

import (
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator/live"
	"locklab/simulator/verdict"
)

// A Comparison is what a Showing tells without its histories: it can be written as JSON and
// read back.
type Comparison struct {
	Strategy string
	Scenario string
	Trace    string // as a link
	Key      string // the lock's
	NotShown race.Reason
	Missing  string // see Showing
	Round    int    // see Showing
	Agrees   bool
	Lab      []verdict.Word
	Real     []verdict.Word // nil: it was not shown
	Servers  int
	Answers  int
	Speed    float64
	Stopped  text.Phrase // live.Run.Stopped
	Differ   []live.Difference
}

// Compare tells of a showing.
func (s *Showing) Compare() *Comparison {
	c := &Comparison{
		Strategy: s.Lab.Strategy.ID, Scenario: s.Lab.Trace.Scenario, Trace: s.Lab.Trace.Link(), NotShown: s.NotShown, Missing: s.Missing,
		Round: s.Round, Agrees: s.Agrees(), Lab: s.Lab.Verdicts,
	}
	if s.Lab.History != nil {
		c.Key = s.Lab.History.Key
	}
	if s.Run == nil {
		return c
	}
	c.Real, c.Servers, c.Answers, c.Speed, c.Differ = s.Real.Verdicts, s.Run.Servers, s.Run.Answers, s.Speed, s.Run.Differences
	if s.Run.Stopped != nil {
		c.Stopped = text.NewPhrase("live.stopped", "cause", s.Run.Stopped)
	}
	return c
}

// Shown says whether it was played on real servers.
func (c *Comparison) Shown() bool { return c.Real != nil }
