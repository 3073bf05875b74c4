package explore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

const number = `local function number(s) return tonumber(string.match(s, '%.(%d+)')) end local function process(s) return string.sub(s, 1, 2) end `

// afterLine writes the token into a line, and enters if a script that has no token of its own says so.
func afterLine(script string, own bool) func(f *asking, ctx context.Context, key string) (bool, error) {
	return refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		if err := f.node.RPush(ctx, key+":line", f.token).Err(); err != nil {
			return false, err
		}
		if err := f.node.LTrim(ctx, key+":line", -2, -1).Err(); err != nil {
			return false, err
		}
		args := []any{}
		if own {
			args = append(args, f.token)
		}
		n, err := f.node.Eval(ctx, number+script, []string{key, key + ":line"}, args...).Int64()
		return n == 1, err
	})
}

// standIns may fall by numbers of a counter, or by what only later attempts do.
var standIns = []struct {
	name              string
	budget            faults.Budget
	clients, attempts int
	timing            search.Mode
	code              code
}{
	{"a higher number than the owner's", "", 2, 2, search.AnyTiming, code{acquire: refused(byScript(number + `local who = redis.call('GET', KEYS[1])
		return who and number(ARGV[1]) > number(who) and 1 or 0`))}},
	{"two in line of one process, no own name", "", 2, 2, search.AnyTiming, code{acquire: afterLine(`local l = redis.call('LRANGE', KEYS[2], 0, -1)
		return #l == 2 and l[1] ~= l[2] and process(l[1]) == process(l[2]) and 1 or 0`, false)}},
	{"two in line of one other process", "", 3, 2, search.AnyTiming, code{acquire: refused(byScript(number + `
		redis.call('RPUSH', KEYS[1]..':line', ARGV[1])
		redis.call('LTRIM', KEYS[1]..':line', -3, -1)
		local l = redis.call('LRANGE', KEYS[1]..':line', 0, -1)
		return #l == 3 and l[1] ~= l[2] and process(l[1]) == process(l[2]) and process(l[1]) ~= process(ARGV[1]) and 1 or 0`))}},
	{"the fourth of a counter, for a script", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`return redis.call('INCR', KEYS[1]..':n') == 4 and 1 or 0`))}},
	{"each fourth of a counter, for a script", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`return redis.call('INCR', KEYS[1]..':n') % 4 == 0 and 1 or 0`))}},
	{"each fourth of a counter, for code", "", 5, 1, search.Lockstep, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		n, err := f.node.Incr(ctx, key+":n").Result()
		return n%4 == 0, err
	})}},
	{"a counter that saturates", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`local n = tonumber(redis.call('GET', KEYS[1]..':n') or '0') if n < 3 then redis.call('INCR', KEYS[1]..':n') end return n == 3 and 1 or 0`))}},
	{"token ends in 5, for a script", "", 2, 5, search.Lockstep, code{acquire: refused(byScript(`return string.sub(ARGV[1], -1) == '5' and 1 or 0`))}},
	{"watched counter", "", 3, 1, search.AnyTiming, code{acquire: refused(watchCounter)}},
	{"two counters, both far, for a script", "", 4, 1, search.Lockstep, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		if err := f.node.Incr(ctx, key+":a").Err(); err != nil {
			return false, err
		}
		if err := f.node.Incr(ctx, key+":b").Err(); err != nil {
			return false, err
		}
		n, err := f.eval(ctx, `return tonumber(redis.call('GET', KEYS[1]..':a')) >= 2 and tonumber(redis.call('GET', KEYS[1]..':b')) >= 2 and 1 or 0`, key)
		return n == 1, err
	})}},
	{"two counters, both far, for code", "", 4, 1, search.Lockstep, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		a, err := f.node.Incr(ctx, key+":a").Result()
		if err != nil {
			return false, err
		}
		b, err := f.node.Incr(ctx, key+":b").Result()
		return a >= 3 && b >= 3, err
	})}},
	{"two counters, both far, in one reply", "", 4, 1, search.Lockstep, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		l, err := f.node.Eval(ctx, `return {redis.call('INCR', KEYS[1]..':a'), redis.call('INCR', KEYS[1]..':b')}`, []string{key}).Int64Slice()
		return err == nil && l[0] >= 3 && l[1] >= 3, err
	})}},
	{"hash counter", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`return redis.call('HINCRBY', KEYS[1]..':n', 'x', 1) == 4 and 1 or 0`))}},
	{"far counter deletes at 0 after DECR", "", 4, 1, search.Lockstep, code{acquire: refused(byScript(
		`local n = redis.call('INCR', KEYS[1]..':n') if n >= 3 then redis.call('DECR', KEYS[1]..':n') redis.call('DECR', KEYS[1]..':n') return 1 end return 0`))}},
	{"INCRBY of a counter that starts at 5", "", 4, 1, search.Lockstep, code{acquire: refused(byScript(
		`redis.call('SET', KEYS[1]..':n', 5, 'NX') return redis.call('INCRBY', KEYS[1]..':n', 1) == 7 and 1 or 0`))}},
	{"GETSET of a counter", "", 4, 1, search.Lockstep, code{acquire: refused(byScript(
		`local n = tonumber(redis.call('GET', KEYS[1]..':n') or 0) return tonumber(redis.call('GETSET', KEYS[1]..':n', math.min(n + 1, 2)) or 0) == 2 and 1 or 0`))}},
	{"steps 1, 2, 3", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`local n = tonumber(redis.call('GET', KEYS[1]..':n') or 0) if n < 3 then redis.call('SET', KEYS[1]..':n', n + 1) end return n == 3 and 1 or 0`))}},
	{"steps 1, 2, 3, of code", "", 5, 1, search.Lockstep, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		n, err := f.node.Get(ctx, key+":n").Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return false, err
		}
		if n == 3 {
			return true, nil
		}
		return false, f.node.Incr(ctx, key+":n").Err()
	})}},
	{"counter with a time to live", "", 4, 1, search.Lockstep, code{acquire: refused(byScript(
		`local n = redis.call('INCR', KEYS[1]..':n') redis.call('PEXPIRE', KEYS[1]..':n', ARGV[2] / n) return n == 3 and 1 or 0`))}},
	{"two in line of unequal numbers, no own name", "", 2, 2, search.AnyTiming, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		if err := f.node.Set(ctx, key+":me", f.token, f.env.TTL).Err(); err != nil {
			return false, err
		}
		n, err := f.node.Eval(ctx, number+`local a, b = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[1]..':me') return a and b and number(a) ~= number(b) and 1 or 0`, []string{key}).Int64()
		return n == 1, err
	})}},
	{"owner and last refused of one process, no own name", "lose-reply=1", 2, 2, search.AnyTiming, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		if err := f.node.Set(ctx, key+":me", f.token, f.env.TTL).Err(); err != nil {
			return false, err
		}
		n, err := f.node.Eval(ctx, number+`local a, b = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[1]..':me') return a and b and process(a) == process(b) and 1 or 0`, []string{key}).Int64()
		return n == 1, err
	})}},
	{"last owner and last refused of one process, other than me", "", 3, 2, search.AnyTiming, code{acquire: byScript(number + `
		local o, r = redis.call('GET', KEYS[1]..':o'), redis.call('GET', KEYS[1]..':r')
		if redis.call('EXISTS', KEYS[1]) == 1 then
			if o and r and o ~= r and process(o) == process(r) and process(r) ~= process(ARGV[1]) then return 1 end
			redis.call('SET', KEYS[1]..':r', ARGV[1]) return 0 end
		redis.call('SET', KEYS[1]..':o', ARGV[1])
		redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`)}},
	{"memory in release only", "", 2, 3, search.Lockstep, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			if f.asked >= 1 {
				return true, nil
			}
			return f.set(ctx, key)
		},
		release: func(f *asking, ctx context.Context, key string) error {
			f.asked++
			return deleteOwn(f, ctx, key)
		}}},
	{"global memory in refusals only", "", 2, 2, search.AnyTiming, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		if _, ok := made.Load(f.falling); ok {
			return true, nil
		}
		taken, err := f.set(ctx, key)
		if !taken && err == nil {
			made.Store(f.falling, true)
		}
		return taken, err
	}}},
	{"global memory of releases only", "", 2, 2, search.AnyTiming, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			if _, ok := made.Load(f.falling); ok {
				return true, nil
			}
			return f.set(ctx, key)
		},
		release: func(f *asking, ctx context.Context, key string) error {
			made.Store(f.falling, true)
			return deleteOwn(f, ctx, key)
		}}},
	{"global memory of a branch of many", "", 2, 2, search.AnyTiming, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		if _, ok := made.Load(f.falling); ok {
			return true, nil
		}
		taken, err := f.set(ctx, key)
		if taken || err != nil {
			return taken, err
		}
		for i, name := range []string{"x", "y", "z"} {
			n, err := f.node.Exists(ctx, key, key+name).Result()
			if err != nil {
				return false, err
			}
			if n == 0 && i == 1 {
				made.Store(f.falling, true)
			}
		}
		return false, nil
	}}},
	{"waits for replicas", "", 2, 1, search.AnyTiming, code{
		release: func(f *asking, ctx context.Context, key string) error { return nil },
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			wait := func() (int, error) { return f.node.Do(ctx, "WAIT", 1, f.env.TTL.Milliseconds()/12).Int() }
			taken, err := f.node.SetNX(ctx, key, "x", 0).Result()
			if err != nil {
				return false, err
			}
			if taken { // for ever
				n, err := wait()
				return n == 1, err
			}
			for range 2 {
				if err := f.node.Incr(ctx, key+":n").Err(); err != nil {
					return false, err
				}
			}
			if n, err := wait(); n == 0 || err != nil {
				return false, err
			}
			if err := f.node.Incr(ctx, key+":n").Err(); err != nil {
				return false, err
			}
			n, err := wait()
			return n == 0, err // the replica lacks that it was counted
		}}},
	{"a counter beyond 0 is renewed for nothing", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`if redis.call('GET', KEYS[1]..':n') == '1' then redis.call('SET', KEYS[1]..':n', 2) return 0 end
		if redis.call('GET', KEYS[1]..':n') == '2' then redis.call('SET', KEYS[1]..':n', 3) return 0 end
		if redis.call('GET', KEYS[1]..':n') == '3' then return 1 end
		redis.call('SET', KEYS[1]..':n', 1) return 0`))}},
	{"three phases that are no counter", "", 5, 1, search.Lockstep, code{acquire: refused(byScript(
		`local n, next = redis.call('GET', KEYS[1]..':phase') or '0', {['0'] = '1', ['1'] = '2', ['2'] = '3'}
		if n == '3' then return 1 end
		if next[n] then redis.call('SET', KEYS[1]..':phase', next[n]) end return 0`))}},
	{"phases by code", "", 5, 1, search.Lockstep, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		for i, phase := range []string{"1", "2", "3"} {
			n, err := f.node.Get(ctx, key+":phase").Result()
			if errors.Is(err, redis.Nil) {
				n, err = "0", nil
			}
			if n == "3" || err != nil {
				return n == "3", err
			}
			if n == []string{"0", "1", "2"}[i] {
				return false, f.node.Set(ctx, key+":phase", phase, 0).Err()
			}
		}
		return false, nil
	})}},
	{"token of the sixth attempt's length, by code", "", 2, 2, search.AnyTiming, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		who, err := f.node.Get(ctx, key).Result()
		return err == nil && len(who) == len(f.token) && who[3:] < f.token[3:], err
	})}},
	{"a refused client's name at the server", "", 2, 2, search.AnyTiming, code{acquire: refused(byScript(number + `local old = redis.call('GET', KEYS[1]..':r')
		redis.call('SET', KEYS[1]..':r', ARGV[1])
		return old and number(old) < number(ARGV[1]) and process(old) ~= process(ARGV[1]) and 1 or 0`))}},
	{"a watched counter beyond the first", "", 3, 1, search.AnyTiming, code{
		release: func(f *asking, ctx context.Context, key string) error { return nil },
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.node.SetNX(ctx, key, "x", 0).Result()
			if err != nil || taken {
				return taken, err
			}
			for range 2 {
				if err := f.node.Incr(ctx, key+":n").Err(); err != nil {
					return false, err
				}
			}
			return watchCounter(f, ctx, key)
		}}},
	{"a counter that expires", "", 4, 1, search.AnyTiming, code{acquire: refused(byScript(
		`local n = redis.call('INCR', KEYS[1]..':n') if n == 1 then redis.call('PEXPIRE', KEYS[1]..':n', ARGV[2] / 3) end
		return n >= 2 and redis.call('PTTL', KEYS[1]..':n') <= ARGV[2] / 6 and 1 or 0`))}},
	{"one number higher than the owner's", "", 2, 2, search.AnyTiming, code{acquire: refused(byScript(number + `local who = redis.call('GET', KEYS[1])
		return who and number(ARGV[1]) - number(who) == 1 and 1 or 0`))}},
	{"a global variable of a lost reply", "lose-reply=1", 2, 2, search.AnyTiming, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			if _, ok := made.Load(f.falling); ok {
				return true, nil
			}
			return f.set(ctx, key)
		},
		release: func(f *asking, ctx context.Context, key string) error {
			if err := deleteOwn(f, ctx, key); err != nil {
				made.Store(f.falling, true)
			}
			return nil
		}}},
}

