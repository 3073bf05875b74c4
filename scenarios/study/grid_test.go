package study_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
)

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

// TestCertificateNamesOddConstants: what is no whole number of steps of 750ms stands under
// what was assumed, with a step of all; and only where nothing is does it stand there that
// such steps suffice.
func TestCertificateNamesOddConstants(t *testing.T) {
	t.Parallel()
	const suffices, none, unseen = "Henzinger", "no step of at least", "is not seen"
	long := study.DefaultBounds().TTL
	for _, test := range []struct {
		name   string
		entry  lock.Entry
		budget string
		change func(*study.Bounds)
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
		{name: "odd lease", entry: racetest.Lock(t, "token"), change: func(b *study.Bounds) { b.TTL = 10 * time.Second }, want: []string{"the lease of 10s", "time to live of 10s", "625ms would be a step of all"}, not: []string{suffices}},
		{name: "odd work", entry: racetest.Lock(t, "token"), change: func(b *study.Bounds) { b.Work = time.Second }, want: []string{"works or does a part of its work for up to 1s", "500ms would be a step of all"}, not: []string{suffices}},
		{name: "odd fault", entry: racetest.Lock(t, "token"), budget: "pause=1@3100ms", want: []string{"3s for pause of 3.1s"}, not: []string{suffices, "not a whole number of steps"}},
		{name: "no whole step", entry: racetest.Lock(t, "token"), budget: "hang=1@500ms", want: []string{"0s for hang of 500ms"}},
		{name: "whole steps", entry: racetest.Lock(t, "token"), budget: "delay=1@3s", not: []string{"whole steps"}},
		{name: "odd fault and time to live", entry: odd(8900*time.Millisecond, false), budget: "pause=1@3150ms", want: []string{"3s for pause of 3.15s", none}, not: []string{suffices}},
	} {
		b := everyTiming(test.entry, 2, 1, test.budget)
		if test.change != nil {
			test.change(&b)
		}
		s := explored(t, test.entry, b)
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
