package study_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// everyTiming are small bounds at any timing.
func everyTiming(entry lock.Entry, clients, attempts int, budget string) study.Bounds {
	b := small(entry, clients, attempts, budget)
	b.Timing = study.AnyTiming
	return b
}

// TestDumbTwinAtAnyTiming: the twin's times are absolute, so clients may not wait without
// end.
func TestDumbTwinAtAnyTiming(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	budgets := []string{"", "crash=1"}
	if effort.Exhaustive() {
		budgets = append(budgets, "lose-reply=1", "pause=1@5s", "restart=1@1s", "lose-request=1")
	}
	for _, id := range []string{"setnx", "token"} {
		if effort.Exhaustive() && id == "token" {
			budgets = append(budgets, "delay=1@2s", "hang=1@2s", "node-clock=1@2s")
		}
		for _, budget := range budgets {
			t.Run(id+"/"+budget, func(t *testing.T) {
				t.Parallel()
				entry := racetest.Lock(t, id)
				b := everyTiming(entry, 2, 1, budget)
				b.Idle = true
				compare(t, entry, b)
			})
		}
	}
}

// The twin makes the choices of clients too: what they do with the lock besides, and what
// their library sends again.
func TestDumbTwinOfUses(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	any := func(b *study.Bounds) { b.Timing, b.Idle = study.AnyTiming, true }
	for _, test := range []struct {
		id, budget string
		uses       client.Uses
		long       bool
		change     func(*study.Bounds)
	}{
		{"setnx", "", client.GiveUp, false, func(b *study.Bounds) { any(b); b.Clients = 1 }},
		{"token", "lose-reply=1", client.GiveUp, true, func(b *study.Bounds) { any(b); b.ClientRetries = 1 }},
		{"daemon-10-owned", "", client.Renew, true, func(b *study.Bounds) { any(b); b.Clients = 1 }}, // of two, this twin has too many states
		{"reentrant", "", client.Reenter, true, any},
		{"naive-wake", "", client.Wait, false, func(b *study.Bounds) { b.Attempts = 2 }},
		{"watchdog", "", client.AllUses, false, nil},
		{"watchdog", "pause=1@5s", client.AllUses, true, nil},
		{"watchdog", "crash=1", client.Renew, true, func(b *study.Bounds) { b.Attempts = 2 }},
		{"zk-naive", "", client.Wait | client.Check, false, nil},
		{"watchdog", "pause-thread=1@5s", 0, false, nil},
		{"zk-naive", "pause-thread=1@12s", 0, true, nil},
		{"setnx", "lose-reply=1", 0, false, func(b *study.Bounds) { b.Attempts, b.ClientRetries = 2, 3 }},
		{"takeover-del", "", 0, false, func(b *study.Bounds) { b.Skew, b.Retries = 4500*time.Millisecond, 0 }},
		{"client-expiry", "", 0, true, func(b *study.Bounds) { any(b); b.Skew, b.Clients = 1500*time.Millisecond, 1 }},
		{"token", "pause=1", 0, false, func(b *study.Bounds) { b.Tokens, b.Retries = client.Constant, 2 }},
		{"token", "pause=1", 0, false, func(b *study.Bounds) { b.Tokens, b.Retries = client.TimeOfDay, 2 }},
		{"token", "crash=1", 0, false, func(b *study.Bounds) { b.Tokens = client.Prefix }},
		{"token", "", 0, false, func(b *study.Bounds) { any(b); b.Latency, b.Lateness = 1500*time.Millisecond, study.AtOnce }},
		{"token", "pause=1@2s", 0, true, func(b *study.Bounds) { any(b); b.Latency, b.Lateness = study.AtOnce, 1500*time.Millisecond }},
	} {
		if test.long && !effort.Exhaustive() {
			continue
		}
		t.Run(test.id+"/"+test.budget, func(t *testing.T) {
			t.Parallel()
			entry := racetest.Lock(t, test.id)
			b := small(entry, 2, 1, test.budget)
			b.Uses = test.uses
			if test.change != nil {
				test.change(&b)
			}
			if err := b.Check(entry); err != nil {
				t.Fatal(err)
			}
			compare(t, entry, b)
		})
	}
}

