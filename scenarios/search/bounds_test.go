package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

func TestRetries(t *testing.T) {
	entry := racetest.Lock(t, "token")
	for budget, want := range map[string]int{"pause=1": 0, "client-clock=1@10s": 1, "node-clock=1@10s": 1} {
		b := search.DefaultBounds()
		b.Budget = faults.Budget(budget)
		if got := b.Settled(entry).Retries; got != want {
			t.Errorf("with %s a client retries %d times, want %d", budget, got, want)
		}
		again, err := search.ParseBounds(b.String())
		if err != nil || again.String() != b.String() || again.Retries != search.AutoRetries {
			t.Errorf("%s is read as %s, %v", b, again, err)
		}
	}
}

// What bounds leave open is as it is written beside the lock; what is written for one timing says nothing about the other one.
func TestWrittenBeside(t *testing.T) {
	const none = "" // bounds that are given
	for _, test := range []struct {
		id            string
		written       lock.Search
		given, settle string
	}{
		{"reentrant", lock.Search{}, none, "any 2 0 reenter"},
		{"reentrant", lock.Search{Once: true, NoUses: true}, none, "any 1 0 none"},
		{"token", lock.Search{Lockstep: true}, none, "lockstep 2 2 none"},
		{"reentrant", lock.Search{Once: true}, "attempts=3", "any 3 0 reenter"},
		{"reentrant", lock.Search{Once: true}, "uses=none", "any 1 0 none"},
		{"reentrant", lock.Search{Once: true, NoUses: true}, "timing=lockstep", "lockstep 2 0 reenter"},
		{"token", lock.Search{Once: true}, "retries=1", "lockstep 2 1 none"},
		{"token", lock.Search{}, "ttl=10ms", "lockstep 2 0 none"},            // no room for steps
		{"token", lock.Search{Lockstep: true}, "latency=0s", "any 2 0 none"}, // what is for any timing only
	} {
		entry, b := racetest.Lock(t, test.id), open()
		entry.Search = test.written
		err := setAll(&b, test.given)
		b = b.Settled(entry)
		got := fmt.Sprint(b.Timing, " ", b.Attempts, " ", b.Retries, " ", strings.TrimPrefix(b.Items("uses")[0], "uses="))
		if err = cmp.Or(err, b.Check(entry)); got != test.settle || err != nil {
			t.Errorf("%+v, %s: %s, want %s; %v", test.written, test.given, got, test.settle, err)
		}
	}
}

// open are the usual bounds, in which all is left open that can be.
func open() search.Bounds {
	b := search.DefaultBounds()
	b.Timing, b.Attempts, b.Uses = search.AutoTiming, search.AutoAttempts, search.AutoUses
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
	s, b := completed(t, twofold(t), open()), open()
	if s.Bounds.Attempts != 1 || len(s.Beside) != 1 || s.Beside[0].Bounds.Attempts != 2 || s.Beside[0].Bounds.Budget != "" || len(s.Cut) > 0 {
		t.Errorf("%v, beside it %d, cut %d:\n%s", s.Bounds, len(s.Beside), len(s.Cut), certificate.Of(s, "en"))
	}
	b.Timing = search.AnyTiming
	if s = exploring(t, twofold(t), b); s.Bounds.Attempts != 1 || len(s.Beside) > 0 {
		t.Errorf("with a timing that is given: %v", s.Bounds)
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
	s, err := search.Explore(ctx, entry, b)
	if !errors.Is(err, search.ErrBeside) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if !s.Complete || s.Bounds.Attempts != 1 || s.Bounds.Timing != search.AnyTiming {
		t.Errorf("%v, complete %t: what was finished is lost", s.Bounds, s.Complete)
	}
	if len(s.Beside) > 0 || len(s.Cut) != 1 || s.Cut[0].Bounds.Attempts != 2 {
		t.Errorf("beside it %d searches are complete, and %d are not", len(s.Beside), len(s.Cut))
	}
	if in := weaker(parsOf(s), parsOf(s.Cut[0])); in != nil {
		t.Errorf("what had been found by then is lost: %v", in)
	}
}

// Every use of the bounds stands under what may happen, and every other that the lock
// offers under what was assumed; so do retries of the library.
func TestCertificateNamesUses(t *testing.T) {
	entry := racetest.Lock(t, "redisson-lease")
	for _, u := range []client.Uses{0, client.Renew, client.Renew | client.Reenter | client.GiveUp} {
		s := &search.Search{Lock: entry, Bounds: search.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 1, TTL: search.DefaultBounds().TTL, Uses: u, ClientRetries: 3}, Timing: search.AnyTiming}.Settled(entry), Result: &explore.Result{}}
		may, assumed := strings.Join(certificate.MayHappen(s, "en"), "\n"), strings.Join(certificate.Assumed(s, "en"), "\n")
		for use, phrase := range map[client.Uses]string{client.Renew: "renews its lease", client.Reenter: "acquires the lock once more", client.GiveUp: "deadline of its own"} {
			if got := strings.Contains(may, phrase); got != u.Has(use) {
				t.Errorf("uses %v: may happen, %s: %t\n%s", u.Names(), phrase, got, may)
			}
			out, _, _ := strings.Cut(assumed[strings.Index(assumed, "a client acquires"):], "\n")
			if got := strings.Contains(out, strings.Join(use.Names(), "")); got == u.Has(use) {
				t.Errorf("uses %v: assumed, without %v: %t\n%s", u.Names(), use.Names(), got, out)
			}
		}
		if !strings.Contains(may, "up to 3 times") || strings.Contains(assumed, "does not send again") {
			t.Errorf("the library's retries are not named:\n%s\n%s", may, assumed)
		}
	}
	s := &search.Search{Lock: entry, Bounds: search.DefaultBounds().Settled(entry), Result: &explore.Result{}}
	if assumed := strings.Join(certificate.Assumed(s, "en"), "\n"); !strings.Contains(assumed, "does not send again") {
		t.Errorf("that the library does not send again is not named:\n%s", assumed)
	}
}

