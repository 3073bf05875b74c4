package search_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestMain leaves the race detector, which makes all ten times as slow, the tests with goroutines of their own.
func TestMain(m *testing.M) {
	flag.Parse()
	if run := flag.Lookup("test.run"); effort.Watched && run.Value.String() == "" {
		run.Value.Set("^(TestSearchOnTwoCores|TestInterruptedBeside|TestRealTime|FuzzReplay)$")
	}
	os.Exit(m.Run())
}

// exploring is a search that ends without an error.
func exploring(t testing.TB, entry lock.Entry, b search.Bounds) *search.Search {
	t.Helper()
	s, err := search.Explore(t.Context(), entry, b)
	if err != nil {
		t.Fatalf("%s, %v: %v", entry.ID, b, err)
	}
	return s
}

// completed is one that is complete.
func completed(t testing.TB, entry lock.Entry, b search.Bounds) *search.Search {
	t.Helper()
	s := exploring(t, entry, b)
	if !s.Complete {
		t.Fatalf("%s, %v: cut short after %d states, %v", entry.ID, b, s.States, s.Limit)
	}
	return s
}

// onProcs calls do with GOMAXPROCS set to n, and restores it.
func onProcs(n int, do func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	do()
}

// replays checks that each witness of a search can be played from its link, and comes to its verdict.
func replays(t *testing.T, s *search.Search) {
	t.Helper()
	for _, w := range s.Witnesses {
		trace := racetest.Must(simulator.ParseLink(w.Trace.Link()))(t)
		if o, err := search.ReplayOn(s.Lock, trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
			t.Errorf("%s, %v: the witness of %s comes to %v, %v", s.Lock.ID, s.Bounds, w.Verdict, o, err)
		}
	}
}

// taking is a lock that only a test uses: try takes it, and reports whether it has, and DEL gives it back.
func taking(id string, try func(ctx context.Context, env lock.Env, key string) (bool, error)) lock.Entry {
	return own(id, func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			taken, err := try(ctx, env, key)
			if err == nil && !taken {
				err = lock.ErrNotAcquired
			}
			return deleting(env, key), err
		})
	})
}

// deleting is a lease that DEL gives back.
func deleting(env lock.Env, key string) lock.Lease {
	return reporting(func(ctx context.Context) error { return lost(env.Nodes[0].Del(ctx, key).Result()) })
}

// patient is a lock of which every attempt waits in the queue.
func patient(e lock.Entry, patience time.Duration) lock.Entry {
	e.ID += "-patient"
	inner := e.New
	e.New = func(env lock.Env) lock.Lock {
		held := inner(env).(lock.Queuer)
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) { return held.Await(ctx, key, patience) })
	}
	return e
}

// locks are those of these names; one with -patient behind it waits for 3 s.
func locks(t testing.TB, ids ...string) (entries []lock.Entry) {
	t.Helper()
	for _, id := range ids {
		id, waits := strings.CutSuffix(id, "-patient")
		e := racetest.Lock(t, id)
		if waits {
			e = patient(e, 3*time.Second)
		}
		entries = append(entries, e)
	}
	return entries
}

// everyTiming are small bounds at any timing.
func everyTiming(entry lock.Entry, clients, attempts int, budget string) search.Bounds {
	b := small(entry, clients, attempts, budget)
	b.Timing = search.AnyTiming
	return b
}

// within are small bounds but for those that are written, as "clients=3 budget=crash=1".
func within(t testing.TB, entry lock.Entry, bounds string) search.Bounds {
	t.Helper()
	b := small(entry, 2, 1, "")
	if err := setAll(&b, bounds); err != nil {
		t.Fatal(err)
	}
	return b
}

func setAll(b *search.Bounds, bounds string) error {
	for item := range strings.FieldsSeq(bounds) {
		name, value, _ := strings.Cut(item, "=")
		if err := b.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// foundBy lists the verdicts of a complete search with their pars.
func foundBy(t testing.TB, id string, b search.Bounds) map[verdict.Word]int {
	t.Helper()
	return parsOf(completed(t, racetest.Lock(t, id), b))
}

// parsOf are the verdicts that a search and those beside it have found, each with its par.
func parsOf(s *search.Search) map[verdict.Word]int {
	pars := map[verdict.Word]int{}
	for _, w := range s.Witnesses {
		pars[w.Verdict] = w.Par
	}
	return pars
}

// weaker says where the first finds less than the second, or by more faults.
func weaker(a, b map[verdict.Word]int) (in []verdict.Word) {
	for w, par := range b {
		if own, ok := a[w]; !ok || own > par {
			in = append(in, w)
		}
	}
	slices.Sort(in)
	return in
}

// tried is what a search within b finds, with the fewest faults of each; nil: it is not
// complete within some states. change may change its timing.
func tried(t *testing.T, entry lock.Entry, b search.Bounds, states int, change func(*explore.Durations)) map[verdict.Word]int {
	t.Helper()
	b.MaxStates = states
	search := racetest.Must(b.Model(entry))(t)
	if change != nil {
		change(search.Timing)
	}
	r, err := explore.Search(t.Context(), search)
	if errors.Is(err, explore.ErrReadsClock) {
		b.Idle = true
		return tried(t, entry, b, states, change)
	}
	if err != nil {
		t.Fatalf("%s, %v: %v", entry.ID, b, err)
	}
	if !r.Complete {
		return nil
	}
	pars := map[verdict.Word]int{}
	for _, w := range r.Found {
		pars[w.Verdict] = w.Par
	}
	return pars
}
