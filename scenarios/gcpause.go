package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// gcPause: the picture of Kleppmann's article of 2016. HBase had this bug.
var gcPause = race.Scenario{
	ID:        "gc-pause",
	Race:      "R18",
	Settings:  race.StandardWith(func(s *settings) { s.Pause = race.Seconds(12.5) }),
	Budget:    race.FixedBudget("pause=1"),
	Clients:   pauseClients,
	Script:    pauseInside,
	Triggered: paused,
}

// gcPauseFenced: fencing tokens, which Kleppmann's article made known.
var gcPauseFenced = variant(gcPause, "gc-pause-fenced", "R18F", fenced)

// fenced gives a race a resource that refuses old fencing tokens.
func fenced(sc *race.Scenario) { sc.Guard, sc.Needs = history.Fenced, needsFencingCounter }

// gcPauseCAS: antirez's answer to Kleppmann, a store with compare-and-set.
var gcPauseCAS = variant(gcPause, "gc-pause-cas", "R18C", comparing)

// comparing gives a race a resource that compares versions.
func comparing(sc *race.Scenario) { sc.Guard = history.CompareAndSet }

// pauseClients: c2 writes before the paused c1 does, and is inside when c1 leaves.
func pauseClients(s settings) clients {
	return clients{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: s.Retry / 2, Work: s.Retry * 5 / 2, Tail: s.Retry * 5 / 2},
	}
}

// pauseInside pauses c1 one Retry after it has entered, or at a random moment of its work.
func pauseInside(s settings, _ int) script {
	begin := s.Retry
	if s.Seed != 0 {
		begin = time.Duration(race.Stream(s.Seed, "pause begins").Int64N(int64(s.Retry * 3)))
	}
	return inject(c1Enters, begin, faults.PauseOf(1, s.Pause))
}

// paused reports whether c1 was paused inside while another client asked. The length of the
// pause does not matter: a pause that is shorter than the lease is the race too.
func paused(h *history.History) bool {
	return race.InOrder(h, c1Enters, c1Pauses, othersAsk, c1Resumes, c1Leaves)
}