// What a lock does not offer is refused by name, and left out of AllUses.
func TestUsesOffered(t *testing.T) {
	for id, want := range map[string]string{
		"token": "give-up", "daemon-10-owned": "renew give-up", "watchdog": "renew reenter give-up", "naive-wake": "wait give-up",
		"redlock-extend": "renew check give-up", "zk-naive": "check wait give-up", "reentrant": "reenter give-up",
	} {
		entry := racetest.Lock(t, id)
		offered, err := search.Offered(entry)
		if got := strings.Join(offered.Names(), " "); err != nil || got != want {
			t.Errorf("%s offers %s, %v, want %s", id, got, err, want)
		}
		b := everyTiming(entry, 2, 1, "")
		b.Uses = client.AllUses
		if settled := b.Settled(entry); settled.Uses != offered || b.Check(entry) != nil {
			t.Errorf("%s: all uses are %v, %v", id, settled.Uses.Names(), b.Check(entry))
		}
		for _, name := range client.UseNames() {
			b.Uses, _ = client.UseOf(name)
			if err := b.Check(entry); (err == nil) != offered.Has(b.Uses) {
				t.Errorf("%s: uses=%s: %v", id, name, err)
			}
		}
	}
}

// Skew breaks locks that compare times of two clients, once it is as long as a lease outlasts
// the work; and no lock that only measures how long something took.
func TestSkew(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	overlap := map[verdict.Word]int{verdict.Overlap: 0}
	for _, test := range []struct {
		id     string
		timing search.Mode
		skew   time.Duration
		want   map[verdict.Word]int // among others; nil: nothing
	}{
		{"getset", search.Lockstep, 2250 * time.Millisecond, nil},
		{"getset", search.Lockstep, 6 * time.Second, map[verdict.Word]int{verdict.Overlap: 0, verdict.WrongDel: 0}},
		{"takeover-del", search.Lockstep, 6 * time.Second, map[verdict.Word]int{verdict.Overlap: 0, verdict.WrongDel: 0}},
		{"client-expiry", search.AnyTiming, 1500 * time.Millisecond, nil},
		{"client-expiry", search.Lockstep, 6 * time.Second, overlap},
		{"token", search.AnyTiming, 9 * time.Second, nil},
		{"redlock", search.Lockstep, 3 * time.Second, nil},
	} {
		entry := racetest.Lock(t, test.id)
		b := small(entry, 2, 1, "")
		b.Nodes = min(entry.Servers(), 3)
		b.Timing, b.Retries, b.Skew = test.timing, search.AutoRetries, test.skew
		s := completed(t, entry, b)
		if test.want == nil && len(s.Found) > 0 {
			t.Errorf("%s with a skew of %v: found %v", test.id, test.skew, s.Found[0].Verdict)
		}
		for word, par := range test.want {
			i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == word && w.Par == par })
			if i < 0 {
				t.Errorf("%s with a skew of %v: no %s@%d", test.id, test.skew, word, par)
			}
		}
		replays(t, s)
		for text, is := range map[string]bool{
			"no client reads its clock":     !s.ReadsClock && !s.Measures,
			"use their clocks only to meas": s.Measures && s.Result.Grain == 0,
		} {
			if strings.Contains(certificate.Of(s, "en"), text) != is {
				t.Errorf("%s: the clock is read: %t, to measure: %t; the certificate:\n%s", test.id, s.ReadsClock, s.Measures, certificate.Of(s, "en"))
			}
		}
		if measures := test.id == "redlock"; (s.Measures && s.Result.Grain == 0) != measures {
			t.Errorf("%s uses its clock only to measure: %t", test.id, s.Measures)
		}
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
	entry := racetest.Lock(t, "naive-wake")
	b := small(entry, 2, 2, "")
	b.Uses, b.Slow = client.Wait, 24*time.Hour
	compare(t, entry, b)
	s := exploring(t, entry, b)
	i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == verdict.Slow })
	if i < 0 {
		t.Fatalf("found %v", s.Pars())
	}
	o := racetest.Must(search.ReplayOn(entry, s.Witnesses[i].Trace))(t)
	if !slices.Contains(o.Verdicts, verdict.Slow) || !slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool { return f.Verdict == verdict.Slow && f.Forever }) {
		t.Errorf("its run comes to %v, %v", o.Verdicts, o.Judgement.Findings)
	}
}

