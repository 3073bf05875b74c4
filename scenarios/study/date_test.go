package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
)

// TestReplayAtItsDate: a link is played at the date at which its clocks began, and one without a date at that of links that have none.
func TestReplayAtItsDate(t *testing.T) {
	t.Parallel()
	entry, gcPause := racetest.Cell(t, "getset", "gc-pause")
	now := racetest.PlayListed(t, entry, gcPause, gcPause.Settings)
	was := now.Trace
	was.Settings += ",epoch=1000000000000"
	for date, trace := range map[string]simulator.Trace{`"17800000`: now.Trace, `"10000000`: was} {
		read, err := simulator.ParseLink(trace.Link())
		if err != nil {
			t.Fatal(err)
		}
		o, err := study.Replay(read)
		if err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf("%q", o.History.Events[1].Cmd); !strings.Contains(said, date) || !slices.Equal(o.Verdicts, now.Verdicts) || o.Trace.Link() != trace.Link() {
			t.Errorf("%s: it asks %s and comes to %v, %s", trace.Settings, said, o.Verdicts, o.Trace.Settings)
		}
	}
}
