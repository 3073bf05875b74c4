package search_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// clocked is SET NX by a client that is let in as well if its clock says so, when it has been
// refused and has then slept for 1.5 s.
func clocked(late func(before, after time.Time) bool) lock.Entry {
	return taking("clocked", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		before := env.Clock.Now()
		made, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
		if err != nil || made {
			return made, err
		}
		env.Clock.Sleep(1500 * time.Millisecond)
		return late(before, env.Clock.Now()), nil
	})
}

// written is a lock that writes down when its lease ends, and takes over the lease of another where over says so.
func written(unit time.Duration, over func(now, stamp int64) bool) lock.Entry {
	return taking("written", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		now := func() int64 { return env.Clock.Now().UnixNano() / int64(unit) }
		mine := now() + int64(env.TTL/unit)
		made, err := env.Nodes[0].SetNX(ctx, key, mine, 0).Result()
		if err == nil && !made {
			if stamp, wrong := env.Nodes[0].Get(ctx, key).Int64(); wrong == nil && over(now(), stamp) {
				made, err = true, env.Nodes[0].Set(ctx, key, mine, 0).Err()
			}
		}
		return made, err
	})
}

// scripted is a lock whose script writes down the time of the client unless it holds the lock.
func scripted(holds string) lock.Entry {
	script := `local held = redis.call('get', KEYS[1]) if held and ` + holds + ` then return 0 end
		redis.call('set', KEYS[1], ARGV[1]) return 1`
	return taking("scripted", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		made, err := env.Nodes[0].Eval(ctx, script, []string{key}, env.Clock.Now().UnixMilli()).Int()
		return made > 0, err
	})
}

// rowed is a lock whose rows hold when a lease ends. It writes down the end as until says, of which that end is the
// argument, and takes over where ended, of which the present is the argument, and over say so, which look at the end of
// another.
func rowed(until, ended string, over func(until int64) bool) lock.Entry {
	entry := own("rowed", func(env lock.Env) lock.Lock {
		changed := func(ctx context.Context, statement string, args ...any) (n int64, err error) {
			r, err := env.DB.ExecContext(ctx, statement, args...)
			if err == nil {
				n, err = r.RowsAffected()
			}
			return n, err
		}
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			now, token := env.Clock.Now(), env.Tokens.Token()
			end := now.Add(env.TTL).UnixMilli()
			n, err := changed(ctx, "INSERT IGNORE INTO locks (name, owner, until_ms) VALUES (?, ?, "+until+")",
				key, token, end)
			if err == nil && n == 0 {
				held, of := int64(0), env.DB.QueryRowContext(ctx, "SELECT until_ms FROM locks WHERE name = ?", key)
				if err = of.Scan(&held); err == nil && over(held) {
					n, err = changed(ctx, "UPDATE locks SET owner = ?, until_ms = "+until+
						" WHERE name = ? AND until_ms = ? AND "+ended, token, end, key, held, now.UnixMilli())
				}
			}
			if err == nil && n == 0 {
				err = lock.ErrNotAcquired
			}
			return reporting(func(ctx context.Context) error {
				return lost(changed(ctx, "UPDATE locks SET owner = NULL, until_ms = ? WHERE name = ? AND owner = ?",
					env.Clock.Now().UnixMilli(), key, token))
			}), err
		})
	})
	entry.Database, entry.Expiry = lock.MySQL, lock.ExpiryClients
	return entry
}