// Tokens that are not unique undo the check of the owner: its release is a bare DEL again.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		entry    lock.Entry
		tokens   client.Tokens
		wrongDel bool
		symmetry bool
	}{
		{racetest.Lock(t, "token"), client.Unique, false, true},
		{racetest.Lock(t, "token"), client.Thread, true, true},
		{racetest.Lock(t, "token"), client.Prefix, false, false},
		{racetest.Lock(t, "token"), client.Constant, true, true},
		{racetest.Lock(t, "token"), client.TimeOfDay, false, true}, // whoever gets the lock later draws another
		{racetest.Lock(t, "thread-id-lua"), client.Unique, false, true},
		{racetest.Lock(t, "thread-id-lua"), client.Thread, true, true},
		{racetest.Lock(t, "thread-id-lua"), client.Constant, true, true},
		{prefixed, client.Unique, false, true},
		{prefixed, client.Prefix, true, false},
		{prefixed, client.Constant, true, true},
	} {
		b := small(test.entry, 2, 1, "pause=1")
		b.Tokens, b.Retries = test.tokens, 2
		s := completed(t, test.entry, b)
		found := false
		for _, w := range s.Witnesses {
			found = found || w.Verdict == verdict.WrongDel && w.Par == 1
		}
		if found != test.wrongDel || s.Symmetry != test.symmetry {
			t.Errorf("%s with tokens %s: WRONG-DEL %t, symmetry %t", test.entry.ID, test.tokens, found, s.Symmetry)
		}
		if named := strings.Contains(certificate.Of(s, "en"), "lock is the id of its thread") || strings.Contains(certificate.Of(s, "en"), "one is a prefix") ||
			strings.Contains(certificate.Of(s, "en"), "take the same value") || strings.Contains(certificate.Of(s, "en"), "time of day in milliseconds"); named != (test.tokens != client.Unique) {
			t.Errorf("%s with tokens %s: the certificate:\n%s", test.entry.ID, test.tokens, certificate.Of(s, "en"))
		}
	}
}

// prefixed releases whatever begins with its token.
var prefixed = lock.Entry{ID: "prefixed", New: func(env lock.Env) lock.Lock { return &prefixLock{env.Nodes[0], env.Tokens.Token(), env} }}

type prefixLock struct {
	node  redis.UniversalClient
	token string
	env   lock.Env
}

func (l *prefixLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	switch err := l.node.Do(ctx, "SET", key, l.token, "NX", "PX", l.env.TTL.Milliseconds()).Err(); err {
	case nil:
		return prefixLease{l, key}, nil
	case redis.Nil:
		return nil, lock.ErrNotAcquired
	default:
		return nil, err
	}
}

type prefixLease struct {
	*prefixLock
	key string
}

func (l prefixLease) Release(ctx context.Context) error {
	return l.node.Eval(ctx, `
		local v = redis.call('GET', KEYS[1])
		if v and string.sub(v, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
		return 0`, []string{l.key}, l.token).Err()
}

// Tokens that make no difference to a lock are refused; the others are read as they are
// written.
func TestTokensThatAreRefused(t *testing.T) {
	for _, id := range []string{"token", "thread-id", "setnx", "watchdog", "zk-protected", "zk-naive", "redlock", "queue"} {
		takes := []client.Tokens{client.Thread, client.Prefix, client.Constant, client.TimeOfDay}
		switch id {
		case "thread-id":
			takes = []client.Tokens{client.Thread, client.Constant}
		case "setnx", "zk-naive":
			takes = nil
		}
		entry := racetest.Lock(t, id)
		for i, name := range client.TokensNames() {
			tokens, ok := client.TokensOf(name)
			if !ok || tokens != client.Tokens(i) || tokens.String() != name {
				t.Fatalf("tokens %q are %v, %t", name, tokens, ok)
			}
			b := search.DefaultBounds()
			b.Tokens = tokens
			want := tokens == client.Unique || slices.Contains(takes, tokens)
			if err := b.Check(entry); (err == nil) != want {
				t.Errorf("%s, tokens=%s: %v", id, name, err)
			}
			if got, err := search.ParseBounds(b.String()); err != nil || got.Tokens != tokens {
				t.Errorf("%s is read as %s, %v", b, got, err)
			}
		}
	}
}

// returning are bounds with one client that crashes and is started anew.
func returning(entry lock.Entry, clients int, tokens client.Tokens, timing search.Mode) search.Bounds {
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
		b := returning(entry, 1, test.tokens, search.AnyTiming)
		s, err := search.Explore(t.Context(), entry, b)
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
