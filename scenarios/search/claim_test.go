package search_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
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
		s.Witnesses = append(s.Witnesses, search.Witness{Witness: w, Trace: simulator.Trace{Settings: s.Bounds.String()}})
	}
	return s
}

// What a search beside the one that is proved has found stands in the headline, and whether
// clocks or lives of keys were looked at.
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
			made:   madeSearch(racetest.Lock(t, "redlock"), "clients=2,attempts=1,timing=any,budget=crash=1+pause=1", measures, verdict.Overlap, verdict.StaleWrite),
			beside: []*search.Search{madeSearch(racetest.Lock(t, "redlock"), "clients=2,attempts=1,timing=any,nodes=3,uses=check,budget=crash=1+pause=1", measures, verdict.Overlap, verdict.Lie)},
			want:   "Found within these bounds, for 2 clients with 1 attempt each, at the instants searched: OVERLAP, STALE-WRITE can occur, and no other failure that was looked for, if its code does the same at every time of day; another search found LIE as well (the instants searched, servers: 3, clients that also check).",
		},
		"zk-mutex": {
			made:   madeSearch(racetest.Lock(t, "zk-mutex"), "clients=2,attempts=1,timing=any,budget=pause=1", explore.Result{}, verdict.Overlap),
			beside: []*search.Search{madeSearch(racetest.Lock(t, "zk-mutex"), "clients=2,attempts=2,budget=pause=1", explore.Result{}, verdict.Overlap)},
			cut:    []*search.Search{madeSearch(racetest.Lock(t, "zk-mutex"), "clients=2,attempts=2,uses=check+wait,budget=pause=1", explore.Result{}, verdict.Deadlock)},
			want:   "Found within these bounds, for 2 clients with 1 attempt each, at any timing: OVERLAP can occur, and no other failure that was looked for; another search found DEADLOCK as well (lockstep, 2 attempts each, clients that also check, wait).",
		},
		"watchdog": {
			made: madeSearch(racetest.Lock(t, "watchdog"), "clients=2,attempts=2,timing=any,budget=hang=1@9s", asks, verdict.Orphan),
			cut: []*search.Search{
				madeSearch(racetest.Lock(t, "watchdog"), "clients=2,attempts=1,timing=any,uses=renew,budget=hang=1@9s", asks, verdict.Overlap, verdict.Orphan),
				madeSearch(racetest.Lock(t, "watchdog"), "clients=2,attempts=2,budget=hang=1@9s", explore.Result{}, verdict.Overlap, verdict.WrongDel),
			},
			want: "Found within these bounds, for 2 clients with 2 attempts each, at the instants searched: ORPHAN can occur, and no other failure that was looked for; another search found OVERLAP as well (the instants searched, 1 attempt each, clients that also renew); another search found WRONG-DEL as well (lockstep).",
		},
		"token": {
			made: madeSearch(racetest.Lock(t, "token"), "clients=1,attempts=1", explore.Result{}),
			want: "Searched within these bounds, for 1 client with 1 attempt each, in lockstep only: no failure that was looked for can occur; " +
				"OVERLAP cannot be judged with 1 client: it takes 2.",
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

// Code that compares an elapsed time, or what is left of a key's life, with constants off the steps
// may break between the instants that are searched, and its proof is of these only.
func TestClaimOfInstants(t *testing.T) {
	t.Parallel()
	refused := func(asks func(env lock.Env, key string)) lock.Entry {
		return own("asking", func(env lock.Env) lock.Lock {
			return plain(env, env.Tokens.Token, func(_ context.Context, key string) { asks(env, key) })
		})
	}
	for name, test := range map[string]struct {
		entry lock.Entry
		scope string
		epoch bool
	}{
		"elapsed time": {clocked(func(before, after time.Time) bool {
			off := after.Sub(before) % (750 * time.Millisecond)
			return off > 100*time.Millisecond && off < 700*time.Millisecond
		}), search.ScopeInstants, true},
		"date": {clocked(func(_, after time.Time) bool { return after.Year() == 1970 }), search.ScopeInstants, true},
		"PTTL": {refused(func(env lock.Env, key string) { env.Nodes[0].PTTL(t.Context(), key) }), search.ScopeInstants, false},
		"PTTL in a script": {refused(func(env lock.Env, key string) {
			env.Nodes[0].Eval(t.Context(), "return redis.call('pttl', KEYS[1])", []string{key})
		}), search.ScopeInstants, false},
		"TIME in a script": {refused(func(env lock.Env, key string) {
			env.Nodes[0].Eval(t.Context(), "return redis.call('time')[1]", []string{key})
		}), search.ScopeInstants, true},
		"nothing": {refused(func(lock.Env, string) {}), search.ScopeAny, false},
	} {
		b := search.DefaultBounds()
		b.Attempts, b.Uses, b.Budget, b.Timing, b.Nodes = 1, 0, "", search.AnyTiming, 1
		s := exploring(t, test.entry, b)
		head, _, _ := strings.Cut(certificate.Of(s, "en"), "\n")
		if s.Scope() != test.scope || strings.Contains(head, "at the instants searched, ") != (test.scope == search.ScopeInstants) || strings.Contains(head, "at any timing, ") != (test.scope == search.ScopeAny) {
			t.Errorf("%s: %s", name, head)
		}
		if strings.Contains(certificate.Of(s, "en"), "2026-05-28 20:26:40 UTC") != test.epoch {
			t.Errorf("%s: whether the certificate says when clocks begin:\n%s", name, certificate.Of(s, "en"))
		}
	}
}

// A search that comes from another machine says the same.
func TestClaimTravels(t *testing.T) {
	t.Parallel()
	entry := racetest.Lock(t, "token")
	s := madeSearch(entry, "clients=2,attempts=1,timing=any,budget=crash=1", explore.Result{}, verdict.Overlap)
	s.Beside = []*search.Search{madeSearch(entry, "clients=2,attempts=2,budget=crash=1", explore.Result{}, verdict.Lie)}
	s.Witnesses = append(s.Witnesses, s.Beside[0].Witnesses...)
	b, err := json.Marshal(s)
	var got search.Search
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	got.SetLock(entry)
	for _, lang := range []string{"en", "zh"} {
		if certificate.Of(&got, lang) != certificate.Of(s, lang) {
			t.Errorf("from another machine:\n%s\nwant\n%s", certificate.Of(&got, lang), certificate.Of(s, lang))
		}
	}
}

// odd is a lock that asks for a time to live of so long, looks at what is left of it, or
// not, and sleeps before it asks again, as often as there are sleeps.
func odd(ttl time.Duration, looks bool, sleeps ...time.Duration) lock.Entry {
	return taking("odd", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		node, token := env.Nodes[0], env.Tokens.Token()
		ok, err := node.SetNX(ctx, key, token, ttl).Result()
		for _, d := range sleeps {
			if err != nil || ok {
				break
			}
			env.Clock.Sleep(d)
			ok, err = node.SetNX(ctx, key, token, ttl).Result()
		}
		if err == nil && ok && looks {
			left, failed := node.PTTL(ctx, key).Result()
			ok, err = left > 700*time.Millisecond, failed
		}
		return ok, err
	})
}