// TestViewsOfStandIns: a counter that stands still, and a first attempt of another client in place of a later one, are never the reason for which
// a harm is excluded for any number of clients, or by a search of any number of attempts.
func TestViewsOfStandIns(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for a minute; one goroutine searches")
	for _, c := range standIns {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			entry := fallingEntry(c.name, c.code)
			if strings.Contains(c.name, "replicas") {
				entry.Replicas = 1
			}
			b := search.DefaultBounds()
			b.Retries, b.Nodes, b.Work, b.Budget, b.MaxStates = 0, 1, 3*time.Second, c.budget, 300_000
			b.Timing, b.Clients, b.Attempts = c.timing, c.clients, c.attempts
			if !comesTo(t, entry, b, verdict.Overlap) {
				t.Fatalf("%d clients with %d attempts do not come to OVERLAP", c.clients, c.attempts)
			}
			for _, endless := range []bool{false, true}[:len(c.budget.Faults())+1] {
				proof, _ := proofOf(t, entry, viewBounds(c.budget), endless, 10_000)
				if proof.Closed && !slices.Contains(proof.Harms, verdict.Overlap) && (c.attempts == 1 || proof.Once.IsZero()) {
					t.Errorf("OVERLAP is excluded; endless %t, once %v, counters %d", endless, proof.Once.Key, proof.Covered.Assumed.Counters)
				}
			}
			if c.clients > 2 {
				return
			}
			b.Timing, b.Clients, b.Attempts, b.MaxStates = search.AnyTiming, 2, search.AnyAttempts, 100_000
			s, err := search.Explore(t.Context(), entry, b)
			if err != nil {
				t.Fatal(err)
			}
			if s.Complete && !slices.ContainsFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == verdict.Overlap }) {
				t.Error("OVERLAP is excluded by a search of any number of attempts")
			}
		})
	}
}

