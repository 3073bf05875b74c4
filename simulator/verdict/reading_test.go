package verdict_test

import (
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/simulator/verdict"
)

func TestParseWord(t *testing.T) {
	for _, given := range []string{"overlap", "OVERLAP", "n/a", "HOLDS"} {
		if w, err := verdict.ParseWord(given); err != nil || !strings.EqualFold(string(w), given) {
			t.Errorf("%q: %q, %v", given, w, err)
		}
	}
	for given, want := range map[string]string{"stall": "DEADLOCK", "PHANTOM": "ORPHAN", "hold": "HOLDS"} {
		if _, err := verdict.ParseWord(given); err == nil || !strings.Contains(text.SayError("en", err), want) ||
			!strings.Contains(text.SayError("en", err), given) {
			t.Errorf("%q: %v, want %q", given, err, want)
		}
	}
}
