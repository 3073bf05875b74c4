package reality

import (
	"fmt"
	"slices"
	"time"

	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/live"
	"locklab/simulator/verdict"
)

// A Comparison is a Showing without its histories: it can be written as JSON and
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
	Stopped  i18n.Message // live.Playback.Stopped
	Differ   []live.Difference
}

// Compare returns the Comparison of a showing.
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
		c.Stopped = i18n.New("live.stopped", "cause", s.Run.Stopped)
	}
	return c
}

// Shown reports whether it was played on real servers.
func (c *Comparison) Shown() bool { return c.Real != nil }

// check refuses what Compare cannot return for a lock in a race. rounds is how often a trace is
// played.
func (c *Comparison) check(path, strategy, scenario string, rounds int, v *share.Values) {
	share.Is(v, path+"Strategy", c.Strategy, strategy)
	share.Is(v, path+"Scenario", c.Scenario, scenario)
	t, err := simulator.ParseLink(c.Trace)
	v.Link(path+"Trace", c.Trace, err)
	share.Is(v, path+"Trace (lock)", t.Strategy, strategy)
	share.Is(v, path+"Trace (race)", t.Scenario, scenario)
	share.OneOf(v, path+"NotShown", c.NotShown, append(Reasons(), ""))
	v.Require(c.Missing == "" || c.NotShown != "", path+"Missing", c.Missing, i18n.New("share.want.absent"))
	for _, words := range []struct {
		name string
		of   []verdict.Word
	}{{"Lab", c.Lab}, {"Real", c.Real}} {
		for i, w := range words.of {
			parsed, err := verdict.ParseWord(string(w))
			v.Require(err == nil && parsed == w, fmt.Sprintf("%s%s[%d]", path, words.name, i), w, i18n.New("share.want.known"))
		}
	}
	v.Require(c.Shown() == (c.NotShown == ""), path+"Real", c.Real, i18n.New("share.want.shown"))
	share.Range(v, path+"Round", c.Round, 0, max(rounds, 1))
	share.Range(v, path+"Servers", c.Servers, 0, 4*simulator.MaxNodes)
	share.Range(v, path+"Answers", c.Answers, 0, 1<<40)
	share.Range(v, path+"Speed", c.Speed, 0, 1e12)
	if !c.Stopped.IsZero() {
		v.Message(path+"Stopped", c.Stopped, "live.stopped")
	}
	for i, d := range c.Differ {
		field := fmt.Sprintf("%sDiffer[%d].", path, i)
		share.Range(v, field+"At", d.At, 0, time.Duration(1<<62))
		share.Range(v, field+"Choice", d.Choice, 0, len(t.Choices)+1)
		share.Range(v, field+"Server", d.Server, -simulator.MaxNodes, 4*simulator.MaxNodes)
		share.Range(v, field+"Client", d.Client, 0, simulator.MaxClients)
	}
	agrees := c.Shown() && len(c.Differ) == 0 && c.Stopped.IsZero() && slices.Equal(c.Lab, c.Real)
	share.Is(v, path+"Agrees", c.Agrees, agrees)
}