// scripted is a lock whose script knows the time to live, which no argument does.
func scripted() lock.Entry {
	const script = `if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then return redis.call('pexpire', KEYS[1], 8 * 1100 + 100) end return 0`
	return taking("scripted", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		n, err := env.Nodes[0].Eval(ctx, script, []string{key}, env.Tokens.Token()).Int()
		return n > 0, err
	})
}

// TestCodeThatLooksIntoItsToken: code that takes a lock by force where its token ends in 7, which no search draws, is proved on condition that it
// does the same with others, and a tolerance gives no answer; of one that only passes its token on, which was tried, that is the condition.
func TestCodeThatLooksIntoItsToken(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"7", "x"} {
		e := taking("looks", func(ctx context.Context, env lock.Env, key string) (bool, error) {
			token := env.Tokens.Token()
			if strings.HasSuffix(token, end) {
				return true, env.Nodes[0].Set(ctx, key, token, env.TTL).Err()
			}
			return env.Nodes[0].SetNX(ctx, key, token, env.TTL).Result()
		})
		s := exploring(t, e, everyTiming(e, 2, 1, ""))
		limit := racetest.Must(study.UsualRivals().Limit(t.Context(), e, study.Hazard{Fault: "client-clock", Sized: true}))(t)
		looks, condition := end == "7", map[bool]string{true: "looks", false: "compares"}[end == "7"]
		if !slices.Equal(s.If(), []string{condition}) || (limit.Answer == study.NoAnswer) != looks {
			t.Errorf("a token that ends in %s: %v if %v; when a clock jumps: %s", end, s.Looked(), s.If(), limit.Answer)
		}
	}
}

