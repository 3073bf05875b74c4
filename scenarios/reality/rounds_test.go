package reality

import (
	"testing"

	"locklab/scenarios/race"
	"locklab/simulator/live"
)

// Rounds end with the first that differs from the lab, and that is the one that is told of.
func TestInRounds(t *testing.T) {
	agrees := live.Playback{Answers: 3, Servers: 1}
	differs := agrees
	differs.Differences = []live.Difference{{Key: "lock"}}
	fewer := agrees
	fewer.Answers--
	for _, test := range []struct {
		rounds, want int // 0: an error
		runs         []live.Playback
	}{
		{0, 1, []live.Playback{agrees}},
		{1, 1, []live.Playback{agrees}},
		{3, 3, []live.Playback{agrees, agrees, agrees}},
		{3, 1, []live.Playback{differs}},
		{3, 2, []live.Playback{agrees, differs}},
		{3, 3, []live.Playback{agrees, agrees, differs}},
		{2, 0, []live.Playback{agrees, fewer}},
	} {
		played := 0
		s, err := inRounds(test.rounds, func() (*Showing, error) {
			played++
			return &Showing{Lab: &race.Outcome{}, Real: &race.Outcome{}, Run: &test.runs[played-1]}, nil
		})
		switch {
		case played != len(test.runs):
			t.Errorf("%+v: played %d times", test, played)
		case test.want == 0 && err == nil, test.want > 0 &&
			(err != nil || s.Round != test.want || s.Run != &test.runs[played-1]):
			t.Errorf("%+v: %+v, %v", test, s, err)
		}
	}
}
