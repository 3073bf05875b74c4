package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/node"
	"locklab/simulator/verdict"
)

// madeSearch is a complete search that has found some verdicts.
func madeSearch(entry lock.Entry, bounds string, of explore.Result, words ...verdict.Word) *search.Search {
	b, err := search.ParseBounds(bounds)
	if err != nil {
		panic(err)
	}
	of.Complete = true
	for _, w := range words {
		of.Found = append(of.Found, explore.Witness{Verdict: w, Par: 1})
	}
	s := &search.Search{Lock: entry, Bounds: b.Settled(entry), Result: &of}
	for _, w := range of.Found {
		s.Witnesses = append(s.Witnesses,
			search.Witness{Witness: w, Trace: simulator.Trace{Settings: s.Bounds.String()}})
	}
	return s
}

// TestClaimNamesWhatOthersFound: what a search beside the one that is proved has found stands in the headline, and
// whether clocks or lives of keys were looked at.
func TestClaimNamesWhatOthersFound(t *testing.T) {
	t.Parallel()
	measures := explore.Result{Measures: true}
	asks := explore.Result{Lengths: []node.Length{{Of: node.Remainders}}}
	for id, test := range map[string]struct {
		made        *search.Search
		beside, cut []*search.Search
		want        string
	}{
		"redlock": {
			made: madeSearch(racetest.Lock(t, "redlock"),
				"clients=2,attempts=1,timing=any,budget=crash=1+pause=1", measures, verdict.Overlap,
				verdict.StaleWrite),
			beside: []*search.Search{madeSearch(racetest.Lock(t, "redlock"),
				"clients=2,attempts=1,timing=any,nodes=3,uses=check,budget=crash=1+pause=1", measures, verdict.Overlap,
				verdict.Lie)},
			want: "Found OVERLAP, STALE-WRITE, LIE. For 2 clients with 1 attempt each, at the instants searched: " +
				"OVERLAP, STALE-WRITE, and nothing else that was looked for, if its code does the same at every " +
				"time of day; by another search (the instants searched, servers: 3, clients that also check): LIE.",
		},
		"watchdog": {
			made: madeSearch(racetest.Lock(t, "watchdog"), "clients=2,attempts=2,timing=any,budget=hang=1@9s", asks,
				verdict.Orphan),
			cut: []*search.Search{
				madeSearch(racetest.Lock(t, "watchdog"),
					"clients=2,attempts=1,timing=any,uses=renew,budget=hang=1@9s", asks, verdict.Overlap,
					verdict.Orphan),
				madeSearch(racetest.Lock(t, "watchdog"), "clients=2,attempts=2,budget=hang=1@9s", explore.Result{},
					verdict.Overlap, verdict.WrongDel),
			},
			want: "Found ORPHAN, OVERLAP, WRONG-DEL. For 2 clients with 2 attempts each, at the instants searched: " +
				"ORPHAN, and nothing else that was looked for; by another search (the instants searched, 1 attempt " +
				"each, clients that also renew): OVERLAP; by another search (lockstep): WRONG-DEL.",
		},
		"lock-delay": { // nothing, but for what another search has found
			made: madeSearch(racetest.Lock(t, "lock-delay"), "clients=2,attempts=2,budget=pause=1", explore.Result{}),
			beside: []*search.Search{madeSearch(racetest.Lock(t, "lock-delay"),
				"clients=2,attempts=1,timing=any,budget=pause=1", explore.Result{}, verdict.Overlap)},
			want: "Found OVERLAP. For 2 clients with 2 attempts each, in lockstep only: nothing that was looked for; " +
				"by another search (any timing, 1 attempt each): OVERLAP.",
		},
		"token": {
			made: madeSearch(racetest.Lock(t, "token"), "clients=1,attempts=1", explore.Result{}),
			want: "Searched within these bounds, for 1 client with 1 attempt each, in lockstep only: " +
				"no failure that was looked for can occur; OVERLAP cannot be judged with 1 client: it takes 2.",
		},
	} {
		s := test.made
		s.Beside, s.Cut = test.beside, test.cut
		for _, o := range slices.Concat(s.Beside, s.Cut) {
			s.Witnesses = append(s.Witnesses, o.Witnesses...)
		}
		head, _, _ := strings.Cut(certificate.Of(s, "en"), "\n")
		if want := s.Lock.Heading() + ": " + test.want; head != want {
			t.Errorf("%s: the headline is\n%s\nwant\n%s", id, head, want)
		}
	}
}

// TestClaimOfInstants: code that compares an elapsed time, or what is left of a key's life, with constants off the
// steps may break between the instants that are searched, and its proof is of these only.
func TestClaimOfInstants(t *testing.T) {
	t.Parallel()
	script := func(script string) lock.Entry {
		return otherwise("asking", func(ctx context.Context, env lock.Env, key, _ string) bool {
			env.Nodes[0].Eval(ctx, script, []string{key})
			return false
		})
	}
	for name, test := range map[string]struct {
		entry lock.Entry
		scope string
		epoch bool // the certificate says when clocks begin
	}{
		"elapsed time": {clocked(func(a, b time.Time) bool { // 750ms are a step
			off := b.Sub(a) % (750 * time.Millisecond)
			return off > 100*time.Millisecond && off < 700*time.Millisecond
		}), search.ScopeInstants, true},
		"date": {clocked(func(_, b time.Time) bool { return b.Year() == 1970 }),
			search.ScopeInstants, true},
		"PTTL in a script": {script("return redis.call('pttl', KEYS[1])"), search.ScopeInstants, false},
		"TIME in a script": {script("return redis.call('time')[1]"), search.ScopeInstants, true},
		"nothing":          {script("return 0"), search.ScopeAny, false},
	} {
		s := exploring(t, test.entry, everyTiming(test.entry, 2, 1, ""))
		said := certificate.Of(s, "en")
		head, _, _ := strings.Cut(said, "\n")
		if s.Scope() != test.scope || strings.Contains(head,
			"at the instants searched, ") == (test.scope == search.ScopeAny) {
			t.Errorf("%s: %s", name, head)
		}
		if strings.Contains(said, "2026-05-28 20:26:40 UTC") != test.epoch {
			t.Errorf("%s: whether the certificate says when clocks begin:\n%s", name, said)
		}
	}
}