// Every witness of a search of every timing can be played, and comes to its verdict.
func TestWitnessesAtAnyTiming(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, id := range []string{"setnx-expire", "token", "getset"} {
		for _, budget := range []string{"crash=1", "pause=1@5s", "lose-reply=1", "failover=1", "delay=1@15s"} {
			entry := racetest.Lock(t, id)
			b := everyTiming(entry, 2, 1, budget)
			b.MaxStates = 100_000 // what a search finds before it is cut short is as real
			s, err := study.Explore(t.Context(), entry, b)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range s.Witnesses {
				o, err := study.ReplayOn(entry, w.Trace)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", id, budget, w.Verdict, err)
				} else if !slices.Contains(o.Verdicts, w.Verdict) {
					t.Errorf("%s, %s: the witness of %s comes to %v", id, budget, w.Verdict, o.Verdicts)
				}
			}
		}
	}
}

// foundBy lists the verdicts of a complete search with their pars.
func foundBy(t *testing.T, id string, b study.Bounds) map[verdict.Word]int {
	t.Helper()
	s, err := study.Explore(t.Context(), racetest.Lock(t, id), b)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Complete {
		t.Fatalf("%s, %v: the search was cut short", id, b)
	}
	return parsOf(s)
}

// parsOf are the verdicts that a search and those beside it have found, each with its par.
func parsOf(s *study.Search) map[verdict.Word]int {
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

// What a client may do once more, or may wait for once more, loses no verdict.
func TestMoreFindsNoLess(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := racetest.Lock(t, "token")
	few := everyTiming(entry, 2, 1, "pause=1")
	many := everyTiming(entry, 2, 2, "pause=1")
	if in := weaker(foundBy(t, "token", many), foundBy(t, "token", few)); in != nil {
		t.Errorf("with one attempt more it finds less: %v", in)
	}
	long := everyTiming(entry, 2, 1, "pause=1@9s")
	if in := weaker(foundBy(t, "token", few), foundBy(t, "token", long)); in != nil {
		t.Errorf("with a longer pause it finds less: %v", in)
	}
}

// Messages that take longer, and timers that are later, lose no verdict: what takes longer at most
// may take as little as before.
func TestLater(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, test := range []struct {
		id, budget string
		long       bool
	}{
		{"setnx-expire", "pause=1", false},
		{"token", "pause=1", false},
		{"token", "lose-reply=1", false},
		{"watchdog", "pause=1@5s", true},
		{"redlock", "", true},
		{"zk-naive", "expire-session=1", true},
	} {
		if test.long && !effort.Exhaustive() {
			continue
		}
		t.Run(test.id+"/"+test.budget, func(t *testing.T) {
			t.Parallel()
			b := everyTiming(racetest.Lock(t, test.id), 2, 1, test.budget)
			b.Latency, b.Lateness = study.AtOnce, study.AtOnce
			none := foundBy(t, test.id, b)
			for _, more := range []struct{ latency, lateness time.Duration }{
				{b.Latency, 2250 * time.Millisecond},
				{750 * time.Millisecond, b.Lateness},
				{750 * time.Millisecond, 750 * time.Millisecond},
				{1500 * time.Millisecond, b.Lateness},
			} {
				if b.Latency, b.Lateness = more.latency, more.lateness; b.Nodes > 1 && b.Latency > time.Second {
					continue // tens of millions of states
				}
				found := foundBy(t, test.id, b)
				t.Log(b, found)
				if in := weaker(found, none); in != nil {
					t.Errorf("%v: %v, and with no latency and no lateness %v", b, found, none)
				}
			}
		})
	}
}

// Messages that take so long that nobody has a majority within a lease are no deadlock: those of
// the probe take no time.
func TestSlowMessagesAreNoDeadlock(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	b := everyTiming(racetest.Lock(t, "redlock"), 1, 1, "")
	b.Latency = 1500 * time.Millisecond
	if found := foundBy(t, "redlock", b); len(found) != 1 || found[verdict.Starved] != 0 {
		t.Errorf("found %v, want STARVED@0", found)
	}
}

// TestMisleadingProofs: what one schedule could not show. In lockstep the rival of a client
// that pauses asks too early, or a single attempt comes too soon.
func TestMisleadingProofs(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	for _, test := range []struct {
		id       string
		attempts int
	}{{"token", 1}, {"takeover-del", 2}, {"getset-retry", 2}, {"getset-check", 2}} {
		if test.attempts > 1 && !effort.Exhaustive() {
			continue // the search of every timing is cut short first, after seconds
		}
		b := study.DefaultBounds()
		b.Timing, b.Attempts, b.Budget = study.AutoTiming, test.attempts, "pause=1"
		if par, ok := foundBy(t, test.id, b)[verdict.Overlap]; !ok || par != 1 {
			t.Errorf("%s: OVERLAP@%d, %t, want OVERLAP@1", test.id, par, ok)
		}
	}
}

// A deadlock is said only of a refusal that lasts: a request that has just landed, late,
// ends with its lease.
func TestLateRequestIsNoDeadlock(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, budget := range []string{"hang=1@20s", "delay=2@15s"} {
		b := study.DefaultBounds()
		b.Budget = faults.Budget(budget)
		pars := foundBy(t, "token", b)
		if _, ok := pars[verdict.Deadlock]; ok || len(pars) == 0 {
			t.Errorf("token, %s: %v", budget, pars)
		}
		b.Budget = faults.Budget("crash=1," + budget)
		if _, ok := foundBy(t, "setnx", b)[verdict.Deadlock]; !ok {
			t.Errorf("setnx, %s: no deadlock is found any more", b.Budget)
		}
	}
}

// Verdicts do not depend on the unit of time: they are the same from the shortest lease to
// the longest.
func TestVerdictsScale(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, id := range []string{"setnx", "token", "getset"} {
		for _, budget := range []string{"crash=1", "pause=1"} {
			want := foundBy(t, id, small(racetest.Lock(t, id), 2, 2, budget))
			for _, ttl := range []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, time.Second, time.Hour, 365 * 24 * time.Hour} {
				b := small(racetest.Lock(t, id), 2, 2, budget)
				b.TTL = ttl
				if got := foundBy(t, id, b); len(weaker(got, want))+len(weaker(want, got)) > 0 {
					t.Errorf("%s, %s, lease %v: %v, want %v", id, budget, ttl, got, want)
				}
			}
		}
	}
	for _, ttl := range []time.Duration{12 * time.Millisecond, time.Minute, 365 * 24 * time.Hour} {
		b := everyTiming(racetest.Lock(t, "token"), 2, 2, "crash=1")
		want := foundBy(t, "token", b)
		b.TTL = ttl
		if got := foundBy(t, "token", b); len(weaker(got, want))+len(weaker(want, got)) > 0 {
			t.Errorf("token at any timing, lease %v: %v, want %v", ttl, got, want)
		}
	}
}

