package study_test

import (
	"strings"
	"testing"

	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
)

func TestRetries(t *testing.T) {
	entry := racetest.Lock(t, "token")
	for budget, want := range map[string]int{"pause=1": 0, "client-clock=1@10s": 1, "node-clock=1@10s": 1} {
		b := study.DefaultBounds()
		b.Budget = faults.Budget(budget)
		if got := b.Settled(entry).Retries; got != want {
			t.Errorf("with %s a client retries %d times, want %d", budget, got, want)
		}
		again, err := study.ParseBounds(b.String())
		if err != nil || again.String() != b.String() || again.Retries != study.AutoRetries {
			t.Errorf("%s is read as %s, %v", b, again, err)
		}
	}
}

// TestNoFaultsInBounds: none is an empty budget in a link, too, and no link has it.
func TestNoFaultsInBounds(t *testing.T) {
	entry, want := racetest.Lock(t, "token"), study.DefaultBounds()
	want.Budget = ""
	got, err := study.ParseBounds(want.String() + "none")
	if plain, plainErr := study.ParseBounds(want.String()); err != nil || plainErr != nil || got.String() != plain.String() {
		t.Errorf("%v, %v; want %v, %v", got, err, plain, plainErr)
	}
	want.Budget = "none"
	if err := want.Check(entry); err != nil || !strings.HasSuffix(want.Settled(entry).String(), "budget=") {
		t.Errorf("%v, %v", err, want.Settled(entry))
	}
}
