package contract_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

// careless is a token lock with one of several flaws. Each flaw is what some race
// tests, and none of the six locks has it.
type careless struct {
	env  lock.Env
	flaw flaw
}

type flaw string

const (
	flawless      flaw = "flawless"
	looksFirst    flaw = "release compares in one command and deletes in another"
	renewsTooLate flaw = "renews when a thirtieth of the lease is left"
	renewsAnybody flaw = "Renew extends the key without checking the owner"
	believesLate  flaw = "Renew succeeds although the answer came after the lease had ended"
	givesUp       flaw = "Renew deletes the key when it fails"
	renewsNothing flaw = "Renew creates the key again if it is gone"
)

func (c *careless) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &carelessLease{careless: c, key: key, token: c.env.Tokens.Token()}
	ttl := c.env.TTL
	switch err := c.env.Nodes[0].Do(ctx, "SET", key, l.token, "NX", "PX", ttl.Milliseconds()).Err(); {
	case errors.Is(err, redis.Nil):
		return nil, lock.ErrNotAcquired
	case err != nil:
		return nil, err
	}
	if c.flaw == renewsTooLate {
		l.timer = c.env.Clock.AfterFunc(ttl*29/30, func() { c.env.Nodes[0].PExpire(ctx, key, ttl) })
	}
	return l, nil
}

type carelessLease struct {
	*careless
	key, token string
	timer      clockwork.Timer
}

func (l *carelessLease) Release(ctx context.Context) error {
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.flaw == looksFirst {
		if is, err := l.env.Nodes[0].Get(ctx, l.key).Result(); err != nil || is != l.token {
			return lock.ErrNotHeld
		}
		return l.env.Nodes[0].Del(ctx, l.key).Err()
	}
	const mine = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`
	return l.env.Nodes[0].Eval(ctx, mine, []string{l.key}, l.token).Err()
}

// Renew implements [algorithms.Renewer].
func (l *carelessLease) Renew(ctx context.Context) error {
	prolong := `if redis.call("GET", KEYS[1]) == ARGV[1] then ` +
		`return redis.call("PEXPIRE", KEYS[1], ARGV[2]) else return 0 end`
	switch {
	case l.flaw == renewsAnybody:
		prolong = `return redis.call("PEXPIRE", KEYS[1], ARGV[2])`
	case l.flaw == renewsNothing:
		prolong = `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 else return 0 end`
	}
	asked := l.env.Clock.Now()
	done, err := l.env.Nodes[0].Eval(ctx, prolong, []string{l.key}, l.token, l.env.TTL.Milliseconds()).Int()
	switch late := l.env.Clock.Now().Sub(asked) >= l.env.TTL; {
	case err != nil && l.flaw == givesUp:
		_ = l.Release(ctx) // the error is told
	case err == nil && (done == 0 || late && l.flaw != believesLate):
		return lock.ErrNotHeld
	}
	return err
}

// TestScenariosFindWhatTheyAreFor: each of the six locks holds in late-release and
// late-renewal, and all locks hold in renew-held and renew-free. A lock with the flaw of
// such a race fails in it, and the same lock without the flaw holds.
func TestScenariosFindWhatTheyAreFor(t *testing.T) {
	for _, f := range []struct {
		raceID string
		flaw   flaw
		want   []verdict.Word
	}{
		{"late-release", looksFirst, []verdict.Word{verdict.Overlap, verdict.WrongDel}},
		{"late-release", flawless, []verdict.Word{verdict.Holds}},
		{"late-renewal", renewsTooLate, []verdict.Word{verdict.Overlap}},
		{"late-renewal", flawless, []verdict.Word{verdict.NA}},
		{"renew-held", renewsAnybody, []verdict.Word{verdict.Overlap, verdict.WrongDel}},
		{"renew-held", renewsNothing, []verdict.Word{verdict.Holds}},
		{"renew-held", flawless, []verdict.Word{verdict.Holds}},
		{"renew-free", renewsNothing, []verdict.Word{verdict.StaleWrite}},
		{"renew-free", renewsAnybody, []verdict.Word{verdict.Holds}},
		{"renew-free", flawless, []verdict.Word{verdict.Holds}},
		{"renew-late", believesLate, []verdict.Word{verdict.Overlap, verdict.StaleWrite}},
		{"renew-late", flawless, []verdict.Word{verdict.Holds}},
		{"renew-partly", givesUp, []verdict.Word{verdict.Overlap}},
		{"renew-partly", flawless, []verdict.Word{verdict.Holds}},
	} {
		e := lock.Entry{ID: "careless", Server: lock.OnRedis(1), Unit: time.Millisecond, TTL: 10 * time.Second}
		e.New = func(env lock.Env) lock.Lock { return &careless{env, f.flaw} }
		_, sc := racetest.Cell(t, "token", f.raceID)
		o := racetest.Must(race.Play(e, sc, sc.Settings))(t)
		for _, w := range f.want {
			if !slices.Contains(o.Verdicts, w) {
				t.Errorf("%s where %s: %v, want %v", f.raceID, f.flaw, o.Verdicts, f.want)
			}
		}
		if !o.Triggered || o.NotInjected != nil {
			t.Errorf("%s where %s: reached %t, could not happen: %v", f.raceID, f.flaw, o.Triggered, o.NotInjected)
		}
	}
}