// Bounds that a world cannot carry are refused, with what it can.
func TestBoundsOutOfRange(t *testing.T) {
	for _, change := range []func(b *study.Bounds){
		func(b *study.Bounds) { b.TTL = time.Millisecond },
		func(b *study.Bounds) { b.TTL = 876000 * time.Hour },
		func(b *study.Bounds) { b.TTL, b.Timing = 11*time.Millisecond, study.AnyTiming },
		func(b *study.Bounds) { b.Budget = "crash=1,node-clock=2@490000h" },
		func(b *study.Bounds) { b.Budget = "pause=255@8000h" },
		func(b *study.Bounds) { b.Retries, b.Timing = 1, study.AnyTiming },
		func(b *study.Bounds) { b.Retries, b.Timing, b.Latency = 1, study.AutoTiming, study.AtOnce },
		func(b *study.Bounds) {
			b.TTL, b.Timing, b.Latency = 11*time.Millisecond, study.AutoTiming, study.AtOnce
		},
		func(b *study.Bounds) { b.Timing, b.Latency = study.AnyTiming, time.Second },
		func(b *study.Bounds) { b.Timing, b.Lateness = study.AnyTiming, 10*time.Second },
		func(b *study.Bounds) { b.Timing, b.Lateness = study.Lockstep, study.AtOnce },
	} {
		b := study.DefaultBounds()
		change(&b)
		if _, err := study.Explore(t.Context(), racetest.Lock(t, "token"), b); err == nil {
			t.Errorf("%v is searched", b)
		}
	}
}

// A fault that can be injected nowhere leaves the question open.
func TestInconclusive(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	b := study.DefaultBounds()
	b.Budget = "expire-session=1"
	s, err := study.Explore(t.Context(), racetest.Lock(t, "token"), b)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Inconclusive() || !s.Complete {
		t.Errorf("token is said to survive a session's end:\n%s", certificate.Of(s, "en"))
	}
}