// TestCertificateNamesOddConstants: what is no whole number of steps of 750ms stands under
// what was assumed, with a step of all; and only where nothing is does it stand there that
// such steps suffice.
func TestCertificateNamesOddConstants(t *testing.T) {
	t.Parallel()
	const suffices, none, unseen = "Henzinger", "no step of at least", "is not seen"
	long := search.DefaultBounds().TTL
	for _, test := range []struct {
		name   string
		entry  lock.Entry
		budget string
		change func(*search.Bounds)
		want   []string
		not    []string
	}{
		{name: "token", entry: racetest.Lock(t, "token"), want: []string{suffices}, not: []string{"not a whole number of steps", unseen}},
		{name: "odd time to live", entry: odd(8900*time.Millisecond, false), want: []string{"time to live of 8.9s (SET", "100ms would be a step of all"}, not: []string{suffices, unseen, "sleeps"}},
		{name: "odd time to live in a script", entry: scripted(), want: []string{"time to live of 8.9s (EVAL", "100ms would be a step of all"}, not: []string{suffices}},
		{name: "many sleeps", entry: odd(long, false, 250*time.Millisecond, 500*time.Millisecond, 750*time.Millisecond, time.Second, 1250*time.Millisecond), want: []string{"for 250ms to 1.25s (4 different", "250ms would be a step of all"}, not: []string{suffices, unseen}},
		{name: "odd sleep", entry: odd(long, false, 1250*time.Millisecond), want: []string{"sleeps or sets a timer for 1.25s", "250ms would be a step of all"}, not: []string{suffices, "live of"}},
		{name: "whole sleep", entry: odd(long, false, 1500*time.Millisecond), want: []string{suffices}, not: []string{"not a whole number of steps"}},
		{name: "no step of all", entry: odd(long, false, 7*time.Millisecond), want: []string{"for 7ms", none}, not: []string{suffices}},
		{name: "looks at the rest", entry: odd(long, true), want: []string{unseen}, not: []string{suffices, "not a whole number of steps"}},
		{name: "odd lease", entry: racetest.Lock(t, "token"), change: func(b *search.Bounds) { b.TTL = 10 * time.Second }, want: []string{"the lease of 10s", "time to live of 10s", "625ms would be a step of all"}, not: []string{suffices}},
		{name: "odd work", entry: racetest.Lock(t, "token"), change: func(b *search.Bounds) { b.Work = time.Second }, want: []string{"works or does a part of its work for up to 1s", "500ms would be a step of all"}, not: []string{suffices}},
		{name: "odd fault", entry: racetest.Lock(t, "token"), budget: "pause=1@3100ms", want: []string{"3s for pause of 3.1s"}, not: []string{suffices, "not a whole number of steps"}},
		{name: "no whole step", entry: racetest.Lock(t, "token"), budget: "hang=1@500ms", want: []string{"0s for hang of 500ms"}},
		{name: "whole steps", entry: racetest.Lock(t, "token"), budget: "delay=1@3s", not: []string{"whole steps"}},
		{name: "odd fault and time to live", entry: odd(8900*time.Millisecond, false), budget: "pause=1@3150ms", want: []string{"3s for pause of 3.15s", none}, not: []string{suffices}},
	} {
		b := everyTiming(test.entry, 2, 1, test.budget)
		if test.change != nil {
			test.change(&b)
		}
		s := exploring(t, test.entry, b)
		if !s.Complete {
			t.Fatalf("%s: the search was cut short", test.name)
		}
		assumed := strings.Join(certificate.Assumed(s, "en"), "\n")
		for _, phrase := range test.want {
			if !strings.Contains(assumed, phrase) {
				t.Errorf("%s: the certificate lacks %q:\n%s", test.name, phrase, assumed)
			}
		}
		for _, phrase := range test.not {
			if strings.Contains(assumed, phrase) {
				t.Errorf("%s: the certificate says %q:\n%s", test.name, phrase, assumed)
			}
		}
	}
}
