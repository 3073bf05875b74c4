package study_test

import (
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/verdict"
)

// returning are bounds with one client that crashes and is started anew.
func returning(entry lock.Entry, clients int, tokens client.Tokens, timing study.Mode) study.Bounds {
	b := small(entry, clients, 1, "crash=1,return=1")
	b.Tokens, b.Timing = tokens, timing
	return b
}

// A new process may take the lock for its own that the one before it has left, if it has the
// same thread id: what that one still has under way then strikes it. Alone, it is the only
// client that could. With a token of its own it waits for the end of the lease.
func TestReturn(t *testing.T) {
	falls := map[verdict.Word]int{verdict.WrongDel: 2, verdict.StaleWrite: 2, verdict.Lie: 2}
	for _, test := range []struct {
		id     string
		tokens client.Tokens
		want   map[verdict.Word]int
	}{
		{"redisson-lease", client.Unique, map[verdict.Word]int{}},
		{"redisson-lease", client.Thread, falls},
		{"token", client.Unique, map[verdict.Word]int{}},
		{"token", client.Thread, map[verdict.Word]int{}}, // no lock for its own owner
		{"thread-id-lua", client.Thread, map[verdict.Word]int{}},
		{"setnx", client.Unique, map[verdict.Word]int{verdict.Deadlock: 1}},
	} {
		entry := racetest.Lock(t, test.id)
		b := returning(entry, 1, test.tokens, study.AnyTiming)
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil || !s.Complete || s.Untriggered() != nil {
			t.Fatalf("%s: %v, not injected %v", test.id, err, s.Untriggered())
		}
		got := parsOf(s)
		replays(t, s)
		if len(got) != len(test.want) || weaker(got, test.want) != nil {
			t.Errorf("%s with tokens %s: found %v, want %v", test.id, test.tokens, got, test.want)
		}
		if c := certificate.Of(s, "en"); !strings.Contains(c, "is started again, as another process") || !strings.Contains(c, "draws none of its tokens") {
			t.Errorf("%s: the certificate:\n%s", test.id, c)
		}
	}
}
