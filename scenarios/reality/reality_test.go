package reality_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/reality"
	"locklab/simulator/effort"
	"locklab/simulator/live"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/verdict"
)

// bench is what real servers need; without redis-server or cc the test is skipped, or fails where the
// environment says CI=true.
func bench(t *testing.T) *reality.Bench {
	t.Helper()
	b, err := reality.NewBench(t.Context(), reality.DefaultLease)
	servertest.Need(t, err)
	t.Cleanup(b.Close)
	return b
}

// TestShow plays cells of every kind on real servers: a failover, a crash with and without an
// append-only file, a split, a clock that jumps, several servers, messages to subscribers, WAIT. All
// others are shown by "locklab live matrix".
func TestShow(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	t.Parallel()
	b := bench(t)
	for cell, want := range map[string]verdict.Word{
		"token failover":            verdict.Overlap,
		"token restart-everysec":    verdict.Overlap,
		"token restart-always":      verdict.Holds,
		"token clock-jump":          verdict.Overlap,
		"redisson-lock split-brain": verdict.Overlap,
		"redlock restart":           verdict.Overlap,
		"token-wait replica-gone":   verdict.Starved,
		// On a ZooKeeper: a session that ends, an answer that is lost, a waiter that dies.
		"zk-mutex session-ends":    verdict.Overlap,
		"zk-recheck lost-create":   verdict.Orphan,
		"zk-protected lost-create": verdict.Holds,
		"zk-naive waiter-dies":     verdict.Overlap,
		// In a database: a session that is idle for too long, an answer to COMMIT that is lost, a crash, a lease by the
		// server's clock.
		"db-get-lock slow-work":        verdict.Overlap,
		"db-for-update slow-work":      verdict.Overlap,
		"db-skip-locked lost-release":  verdict.Orphan,
		"db-advisory restart-always":   verdict.Overlap,
		"db-deadline-now server-drift": verdict.Overlap,
	} {
		t.Run(cell, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(cell, "zk-") {
				servertest.NeedZooKeeper(t)
			}
			if strings.HasPrefix(cell, "db-") {
				servertest.NeedDatabases(t)
			}
			entry, sc := find(t, cell)
			s := racetest.Must(b.ShowRace(t.Context(), new(race.Runner), entry, sc, sc.Settings))(t)
			if s.Run == nil {
				t.Fatal("not shown: " + s.NotShown)
			}
			if !s.Agrees() || s.Real.Verdicts[0] != want || s.Run.Answers == 0 {
				t.Errorf("%v in the lab, %v on real servers, %v; %+v", s.Lab.Verdicts, s.Real.Verdicts, s.Run.Stopped,
					s.Run.Differences)
			}
		})
	}
}

// TestRealServer plays the milestones in races on redis-servers: each answer, each key after it, and the verdicts are
// those of the lab. A push plays a quarter of the cells, and all are played where tests are exhaustive.
func TestRealServer(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	effort.Unwatched(t, "TestVerify has traces that share a bench")
	t.Parallel()
	b, err := reality.NewBench(t.Context(), reality.DefaultLease/5)
	servertest.Need(t, err)
	t.Cleanup(b.Close)
	var runner race.Runner
	var answers atomic.Int64
	t.Cleanup(func() {
		if answers.Load() < 1000 {
			t.Errorf("only %d answers were compared", answers.Load())
		}
	})
	for i, e := range algorithms.Milestones() {
		for j, sc := range scenarios.All() {
			if !effort.Exhaustive() && (i+j)%4 > 0 {
				continue
			}
			t.Run(e.ID+"/"+sc.ID, func(t *testing.T) {
				t.Parallel()
				s := racetest.Must(b.ShowRace(t.Context(), &runner, e, sc, sc.Settings))(t)
				if s.Run == nil {
					return
				}
				answers.Add(int64(s.Run.Answers))
				if !s.Agrees() {
					t.Errorf("%v in the lab, %v; %+v", s.Lab.Verdicts, s.Run.Stopped, s.Run.Differences)
				}
			})
		}
	}
}

func find(t *testing.T, cell string) (lock.Entry, race.Race) {
	t.Helper()
	name, raceID, _ := strings.Cut(cell, " ")
	return racetest.Cell(t, name, raceID)
}

// TestNotShown: what cannot be shown has its reason.
func TestNotShown(t *testing.T) {
	t.Parallel()
	b := bench(t)
	for cell, why := range map[string]race.Reason{"zk-naive numbers-end": reality.CounterSet,
		"mutex calm": reality.NoServer, "delifeq gc-pause": reality.MissingCommand,
		"db-row failover": reality.NoReplica, "db-get-lock-old two-keys": reality.OldServer} {
		entry, sc := find(t, cell)
		s, err := b.ShowRace(t.Context(), new(race.Runner), entry, sc, sc.Settings)
		if err != nil || s.NotShown != why || s.Run != nil || s.Agrees() {
			t.Errorf("%s: %q, %v", cell, s.NotShown, err)
		}
	}
}

// TestVerify: the witnesses of a search and of a proof agree, at any timing and in lockstep. A search that
// is not as contracted is named, with or without a witness.
func TestVerify(t *testing.T) {
	t.Parallel()
	b := bench(t)
	rows, err := contract.Parse("test",
		"[search budget=failover=1]\ntoken OVERLAP@1 STALE-WRITE@1 ORPHAN@1\n[search budget=crash=1]\n"+
			"token OVERLAP@1\n[prove budget=restart=any]\ntoken OVERLAP@1\n")
	if err != nil {
		t.Fatal(err)
	}
	found, err := reality.Verify(t.Context(), b, rows, nil)
	if err != nil || len(found.Rows) != 3 || len(found.Rows[0].Comparisons) != 3 ||
		len(found.Rows[1].Comparisons) != 0 || len(found.Rows[2].Comparisons) != 2 {
		t.Fatalf("%v, %+v", err, found)
	}
	for _, c := range append(found.Rows[0].Comparisons, found.Rows[2].Comparisons...) {
		if !*c.Agrees {
			t.Errorf("%v in the lab: %+v", c.Lab, c.Differ)
		}
	}
	for i, want := range []string{"", "unmet.gone", "unmet.comes"} {
		r, got := found.Rows[i], ""
		for _, why := range r.Reasons {
			got += why.Key
		}
		if got != want || (r.Status == contract.Met) != (want == "") {
			t.Errorf("%s: status %d, %v, want %q", r.Name, r.Status, r.Reasons, want)
		}
	}
}

// TestCanDisagree: another verdict, a difference, or an early end are no agreement.
func TestCanDisagree(t *testing.T) {
	outcome := func(w verdict.Word) *race.Outcome { return &race.Outcome{Verdicts: []verdict.Word{w}} }
	for what, s := range map[string]*reality.Showing{
		"not shown": {Lab: outcome(verdict.Holds)},
		"verdict":   {Lab: outcome(verdict.Holds), Real: outcome(verdict.Overlap), Run: &live.Playback{}},
		"difference": {Lab: outcome(verdict.Holds), Real: outcome(verdict.Holds),
			Run: &live.Playback{Differences: make([]live.Difference, 1)}},
		"end": {Lab: outcome(verdict.Holds), Real: outcome(verdict.Holds),
			Run: &live.Playback{Stopped: errors.New("early")}},
	} {
		if s.Agrees() {
			t.Errorf("%s: it agrees", what)
		}
	}
	if s := (&reality.Showing{Lab: outcome(verdict.Holds), Real: outcome(verdict.Holds),
		Run: &live.Playback{}}); !s.Agrees() {
		t.Error("the same does not agree")
	}
}