// With AutoAttempts clients take the lock twice where every timing of that can be searched, and
// else once, with other searches beside it.
func TestAutoAttempts(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, test := range []struct {
		name, id    string
		timing      study.Mode
		change      func(b *study.Bounds)
		want        string // timing, attempts, complete
		beside, cut []string
	}{
		{"few states", "token", study.AutoTiming, func(b *study.Bounds) {}, "any 2 true", nil, nil},
		{"no end of a second attempt", "token", study.AutoTiming, func(b *study.Bounds) { b.MaxStates = 60_000 }, "any 1 true", []string{"lockstep 2"}, []string{"any 2"}},
		{"uses in one attempt only", "reentrant-asking", study.AutoTiming, func(b *study.Bounds) { b.Uses = study.AutoUses }, "any 2 true", []string{"any 1 reenter"}, []string{"any 2 reenter"}},
		{"any timing only", "token", study.AnyTiming, func(b *study.Bounds) { b.MaxStates = 60_000 }, "any 1 true", nil, []string{"any 2"}},
		{"a limit of one's own", "token", study.AutoTiming, func(b *study.Bounds) { b.MaxStates = 12_000 }, "lockstep 2 false", []string{"any 1 crash=1", "any 1 pause=1"}, []string{"any 1"}},
		{"nothing within the limit", "token", study.AnyTiming, func(b *study.Bounds) { b.MaxStates = 5_000 }, "any 1 false", []string{"any 1 crash=1"}, []string{"any 1 pause=1"}},
		{"no room for steps", "token", study.AutoTiming, func(b *study.Bounds) { b.TTL = 10 * time.Millisecond }, "lockstep 2 true", nil, nil},
		{"lockstep", "token", study.Lockstep, func(b *study.Bounds) {}, "lockstep 2 true", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := study.DefaultBounds()
			b.Attempts, b.Timing = study.AutoAttempts, test.timing
			test.change(&b)
			s, err := study.Explore(t.Context(), racetest.Lock(t, test.id), b)
			if err != nil {
				t.Fatal(err)
			}
			of := func(s *study.Search) string {
				words := append([]string{s.Bounds.Timing.String(), fmt.Sprint(s.Bounds.Attempts)}, s.Bounds.Uses.Names()...)
				if s.Bounds.Budget != b.Budget {
					words = append(words, string(s.Bounds.Budget))
				}
				return strings.Join(words, " ")
			}
			all := func(searches []*study.Search, complete bool) (list []string) {
				for _, s := range searches {
					if list = append(list, of(s)); s.Complete != complete {
						t.Errorf("%s: complete %t", of(s), s.Complete)
					}
				}
				return list
			}
			if got := fmt.Sprint(of(s), " ", s.Complete); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if got := all(s.Beside, true); !slices.Equal(got, test.beside) {
				t.Errorf("beside it %v, want %v", got, test.beside)
			}
			if got := all(s.Cut, false); !slices.Equal(got, test.cut) {
				t.Errorf("cut %v, want %v", got, test.cut)
			}
			for _, other := range slices.Concat(s.Beside, s.Cut) {
				if in := weaker(parsOf(s), parsOf(other)); in != nil {
					t.Errorf("%s has found more: %v", of(other), in)
				}
			}
			for _, w := range s.Witnesses {
				if own := w.Trace.Settings == s.Bounds.String(); own != (certificate.Elsewhere(s, w, "en") == "") {
					t.Errorf("%s of %s is elsewhere: %q", w.Verdict, w.Trace.Settings, certificate.Elsewhere(s, w, "en"))
				}
			}
		})
	}
}

// TestInterruptedBeside: what is finished when a search is interrupted stays, with what the others
// beside it have found so far.
func TestInterruptedBeside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := study.DefaultBounds()
	b.Attempts, b.Timing = study.AutoAttempts, study.AutoTiming
	b.Progress = func(r *explore.Result) {
		if r.States > 25_000 { // of two attempts; one takes 24,341
			cancel()
		}
	}
	s, err := study.Explore(ctx, racetest.Lock(t, "queue"), b)
	if !errors.Is(err, study.ErrBeside) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if !s.Complete || s.Bounds.Attempts != 1 || s.Bounds.Timing != study.AnyTiming {
		t.Errorf("%v, complete %t: what was finished is lost", s.Bounds, s.Complete)
	}
	if len(s.Beside) > 0 || len(s.Cut) != 1 || s.Cut[0].Bounds.Attempts != 2 {
		t.Errorf("beside it %d searches are complete, and %d are not", len(s.Beside), len(s.Cut))
	}
	if in := weaker(parsOf(s), parsOf(s.Cut[0])); in != nil {
		t.Errorf("what had been found by then is lost: %v", in)
	}
}
