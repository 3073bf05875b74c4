package study_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// polling is a lock whose Acquire asks again after a pause, so many times.
func polling(pause time.Duration, times int) lock.Entry {
	return own("polling", func(env lock.Env) lock.Strategy {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			for range times {
				token := env.Tokens.Token()
				if ok, err := env.Nodes[0].SetNX(ctx, key, token, env.TTL).Result(); err != nil || ok {
					return reporting(func(ctx context.Context) error { return lost(env.Nodes[0].Del(ctx, key).Result()) }), err
				}
				env.Clock.Sleep(pause)
			}
			return nil, lock.ErrNotAcquired
		})
	})
}

// TestDumbTwinOfBounds: the search finds SLOW and NOISY where its twin does, whose times are absolute.
func TestDumbTwinOfBounds(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	token := racetest.Lock(t, "token")
	for name, test := range map[string]struct {
		entry  lock.Entry
		budget string
		change func(b *study.Bounds)
		want   string
	}{
		"a lost reply":        {token, "lose-reply=1", func(b *study.Bounds) { b.Slow = time.Second }, "SLOW@1"},
		"not longer":          {token, "lose-reply=1", func(b *study.Bounds) { b.Slow = 3 * time.Second }, ""},
		"a pause":             {token, "pause=1@5s", func(b *study.Bounds) { b.Slow = time.Second }, ""},
		"a crash":             {token, "crash=1,hang=1@5s", func(b *study.Bounds) { b.Slow = 2 * time.Second }, "SLOW@1"},
		"messages":            {token, "", func(b *study.Bounds) { b.Timing, b.Idle, b.Slow = study.AnyTiming, true, 750*time.Millisecond }, "SLOW@0"},
		"messages in time":    {token, "", func(b *study.Bounds) { b.Timing, b.Idle, b.Slow = study.AnyTiming, true, 1500*time.Millisecond }, ""},
		"its own wait":        {polling(2*time.Second, 3), "", func(b *study.Bounds) { b.Slow = 3 * time.Second }, "SLOW@0"},
		"a fast poll":         {polling(400*time.Millisecond, 4), "", func(b *study.Bounds) { b.Noisy = 2 }, "NOISY@0"},
		"not fast enough":     {polling(400*time.Millisecond, 4), "", func(b *study.Bounds) { b.Noisy = 3 }, ""},
		"both":                {polling(400*time.Millisecond, 4), "pause=1", func(b *study.Bounds) { b.Slow, b.Noisy = time.Second, 2 }, "SLOW@0 NOISY@0"},
		"a pause, and a poll": {polling(400*time.Millisecond, 4), "pause=1@5s", func(b *study.Bounds) { b.Noisy = 3 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := small(test.entry, 2, 1, test.budget)
			test.change(&b)
			compare(t, test.entry, b)
			var got []string
			for _, found := range searched(t, test.entry, b, nil).Pars() {
				if strings.HasPrefix(found, string(verdict.Slow)) || strings.HasPrefix(found, string(verdict.Noisy)) {
					got = append(got, found)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%v, want %q", got, test.want)
			}
		})
	}
}

// TestNoBound: without a bound a search does not look for SLOW and NOISY, and one that nothing exceeds changes nothing that it finds.
func TestNoBound(t *testing.T) {
	token := racetest.Lock(t, "token")
	b := small(token, 2, 2, "lose-reply=1")
	if words := b.Words(); !slices.Equal(words, explore.Words()) || slices.Contains(words, verdict.Slow) || slices.Contains(words, verdict.Noisy) {
		t.Errorf("without bounds it looks for %v", words)
	}
	plain := searched(t, token, b, nil)
	b.Slow, b.Noisy = time.Minute, 100
	if got, want := listed(prices(searched(t, token, b, nil))), listed(prices(plain)); got != want {
		t.Errorf("with bounds it finds\n%s, without\n%s", got, want)
	}
}

// TestUnanswered: a client that waits without end is SLOW whatever the bound, and the run of the witness says so.
func TestUnanswered(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := racetest.Lock(t, "naive-wake")
	b := small(entry, 2, 2, "")
	b.Uses, b.Slow = client.Wait, 24*time.Hour
	compare(t, entry, b)
	s, err := study.Explore(t.Context(), entry, b)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == verdict.Slow })
	if i < 0 {
		t.Fatalf("found %v", s.Pars())
	}
	o, err := study.ReplayOn(entry, s.Witnesses[i].Trace)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(o.Verdicts, verdict.Slow) || !slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool { return f.Verdict == verdict.Slow && f.Forever }) {
		t.Errorf("its run comes to %v, %v", o.Verdicts, o.Judgement.Findings)
	}
}

// TestBadBoundsOfVerdicts: what cannot be searched with a bound is refused by its name.
func TestBadBoundsOfVerdicts(t *testing.T) {
	token := racetest.Lock(t, "token")
	for change, want := range map[string]string{
		"slow=-1s":                     "error.bound.slow",
		"noisy=-1":                     "error.bound.noisy",
		"noisy=3,timing=any":           "error.bound.noisy.any",
		"noisy=3,timing=auto":          "error.bound.noisy.any",
		"slow=1s,attempts=any":         "error.again.with",
		"slow=1s,timing=lockstep":      "",
		"noisy=3,timing=lockstep":      "",
		"slow=1s,timing=any,clients=3": "",
	} {
		b := study.DefaultBounds()
		for item := range strings.SplitSeq(change, ",") {
			name, value, _ := strings.Cut(item, "=")
			if name == "attempts" {
				b.Attempts = study.AnyAttempts
			} else if err := b.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		err := study.CheckSearch(token, b)
		said := i18n.Error(nil)
		if errors.As(err, &said); (err == nil) != (want == "") || err != nil && (said == nil || said.Message().Key != want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
		if written, err := study.ParseBounds(b.String()); b.Attempts > 0 && (err != nil || written.Slow != b.Slow || written.Noisy != b.Noisy) {
			t.Errorf("%s: %q is read as %v, %v", change, b.String(), written, err)
		}
	}
}
