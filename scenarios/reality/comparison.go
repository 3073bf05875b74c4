package reality

import (
	"locklab/scenarios/race"
	"locklab/simulator/i18n"
	"locklab/simulator/live"
	"locklab/simulator/verdict"
)

// A Comparison is a Showing without its histories.
type Comparison struct {
	Lock     string
	Race     string
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
	Stopped  i18n.Message // live.Playback.Stopped
	Differ   []live.Difference
}

// Compare returns the Comparison of a showing.
func (s *Showing) Compare() *Comparison {
	c := &Comparison{
		Lock: s.Lab.Lock.ID, Race: s.Lab.Trace.Race, Trace: s.Lab.Trace.Link(), NotShown: s.NotShown, Missing: s.Missing,
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
		c.Stopped = i18n.New("live.stopped", "cause", s.Run.Stopped)
	}
	return c
}

// Shown reports whether it was played on real servers.
func (c *Comparison) Shown() bool { return c.Real != nil }
