package study_test

import (
	"context"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// clocked is SET NX by a client that is let in as well if its clock says so, when it has been
// refused and has then slept for 1.5 s.
func clocked(late func(before, after time.Time) bool) lock.Entry {
	return taking("clocked", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		before := env.Clock.Now()
		made, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
		if err == nil && !made {
			env.Clock.Sleep(1500 * time.Millisecond)
			made = late(before, env.Clock.Now())
		}
		return made, err
	})
}

// withClocks makes a search, and compares it with one in which the time of day is part of every state.
func withClocks(t *testing.T, name string, entry lock.Entry, b study.Bounds) (got, want *explore.Result) {
	t.Helper()
	got = searched(t, entry, b, nil)
	want = searched(t, entry, b, func(o *explore.Options) { o.Plain.Clocks = true })
	if listed(prices(got)) != listed(prices(want)) {
		t.Errorf("%s, %s: found\n%s\nwith the time of day\n%s", name, b.Budget, listed(prices(got)), listed(prices(want)))
	}
	return got, want
}

// Code that uses its clock only to measure does not depend on the time of day, and the time of
// day is no part of a state. Code that does otherwise is found out, whatever it looks at. In
// either case the search finds what it finds with the time of day.
func TestMeasures(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	day := simulator.Epoch
	for name, test := range map[string]struct {
		late     func(before, after time.Time) bool
		measures bool
	}{
		"longer than 3 s":     {func(before, after time.Time) bool { return after.Sub(before) > 3*time.Second }, true},
		"milliseconds":        {func(before, after time.Time) bool { return after.UnixMilli()-before.UnixMilli() > 3000 }, true},
		"seconds in whole":    {func(before, after time.Time) bool { return after.Unix()-before.Unix() > 1 }, false},
		"after a date":        {func(_, after time.Time) bool { return after.After(day.Add(15 * time.Second)) }, false},
		"in even 10 s":        {func(_, after time.Time) bool { return after.Unix()/10%2 == 0 }, false},
		"in the next minute":  {func(_, after time.Time) bool { return after.Minute() != day.Minute() }, false},
		"in the next hour":    {func(_, after time.Time) bool { return after.Hour() != day.Hour() }, false},
		"on another day":      {func(_, after time.Time) bool { return after.Day() != day.Day() }, false},
		"seven minutes past":  {func(_, after time.Time) bool { return after.Minute() == 7 }, false},
		"at the full second":  {func(_, after time.Time) bool { return after.Nanosecond() == 0 }, false},
		"at second 37":        {func(_, after time.Time) bool { return after.Second() == 37 }, false},
		"at minute 41 or 42":  {func(_, after time.Time) bool { return after.Minute() == 41 || after.Minute() == 42 }, false},
		"at minute 3, once":   {func(before, _ time.Time) bool { return before.Minute() == 3 }, false},
		"at noon":             {func(_, after time.Time) bool { return after.Hour() == 12 }, false},
		"on Thursdays":        {func(_, after time.Time) bool { return after.Weekday() == time.Thursday }, false},
		"from 2040 on":        {func(_, after time.Time) bool { return after.Year() >= 2040 }, false},
		"in February":         {func(_, after time.Time) bool { return after.Month() == time.February }, false},
		"in another year":     {func(before, after time.Time) bool { return before.Year() != after.Year() }, false},
		"it does not matter":  {func(_, _ time.Time) bool { return false }, true},
		"as long as it likes": {func(_, _ time.Time) bool { return true }, true},
	} {
		entry := clocked(test.late)
		for _, budget := range []string{"", "pause=1@5s", "client-clock=1@10s"} {
			got, want := withClocks(t, name, entry, small(entry, 2, 2, budget))
			if got.Measures != test.measures || got.ReadsClock == test.measures {
				t.Errorf("%s, %s: it measures: %v, it reads its clock: %v", name, budget, got.Measures, got.ReadsClock)
			}
			if !want.ReadsClock || want.Measures {
				t.Errorf("%s, %s: with the time of day it measures: %v, it reads its clock: %v", name, budget, want.Measures, want.ReadsClock)
			}
		}
	}
}

// TestMeasuresToTheEnd: what code does in its very last step is checked as well.
func TestMeasuresToTheEnd(t *testing.T) {
	t.Parallel()
	entry := func(asks int) lock.Entry {
		return own("forgetful", func(env lock.Env) lock.Strategy { return forgetful(env, asks) })
	}
	for asks := range 30 { // so that the last step comes at any time after the search has checked last
		if r := searched(t, entry(asks), small(entry(asks), 1, 1, ""), nil); r.Measures {
			t.Errorf("after %d requests: code that asks for the hour only measures", asks)
		}
	}
}

// forgetful is SET NX by a client that asks for the key so often, and for the hour at the end of
// its release.
func forgetful(env lock.Env, asks int) lock.Strategy {
	return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
		env.Clock.Now() // the search begins anew at the first reading
		made, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
		if err == nil && !made {
			err = lock.ErrNotAcquired
		}
		return reporting(func(ctx context.Context) error {
			err := lost(env.Nodes[0].Del(ctx, key).Result())
			for range asks {
				env.Nodes[0].Get(ctx, key)
			}
			if env.Clock.Now().Hour() == 0 {
				err = lock.ErrNotHeld
			}
			return err
		}), err
	})
}

// Every lock, without the time of day and with it. In lockstep they find the same. At any timing
// clients that look at the time of day want the lock within a bound, and the others whenever they
// like, so that these may find more.
func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	entries, budgets := []lock.Entry{racetest.Lock(t, "redlock"), racetest.Lock(t, "spin")}, []string{"pause=1"}
	if effort.Exhaustive() {
		entries, budgets = algorithms.All(), append(budgets, "crash=1", "client-clock=1@10s", "delay=1@3s")
	}
	const most = 20_000
	measure := 0
	for _, entry := range entries {
		for _, budget := range budgets {
			b := small(entry, 2, 1, budget)
			cut := func(o *explore.Options) { o.MaxStates = most }
			r := searchedUpTo(t, entry, b, cut)
			if !r.Measures || !r.Complete {
				continue
			}
			measure++
			dated := searchedUpTo(t, entry, b, func(o *explore.Options) { o.MaxStates, o.Plain.Clocks = 3*most, true })
			if !dated.Complete || listed(prices(dated)) != listed(prices(r)) || r.States > dated.States {
				t.Errorf("%s, %s: %d states, found\n%s\nwith the time of day %d, and\n%s", entry.ID, budget, r.States, listed(prices(r)), dated.States, listed(prices(dated)))
			}
			if b.Timing, b.Idle = study.AnyTiming, r.Grain > 0; budget != "crash=1" {
				continue
			}
			r = searchedUpTo(t, entry, b, cut)
			if !r.Complete || r.States > most/3 { // the other has twenty times as many
				continue
			}
			b.Idle = true
			dated = searchedUpTo(t, entry, b, func(o *explore.Options) { o.MaxStates, o.Plain.Clocks = 5*most, true })
			t.Logf("%s, %s, any timing: %d states, with the time of day %d (complete %v)", entry.ID, budget, r.States, dated.States, dated.Complete)
			found := prices(r)
			for word, price := range prices(dated) {
				if mine, ok := found[word]; !ok || mine.par > price.par {
					t.Errorf("%s, %s, any timing: %s@%d, with the time of day only", entry.ID, budget, word, price.par)
				}
			}
		}
	}
	if measure == 0 {
		t.Error("no lock measures")
	}
}
