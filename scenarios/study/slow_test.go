package study_test

import (
	"slices"
	"testing"
	"time"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

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
	entry := racetest.Lock(t, "naive-wake")
	b := small(entry, 2, 2, "")
	b.Uses, b.Slow = client.Wait, 24*time.Hour
	compare(t, entry, b)
	s := explored(t, entry, b)
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
