package play_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/play"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// TestCannot: what a level calls impossible does not happen at any timing either, in a search of one attempt each. One
// that is not complete counts with what it has found.
func TestCannot(t *testing.T) {
	for _, l := range play.Levels() {
		if l.Solution().Possible {
			continue
		}
		entry := racetest.Must(l.Entry())(t)
		b := l.Bounds()
		b.Timing, b.Attempts, b.MaxStates, b.Nodes = study.AnyTiming, 1, 200_000, study.FewServers(entry)
		s := racetest.Must(study.Explore(t.Context(), entry, b))(t)
		if par, _, ok := play.Par(s, l.Harm); ok {
			t.Errorf("level %s: %s at any timing, by %d faults", l.ID, l.Harm, par)
		}
	}
}

// TestSameAttackAtAnyTiming: whether the same attack harms another lock is a question about any timing. In lockstep
// nobody asks lock-delay again when its delay is over.
func TestSameAttackAtAnyTiming(t *testing.T) {
	level := racetest.Must(play.LevelAt(5))(t)
	g, err := level.Game()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	way := racetest.Must(g.Way(t.Context(), nil, level.Harm))(t)
	for _, e := range algorithms.All() {
		switch e.ID { // others are no different, and take minutes
		case "lock-delay", "token", "setnx", "zk-recheck":
		default:
			continue
		}
		m := racetest.Must(g.Against(t.Context(), e, verdict.Overlap, way.Choices))(t)
		if _, _, found := play.Par(m.Search, verdict.Overlap); found == (e.ID == "setnx") {
			t.Errorf("%s: found %t in %d states", e.ID, found, m.Search.States)
		}
		if e.ID == "setnx" && (!m.Search.Complete || m.Search.Bounds.Timing != study.AnyTiming) {
			t.Errorf("%s: %+v", e.ID, m.Search.Bounds)
		}
	}
}
