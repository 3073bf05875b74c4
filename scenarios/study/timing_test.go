package study_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		timing   study.Mode
		attempts int
		retries  int
	}{{"token", study.AnyTiming, 1, 0}, {"takeover-del", study.Lockstep, 2, 2}, {"getset-retry", study.Lockstep, 2, 2}, {"getset-check", study.Lockstep, 2, 2}} {
		b := study.DefaultBounds()
		b.Timing, b.Attempts, b.Retries, b.Budget = test.timing, test.attempts, test.retries, "pause=1"
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

// What bounds leave open is as it is written beside the lock; what is written for one timing says nothing about the other one.
func TestWrittenBeside(t *testing.T) {
	effort.Unwatched(t, "one goroutine runs the code, to see what the lock offers")
	for _, test := range []struct {
		name, id string
		written  lock.Search
		change   func(b *study.Bounds)
		want     string // timing, attempts, retries, uses
	}{
		{"the usual", "reentrant", lock.Search{}, func(b *study.Bounds) {}, "any 2 0 reenter"},
		{"once", "reentrant", lock.Search{Once: true, NoUses: true}, func(b *study.Bounds) {}, "any 1 0 none"},
		{"in lockstep", "token", lock.Search{Lockstep: true}, func(b *study.Bounds) {}, "lockstep 2 2 none"},
		{"given attempts", "reentrant", lock.Search{Once: true}, func(b *study.Bounds) { b.Attempts = 3 }, "any 3 0 reenter"},
		{"given uses", "reentrant", lock.Search{Once: true}, func(b *study.Bounds) { b.Uses = 0 }, "any 1 0 none"},
		{"another timing", "reentrant", lock.Search{Once: true, NoUses: true}, func(b *study.Bounds) { b.Timing = study.Lockstep }, "lockstep 2 0 reenter"},
		{"retries", "token", lock.Search{Once: true}, func(b *study.Bounds) { b.Retries = 1 }, "lockstep 2 1 none"},
		{"no room for steps", "token", lock.Search{}, func(b *study.Bounds) { b.TTL = 10 * time.Millisecond }, "lockstep 2 0 none"},
		{"what is for any timing only", "token", lock.Search{Lockstep: true}, func(b *study.Bounds) { b.Latency = study.AtOnce }, "any 2 0 none"},
	} {
		entry, b := racetest.Lock(t, test.id), open()
		entry.Search = test.written
		test.change(&b)
		b = b.Settled(entry)
		if got := fmt.Sprint(b.Timing, " ", b.Attempts, " ", b.Retries, " ", study.FormatUses(b.Uses)); got != test.want || b.Check(entry) != nil {
			t.Errorf("%s: %s, want %s; %v", test.name, got, test.want, b.Check(entry))
		}
	}
}

// open are the usual bounds, in which all is left open that can be.
func open() study.Bounds {
	b := study.DefaultBounds()
	b.Timing, b.Attempts, b.Uses = study.AutoTiming, study.AutoAttempts, study.AutoUses
	return b
}

// twofold is the token lock beside which two searches are written.
func twofold(t *testing.T) lock.Entry {
	entry := racetest.Lock(t, "token")
	entry.Search = lock.Search{Once: true, Beside: &lock.Search{NoFaults: true}}
	return entry
}

// TestSecondSearch: a second search is made where all is left open, and finds what it finds within its own bounds.
func TestSecondSearch(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	s, err := study.Explore(t.Context(), twofold(t), open())
	if err != nil {
		t.Fatal(err)
	}
	if !s.Complete || s.Bounds.Attempts != 1 || len(s.Beside) != 1 || s.Beside[0].Bounds.Attempts != 2 || s.Beside[0].Bounds.Budget != "" || len(s.Cut) > 0 {
		t.Errorf("%v, beside it %d, cut %d:\n%s", s.Bounds, len(s.Beside), len(s.Cut), certificate.Of(s, "en"))
	}
	b := open()
	b.Timing = study.AnyTiming
	if s, err = study.Explore(t.Context(), twofold(t), b); err != nil || s.Bounds.Attempts != 1 || len(s.Beside) > 0 {
		t.Errorf("with a timing that is given: %v, %v", s.Bounds, err)
	}
}

// TestInterruptedBeside: what is finished when a search is interrupted stays, with what the one
// beside it has found so far.
func TestInterruptedBeside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	entry, b := twofold(t), open()
	entry.Search.Beside = &lock.Search{}
	b.Progress = func(r *explore.Result) {
		if r.States > 25_000 { // of two attempts
			cancel()
		}
	}
	s, err := study.Explore(ctx, entry, b)
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