// TestTimeOfDay: code that only measures with its clock, or compares time stamps with each other and with its clock,
// does the same at any time of day, which is no part of a state then. Code, or a server, that looks at the time or at a
// stamp otherwise is found out. In either case a search finds what it finds with the time of day.
func TestTimeOfDay(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	const ms = time.Millisecond
	day, always := simulator.Epoch, func(int64) bool { return true }
	budgets := []string{"pause=1@5s"}
	if effort.Exhaustive() {
		budgets = append(budgets, "", "crash=1", "pause=1@10s", "client-clock=1@10s")
	}
	for name, test := range map[string]struct {
		entry lock.Entry
		day   bool          // the time of day is part of a state
		grain time.Duration // of stamps; 0: there are none
	}{
		"longer than 3 s":    {clocked(func(a, b time.Time) bool { return b.Sub(a) > 3*time.Second }), false, 0},
		"it does not matter": {clocked(func(_, _ time.Time) bool { return false }), false, 0},
		"seconds in whole":   {clocked(func(a, b time.Time) bool { return b.Unix()-a.Unix() > 1 }), true, 0},
		"after a date": {clocked(func(_, b time.Time) bool { return b.After(day.Add(15 * time.Second)) }),
			true, 0},
		"in the next minute": {clocked(func(_, after time.Time) bool { return after.Minute() != day.Minute() }),
			true, 0},
		"on another day":     {clocked(func(_, after time.Time) bool { return after.Day() != day.Day() }), true, 0},
		"at the full second": {clocked(func(_, after time.Time) bool { return after.Nanosecond() == 0 }), true, 0},
		"at minute 3, once":  {clocked(func(before, _ time.Time) bool { return before.Minute() == 3 }), true, 0},
		"at noon":            {clocked(func(_, after time.Time) bool { return after.Hour() == 12 }), true, 0},
		"on Thursdays": {clocked(func(_, after time.Time) bool { return after.Weekday() == time.Thursday }),
			true, 0},
		"from 2040 on":  {clocked(func(_, after time.Time) bool { return after.Year() >= 2040 }), true, 0},
		"stamp is over": {written(ms, func(now, stamp int64) bool { return now > stamp }), false, ms},
		"over, in seconds": {written(time.Second, func(now, stamp int64) bool { return now > stamp }),
			false, time.Second},
		"over, in nanos": {written(time.Nanosecond, func(now, stamp int64) bool { return now > stamp }),
			false, ms},
		"has 2 s left":        {written(ms, func(now, stamp int64) bool { return stamp-now < 2000 }), false, ms},
		"in even seconds":     {written(time.Second, func(_, stamp int64) bool { return stamp%2 == 0 }), true, 0},
		"in the first minute": {written(ms, func(_, stamp int64) bool { return stamp < 1_780_000_060_000 }), true, 0},
		"a year later":        {written(ms, func(now, _ int64) bool { return now > 1_811_536_000_000 }), true, 0},
		"with a 9 in it": {written(ms, func(_, stamp int64) bool {
			return strings.Contains(strconv.FormatInt(stamp, 10), "9")
		}), true, 0},
		"script: younger":       {scripted(`tonumber(held) >= tonumber(ARGV[1])`), false, ms},
		"script: a remainder":   {scripted(`tonumber(held) % 2000 ~= 0`), true, 0},
		"script: a digit":       {scripted(`string.sub(held, 10, 10) == '0'`), true, 0},
		"script: a hidden date": {scripted(`tonumber(held) < 178 * 10 ^ 10 + 300000`), true, 0},
		"script: an expiry":     {scripted(`redis.call('pexpireat', KEYS[1], tonumber(ARGV[1]) + 3000)`), true, 0},
		"server's clock":        {serverStamped, true, 0},
		"row is over":           {rowed("?", "until_ms <= ?", always), false, ms},
		"row 2000 s earlier":    {rowed("? - 2 * 1000000", "until_ms <= ?", always), false, ms},
		"row in even ms":        {rowed("?", "until_ms <= ?", func(until int64) bool { return until%2 == 0 }), true, 0},
		"row: a constant date":  {rowed("?", "until_ms < 1780000300000 AND ? > 0", always), true, 0},
		"row: a multiple": {rowed("?", "(until_ms - 1780000 * 1000000) * 2 <= ? - 1780000 * 1000000", always),
			true, 0},
		"row from a date": {rowed("? - 1780000 * 1000000", "until_ms <= ? - 1780000 * 1000000", always), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, budget := range budgets {
				b := small(test.entry, 2, 2, budget)
				if test.entry.Database != "" {
					b.Attempts = 1
				}
				got := searched(t, test.entry, b, nil)
				want := searched(t, test.entry, b, func(o *explore.Options) { o.Plain.Clocks = true })
				if listed(prices(got)) != listed(prices(want)) {
					t.Errorf("%s: found\n%s\nwith the time of day\n%s",
						budget, listed(prices(got)), listed(prices(want)))
				}
				if got.ReadsClock != test.day || got.Measures == test.day || got.Grain != test.grain {
					t.Errorf("%s: the time of day is part of the state: %t; it only measures: %t; grain %v", budget,
						got.ReadsClock, got.Measures, got.Grain)
				}
			}
		})
	}
}

// TestTimeOfDayToTheEnd: what code does in its very last step is checked as well: SET NX by a client that asks for the
// key some times, and for the hour at the end of its release.
func TestTimeOfDayToTheEnd(t *testing.T) {
	t.Parallel()
	for asks := range 30 { // so that the last step comes at any time after the search has checked last
		entry := own("forgetful", func(env lock.Env) lock.Lock {
			return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
				env.Clock.Now() // the search begins anew at the first reading
				made, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
				if err == nil && !made {
					err = lock.ErrNotAcquired
				}
				return reporting(func(ctx context.Context) error {
					err := lost(env.Nodes[0].Del(ctx, key).Result())
					for range asks {
						env.Nodes[0].Get(ctx, key)
					}
					if env.Clock.Now().Hour() == 0 {
						err = lock.ErrNotHeld
					}
					return err
				}), err
			})
		})
		if r := searched(t, entry, small(entry, 1, 1, ""), nil); r.Measures {
			t.Errorf("after %d requests: code that asks for the hour only measures", asks)
		}
	}
}
