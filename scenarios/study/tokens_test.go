package study_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/verdict"
)

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
var prefixed = lock.Entry{ID: "prefixed", New: func(env lock.Env) lock.Strategy { return &prefixLock{env.Nodes[0], env.Tokens.Token(), env} }}

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
		takes := map[string][]client.Tokens{
			"token": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay}, "watchdog": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay},
			"redlock": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay}, "zk-protected": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay},
			"queue": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay}, "thread-id": {client.Thread, client.Constant},
		}[id]
		entry := racetest.Lock(t, id)
		for i, name := range client.TokensNames() {
			tokens, ok := client.TokensOf(name)
			if !ok || tokens != client.Tokens(i) || tokens.String() != name {
				t.Fatalf("tokens %q are %v, %t", name, tokens, ok)
			}
			b := study.DefaultBounds()
			b.Tokens = tokens
			want := tokens == client.Unique
			for _, take := range takes {
				want = want || take == tokens
			}
			if err := b.Check(entry); (err == nil) != want {
				t.Errorf("%s, tokens=%s: %v", id, name, err)
			}
			if got, err := study.ParseBounds(b.String()); err != nil || got.Tokens != tokens {
				t.Errorf("%s is read as %s, %v", b, got, err)
			}
		}
	}
	if _, err := study.ParseTokens("uniqe"); err == nil || !strings.Contains(text.SayError("en", err), "unique") {
		t.Errorf("tokens=uniqe: %v", err)
	}
}