// TestCodeThatLooksIntoItsToken: code that takes a lock by force where its token ends in 7, which no search draws, is
// proved on condition that it does the same with others; of one that only passes its token on, which was tried, that is
// the condition.
func TestCodeThatLooksIntoItsToken(t *testing.T) {
	t.Parallel()
	for end, condition := range map[string]string{"7": "looks", "x": "compares"} {
		e := taking("looks", func(ctx context.Context, env lock.Env, key string) (bool, error) {
			token := env.Tokens.Token()
			if strings.HasSuffix(token, end) {
				return true, env.Nodes[0].Set(ctx, key, token, env.TTL).Err()
			}
			return env.Nodes[0].SetNX(ctx, key, token, env.TTL).Result()
		})
		if s := exploring(t, e, everyTiming(e, 2, 1, "")); !slices.Equal(s.If(), []string{condition}) {
			t.Errorf("a token that ends in %s: %v if %v", end, s.Looked(), s.If())
		}
	}
}

// odd is a lock that asks for a time to live of so long, and again after each sleep.
func odd(ttl time.Duration, sleeps ...time.Duration) lock.Entry {
	return taking("odd", func(ctx context.Context, env lock.Env, key string) (ok bool, err error) {
		for _, d := range append([]time.Duration{0}, sleeps...) {
			env.Clock.Sleep(d)
			if ok, err = env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), ttl).Result(); ok || err != nil {
				break
			}
		}
		return ok, err
	})
}

// TestGrid: lengths that are no whole number of steps of 750 ms are named, with a step of all, and stand under what was
// assumed.
func TestGrid(t *testing.T) {
	t.Parallel()
	long := search.DefaultBounds().TTL
	byScript := byScripts("scripted", `if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then
		return redis.call('pexpire', KEYS[1], 8 * 1100 + 100) end return 0`, givesOwn)
	token, milli := racetest.Lock(t, "token"), time.Millisecond
	for _, test := range []struct {
		entry  lock.Entry
		bounds string
		want   string // lengths, faults that are rounded, and the step of all; "0s": none
		said   string // in the certificate
	}{
		{token, "", "[] [] 750ms", "Henzinger"},
		{odd(8900 * milli), "", "[8.9s] [] 100ms", "time to live of 8.9s (SET"},
		{byScript, "", "[8.9s] [] 100ms", "time to live of 8.9s (EVAL"},
		{odd(long, 250*milli, 500*milli, 750*milli, time.Second, 1250*milli), "", "[250ms 500ms 1s 1.25s] [] 250ms",
			"for 250ms to 1.25s (4 different"},
		{odd(long, 1250*milli), "", "[1.25s] [] 250ms", "sleeps or sets a timer for 1.25s"},
		{odd(long, 1500*milli), "", "[] [] 750ms", "Henzinger"},
		{odd(long, 7*milli), "", "[7ms] [] 0s", "no step of at least"},
		{wary, "", "[] [] 750ms", "is not seen"},
		{token, "ttl=10s", "[] [] 1s", "Henzinger"}, // a tenth, not a twelfth
		{token, "ttl=10004ms", "[10.004s 10.004s] [] 244ms", "the lease of 10.004s"},
		{token, "work=1s", "[1s] [] 500ms", "works or does a part of its work for up to 1s"},
		{token, "budget=pause=1@3100ms", "[] [3.1s] 100ms", "3s for pause of 3.1s"},
		{token, "budget=hang=1@500ms", "[] [500ms] 500ms", "0s for hang of 500ms"},
		{token, "budget=delay=1@3s", "[] [] 750ms", "Henzinger"},
		{odd(8900 * milli), "budget=pause=1@3150ms", "[8.9s] [3.15s] 0s", "3s for pause of 3.15s"},
	} {
		b := within(t, test.entry, "timing=any "+test.bounds)
		s := completed(t, test.entry, b)
		g := s.Grid(racetest.Must(s.Bounds.Model(test.entry))(t))
		var off, rounded []time.Duration
		if g.OffLease > 0 {
			off = append(off, g.OffLease)
		}
		for _, one := range slices.Concat(g.Off...) {
			off = append(off, one.D)
		}
		for _, f := range g.Rounded {
			rounded = append(rounded, f.Max)
		}
		assumed := strings.Join(certificate.Assumed(s, "en"), "\n")
		got := fmt.Sprint(off, " ", rounded, " ", g.Finer)
		if got != test.want || !strings.Contains(assumed, test.said) {
			t.Errorf("%s, %s: %s, want %s, and that it says %q:\n%s",
				test.entry.ID, test.bounds, got, test.want, test.said, assumed)
		}
	}
}
