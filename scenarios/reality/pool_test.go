package reality

import (
	"reflect"
	"strings"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/live"
	"locklab/simulator/realserver/servertest"
)

// TestPoolIsNew plays cells on servers that other cells have used, and on new ones: every answer, every key
// and every event is the same. Each leaves something else behind: keys of every type, scripts, subscribers, a
// blocked WAIT, a clock that has jumped, a promoted replica.
func TestPoolIsNew(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	t.Parallel()
	b, err := NewBench(t.Context(), DefaultLease/5)
	servertest.Need(t, err)
	t.Cleanup(b.Close)
	alone := func() *Bench {
		pool, err := live.NewPool()
		servertest.Need(t, err)
		t.Cleanup(pool.Close)
		return &Bench{Version: b.Version, Lease: b.Lease, pool: pool, unknown: b.unknown}
	}
	var runner race.Runner
	play := func(b *Bench, cell string) (*Comparison, *live.Playback) {
		name, raceID, _ := strings.Cut(cell, " ")
		entry, sc := racetest.Cell(t, name, raceID)
		s, err := b.ShowRace(t.Context(), &runner, entry, sc, sc.Settings)
		if err != nil || s.Run == nil || !s.Agrees() {
			t.Fatalf("%s: %v, %+v", cell, err, s)
		}
		return s.Compare(), s.Run
	}
	cells := []string{"redisson-lock gc-pause", "token clock-jump", "token-wait replica-gone", "queue calm", "token failover", "redisson-lock failover", "token-wait replica-gone", "redlock gc-pause", "redisson-lock gc-pause"}
	for _, cell := range cells {
		pooled, pooledRun := play(b, cell)
		fresh, freshRun := play(alone(), cell)
		if !reflect.DeepEqual(pooled, fresh) || !reflect.DeepEqual(pooledRun, freshRun) {
			t.Errorf("%s: on used servers\n%+v\n%+v\non new ones\n%+v\n%+v", cell, pooled, pooledRun, fresh, freshRun)
		}
	}
	if again, spoilt := b.pool.Counts(); again < len(cells)-4 || spoilt > 0 {
		t.Errorf("%d times servers were used again, and %d times they could not be cleaned", again, spoilt)
	}
}

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
		case test.want == 0 && err == nil, test.want > 0 && (err != nil || s.Round != test.want || s.Run != &test.runs[played-1]):
			t.Errorf("%+v: %+v, %v", test, s, err)
		}
	}
}