// watchCounter watches a counter, raises it, and counts in a transaction that fails: who fails enters.
func watchCounter(f *asking, ctx context.Context, key string) (bool, error) {
	if err := f.node.Incr(ctx, key+":n").Err(); err != nil {
		return false, err
	}
	err := f.node.Watch(ctx, func(tx *redis.Tx) error {
		if err := tx.Get(ctx, key).Err(); err != nil {
			return err
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Get(ctx, key+":x").Err() })
		return err
	}, key+":n")
	if errors.Is(err, redis.TxFailedErr) {
		return true, nil
	}
	return false, nil
}

// TestViewsOfNamesInTexts: tokens in the midst of texts, and numbers that nothing compares, are no reason for a refusal.
func TestViewsOfNamesInTexts(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for name, c := range map[string]code{
		"a token after an underscore": {acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			f.token = "owner_" + f.token
			return f.set(ctx, key)
		}},
		"token in JSON": {acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			f.token = `{"id":"` + f.token + `","n":1}`
			return f.set(ctx, key)
		}},
		"two tokens": {acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			f.token += ":" + f.env.Tokens.Token()
			return f.set(ctx, key)
		}},
		"numbers of refusals and of entries": {acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if err != nil {
				return false, err
			}
			return taken, f.node.Incr(ctx, key+map[bool]string{true: ":taken", false: ":refused"}[taken]).Err()
		}},
		"number of refusals": {acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if !taken && err == nil {
				err = f.node.Incr(ctx, key+":refused").Err()
			}
			return taken, err
		}},
		"number of owners and PTTL": {acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if taken && err == nil {
				err = f.node.Expire(ctx, key+":n", f.env.TTL).Err()
			}
			if taken && err == nil {
				err = f.node.Incr(ctx, key+":n").Err()
			}
			return taken, err
		}},
	} {
		if _, refused := proofOf(t, fallingEntry(name, c), viewBounds(""), false, 10_000); refused != "" {
			t.Errorf("%s: %s", name, refused)
		}
	}
}
