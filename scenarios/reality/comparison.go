package reality

import (
	"locklab/scenarios/race"
	"locklab/simulator/i18n"
	"locklab/simulator/live"
	"locklab/simulator/verdict"
)

// A Comparison is a Showing without its histories, in JSON but for what is said in words.
type Comparison struct {
	Lock     string            `json:"lock"`
	Race     string            `json:"race"`
	Trace    string            `json:"trace"` // as a link
	Key      string            `json:"-"`     // the lock's
	NotShown race.Reason       `json:"-"`
	Missing  string            `json:"-"`                // see Showing
	Agrees   *bool             `json:"agrees,omitempty"` // nil: it was not shown
	Round    int               `json:"round,omitempty"`  // see Showing
	Lab      []verdict.Word    `json:"lab"`
	Real     []verdict.Word    `json:"real,omitempty"`    // nil: it was not shown
	Servers  int               `json:"servers,omitempty"` // that ran, or starts of one
	Answers  int               `json:"answers,omitempty"` // that were compared
	Speed    float64           `json:"speed,omitempty"`   // seconds of the trace in one second
	Stopped  i18n.Message      `json:"-"`                 // live.Playback.Stopped
	Differ   []live.Difference `json:"differences,omitempty"`
}

// Compare returns the Comparison of a showing.
func (s *Showing) Compare() *Comparison {
	c := &Comparison{
		Lock: s.Lab.Lock.ID, Race: s.Lab.Trace.Race, Trace: s.Lab.Trace.Link(), Lab: s.Lab.Verdicts,
		NotShown: s.NotShown, Missing: s.Missing,
	}
	if s.Lab.History != nil {
		c.Key = s.Lab.History.Key
	}
	if s.Run == nil {
		return c
	}
	c.Agrees, c.Round, c.Real, c.Servers = new(s.Agrees()), s.Round, s.Real.Verdicts, s.Run.Servers
	c.Answers, c.Speed, c.Differ = s.Run.Answers, s.Speed, s.Run.Differences
	if s.Run.Stopped != nil {
		c.Stopped = i18n.New("live.stopped", "cause", s.Run.Stopped)
	}
	return c
}
