package study_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// encoded is all that is known of a run, as bytes.
func encoded(t testing.TB, o *race.Outcome) []byte {
	t.Helper()
	b, err := json.Marshal(struct {
		H, J, Verdicts, Expected, Missed any
		Triggered                        bool
		NotApplicable                    race.Reason
		Trace                            string
	}{o.History, o.Judgement, o.Verdicts, contract.Expected(o), fmt.Sprint(o.NotInjected), o.Triggered, o.NotApplicable,
		o.Trace.Link()})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// onProcs calls do with GOMAXPROCS set to n, and restores it.
func onProcs(n int, do func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	do()
}

// same fails unless two runs are equal byte for byte; it reports the first difference.
func same(t *testing.T, what string, a, b []byte) {
	t.Helper()
	if bytes.Equal(a, b) {
		return
	}
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	t.Errorf("%s: the runs part at byte %d:\n%.300s\n%.300s", what, i, a[max(0, i-100):], b[max(0, i-100):])
}

// TestPlayedTwice: a run depends only on lock, race and settings, and its link
// contains all that is needed to replay it.
func TestPlayedTwice(t *testing.T) {
	effort.OnlyExhaustive(t, "it plays every race twice; one goroutine plays")
	twice := func(t *testing.T, e lock.Entry, sc race.Race, s race.Settings) {
		var first []byte
		var link string
		onProcs(1, func() {
			o := racetest.PlayListed(t, e, sc, s)
			first, link = encoded(t, o), o.Trace.Link()
		})
		onProcs(2, func() { same(t, "on two processors", first, encoded(t, racetest.PlayListed(t, e, sc, s))) })
		o := racetest.Must(replay(t, link))(t)
		o.NotInjected = nil // a replay has no script that could miss
		same(t, "replayed", first, encoded(t, o))
	}
	everyCell(t, twice)
	for _, id := range []string{"zk-recheck", "zk-protected", "db-for-update"} {
		for _, sc := range scenarios.All() {
			twice(t, racetest.Lock(t, id), sc, sc.Settings)
		}
	}
}

// TestSeedsDiffer: if seeds had no effect, TestPlayedTwice would compare a run with
// itself.
func TestSeedsDiffer(t *testing.T) {
	e, sc := racetest.Cell(t, "token", "gc-pause")
	seen := map[string]uint64{}
	for seed := range uint64(6) {
		s := sc.Settings
		s.Seed = seed
		o := racetest.PlayListed(t, e, sc, s)
		h := racetest.Must(json.Marshal(o.History))(t)
		if other, ok := seen[string(h)]; ok {
			t.Errorf("seeds %d and %d give the same run", other, seed)
		}
		seen[string(h)] = seed
	}
}

// TestProductionKeepsNothing: a run does not depend on what was played before on the same
// simulator, whose tables are filled by then.
func TestProductionKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, e := range algorithms.Milestones() {
		_, sc := racetest.Cell(t, e.ID, "gc-pause")
		p := racetest.Must(sc.Prepare(e, sc.Settings, nil))(t)
		defer p.Close()
		for _, seed := range []uint64{0, 3, 4, 0, 3} {
			s := sc.Settings
			s.Seed = seed
			run := racetest.Must(p.Play(s))(t)
			same(t, fmt.Sprintf("%s, seed %d, on a warm lab", e.ID, seed),
				encoded(t, racetest.Must(race.Play(e, sc, s))(t)), encoded(t, p.Outcome(run, s)))
		}
	}
}

// TestMatrixCancelled: cells that were finished are there, the others are nil, and the
// error is that of ctx.
func TestMatrixCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	onProcs(1, func() {
		cells, err := study.Matrix(ctx, algorithms.Milestones(), scenarios.All(), nil, &share.Work{Done: func(n int) {
			if n == 10 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		done := 0
		for i, row := range cells {
			for j, o := range row {
				if first := i*len(row)+j < 10; (o != nil) != first {
					t.Errorf("cell %d,%d is there: %t, want %t", i, j, o != nil, first)
				}
				if o != nil {
					done++
				}
			}
		}
		if done != 10 {
			t.Errorf("%d cells are finished, want 10", done)
		}
	})
}

// TestReplayAtItsDate: a link is played at the date at which its clocks began, and one without a date at that of links
// that have none.
func TestReplayAtItsDate(t *testing.T) {
	t.Parallel()
	entry, gcPause := racetest.Cell(t, "getset", "gc-pause")
	now := racetest.PlayListed(t, entry, gcPause, gcPause.Settings)
	was := now.Trace
	was.Settings += ",epoch=1000000000000"
	for date, trace := range map[string]simulator.Trace{`"17800000`: now.Trace, `"10000000`: was} {
		read := racetest.Must(simulator.ParseLink(trace.Link()))(t)
		o, err := search.Replay(read)
		if err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf("%q", o.History.Events[1].Cmd); !strings.Contains(said, date) ||
			!slices.Equal(o.Verdicts, now.Verdicts) || o.Trace.Link() != trace.Link() {
			t.Errorf("%s: it asks %s and comes to %v, %s", trace.Settings, said, o.Verdicts, o.Trace.Settings)
		}
	}
}

// everyCell calls do for all milestones in all races, and for some of these pairs
// with several seeds.
func everyCell(t *testing.T, do func(t *testing.T, e lock.Entry, sc race.Race, s race.Settings)) {
	for _, sc := range scenarios.All() {
		for _, e := range algorithms.Milestones() {
			t.Run(e.ID+"/"+sc.ID, func(t *testing.T) { do(t, e, sc, sc.Settings) })
		}
	}
	for _, cell := range [][2]string{
		{"token", "gc-pause"}, {"getset", "slow-work"}, {"watchdog", "failed-renewal"},
		{"redlock", "restart"}, {"redlock", "lost-reply"}, {"setnx-expire", "failover"},
	} {
		e, sc := racetest.Cell(t, cell[0], cell[1])
		for seed := uint64(1); seed <= 5; seed++ {
			s := sc.Settings
			s.Seed = seed
			t.Run(fmt.Sprintf("%s/%s/seed=%d", e.ID, sc.ID, seed), func(t *testing.T) { do(t, e, sc, s) })
		}
	}
}
