package study_test

import (
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/effort"
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
	effort.Unwatched(t, "one goroutine searches")
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
		got := map[verdict.Word]int{}
		for _, w := range s.Witnesses {
			got[w.Verdict] = w.Par
			link, err := simulator.ParseLink(w.Trace.Link())
			if err != nil {
				t.Fatal(err)
			}
			if o, err := study.ReplayOn(entry, link); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
				t.Errorf("%s: the witness of %s comes to %v, %v", test.id, w.Verdict, o, err)
			}
		}
		if len(got) != len(test.want) || weaker(got, test.want) != nil {
			t.Errorf("%s with tokens %s: found %v, want %v", test.id, test.tokens, got, test.want)
		}
		if c := certificate.Of(s, "en"); !strings.Contains(c, "is started again, as another process") || !strings.Contains(c, "draws none of its tokens") {
			t.Errorf("%s: the certificate:\n%s", test.id, c)
		}
	}
}

// The simplest search agrees.
func TestTwinOfReturn(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, test := range []struct {
		id      string
		clients int
		tokens  client.Tokens
		timing  study.Mode
	}{
		{"redisson-lease", 1, client.Thread, study.AnyTiming},
		{"redisson-lease", 2, client.Unique, study.Lockstep},
		{"token", 2, client.Unique, study.Lockstep},
		{"reentrant", 1, client.Unique, study.AnyTiming},
		{"watch-multi", 2, client.Unique, study.Lockstep},  // it watches keys
		{"naive-wake", 2, client.Unique, study.Lockstep},   // it subscribes
		{"takeover-del", 2, client.Unique, study.Lockstep}, // it reads its clock
	} {
		entry := racetest.Lock(t, test.id)
		b := returning(entry, test.clients, test.tokens, test.timing)
		if test.id == "naive-wake" {
			b.Uses = client.Wait
		}
		want := dumbly(t, entry, b, nil)
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil || !s.Complete {
			t.Fatalf("%s: %v", test.id, err)
		}
		if got := prices(s.Result); listed(got) != listed(want.found) {
			t.Errorf("%s, %v: found %s, the twin %s", test.id, b, listed(got), listed(want.found))
		}
		t.Logf("%s: %d states, the twin %d", test.id, s.States, want.states)
	}
}

// A client that may return loses no verdict and raises no par.
func TestReturnIsMonotone(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks, states := []lock.Entry{racetest.Lock(t, "setnx-expire"), racetest.Lock(t, "reentrant")}, 20_000
	if effort.Exhaustive() {
		locks = algorithms.All()
	}
	for _, entry := range locks {
		if entry.OnZooKeeper() {
			b := returning(entry, 2, client.Unique, study.Lockstep)
			if err := b.Check(entry); err == nil || !strings.Contains(text.SayError("en", err), "clients=3") {
				t.Errorf("%s: %v", entry.ID, err)
			}
			continue
		}
		before := tried(t, entry, small(entry, 2, 1, "crash=1"), states, nil)
		if before == nil {
			continue
		}
		found := tried(t, entry, small(entry, 2, 1, "crash=1,return=1"), states, nil)
		if found == nil {
			continue
		}
		if in := weaker(found, before); in != nil {
			t.Errorf("%s: crash=1,return=1 finds %v, crash=1 finds more: %v", entry.ID, found, in)
		}
	}
}
