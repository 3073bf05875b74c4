package search_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
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
		if err == nil && !made {
			env.Clock.Sleep(1500 * time.Millisecond)
			made = late(before, env.Clock.Now())
		}
		return made, err
	})
}

// withClocks makes a search, and compares it with one in which the time of day is part of every state.
func withClocks(t *testing.T, name string, entry lock.Entry, b search.Bounds) (got, want *explore.Result) {
	t.Helper()
	got = searched(t, entry, b, nil)
	want = searched(t, entry, b, func(o *explore.Options) { o.Plain.Clocks = true })
	if listed(prices(got)) != listed(prices(want)) {
		t.Errorf("%s, %s: found\n%s\nwith the time of day\n%s", name, b.Budget, listed(prices(got)), listed(prices(want)))
	}
	return got, want
}

// Code that uses its clock only to measure does not depend on the time of day, and the time of
// day is no part of a state. Code that does otherwise is found out, whatever it looks at. In
// either case the search finds what it finds with the time of day.
func TestMeasures(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	day := simulator.Epoch
	for name, test := range map[string]struct {
		late     func(before, after time.Time) bool
		measures bool
	}{
		"longer than 3 s":     {func(before, after time.Time) bool { return after.Sub(before) > 3*time.Second }, true},
		"milliseconds":        {func(before, after time.Time) bool { return after.UnixMilli()-before.UnixMilli() > 3000 }, true},
		"seconds in whole":    {func(before, after time.Time) bool { return after.Unix()-before.Unix() > 1 }, false},
		"after a date":        {func(_, after time.Time) bool { return after.After(day.Add(15 * time.Second)) }, false},
		"in even 10 s":        {func(_, after time.Time) bool { return after.Unix()/10%2 == 0 }, false},
		"in the next minute":  {func(_, after time.Time) bool { return after.Minute() != day.Minute() }, false},
		"in the next hour":    {func(_, after time.Time) bool { return after.Hour() != day.Hour() }, false},
		"on another day":      {func(_, after time.Time) bool { return after.Day() != day.Day() }, false},
		"seven minutes past":  {func(_, after time.Time) bool { return after.Minute() == 7 }, false},
		"at the full second":  {func(_, after time.Time) bool { return after.Nanosecond() == 0 }, false},
		"at second 37":        {func(_, after time.Time) bool { return after.Second() == 37 }, false},
		"at minute 41 or 42":  {func(_, after time.Time) bool { return after.Minute() == 41 || after.Minute() == 42 }, false},
		"at minute 3, once":   {func(before, _ time.Time) bool { return before.Minute() == 3 }, false},
		"at noon":             {func(_, after time.Time) bool { return after.Hour() == 12 }, false},
		"on Thursdays":        {func(_, after time.Time) bool { return after.Weekday() == time.Thursday }, false},
		"from 2040 on":        {func(_, after time.Time) bool { return after.Year() >= 2040 }, false},
		"in February":         {func(_, after time.Time) bool { return after.Month() == time.February }, false},
		"in another year":     {func(before, after time.Time) bool { return before.Year() != after.Year() }, false},
		"it does not matter":  {func(_, _ time.Time) bool { return false }, true},
		"as long as it likes": {func(_, _ time.Time) bool { return true }, true},
	} {
		entry := clocked(test.late)
		for _, budget := range []string{"", "pause=1@5s", "client-clock=1@10s"} {
			got, want := withClocks(t, name, entry, small(entry, 2, 2, budget))
			if got.Measures != test.measures || got.ReadsClock == test.measures {
				t.Errorf("%s, %s: it measures: %v, it reads its clock: %v", name, budget, got.Measures, got.ReadsClock)
			}
			if !want.ReadsClock || want.Measures {
				t.Errorf("%s, %s: with the time of day it measures: %v, it reads its clock: %v", name, budget, want.Measures, want.ReadsClock)
			}
		}
	}
}

// TestMeasuresToTheEnd: what code does in its very last step is checked as well.
func TestMeasuresToTheEnd(t *testing.T) {
	t.Parallel()
	entry := func(asks int) lock.Entry {
		return own("forgetful", func(env lock.Env) lock.Lock { return forgetful(env, asks) })
	}
	for asks := range 30 { // so that the last step comes at any time after the search has checked last
		if r := searched(t, entry(asks), small(entry(asks), 1, 1, ""), nil); r.Measures {
			t.Errorf("after %d requests: code that asks for the hour only measures", asks)
		}
	}
}

// forgetful is SET NX by a client that asks for the key so often, and for the hour at the end of
// its release.
func forgetful(env lock.Env, asks int) lock.Lock {
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
}

// Every lock, without the time of day and with it. In lockstep they find the same. At any timing
// clients that look at the time of day want the lock within a bound, and the others whenever they
// like, so that these may find more.
func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	entries, budgets := []lock.Entry{racetest.Lock(t, "redlock"), racetest.Lock(t, "spin")}, []string{"pause=1"}
	if effort.Exhaustive() {
		entries, budgets = algorithms.All(), append(budgets, "crash=1", "client-clock=1@10s", "delay=1@3s")
	}
	const most = 20_000
	measure := 0
	for _, entry := range entries {
		for _, budget := range budgets {
			b := small(entry, 2, 1, budget)
			cut := func(o *explore.Options) { o.MaxStates = most }
			r := searchedUpTo(t, entry, b, cut)
			if !r.Measures || !r.Complete {
				continue
			}
			measure++
			dated := searchedUpTo(t, entry, b, func(o *explore.Options) { o.MaxStates, o.Plain.Clocks = 3*most, true })
			if !dated.Complete || listed(prices(dated)) != listed(prices(r)) || r.States > dated.States {
				t.Errorf("%s, %s: %d states, found\n%s\nwith the time of day %d, and\n%s", entry.ID, budget, r.States, listed(prices(r)), dated.States, listed(prices(dated)))
			}
			if b.Timing, b.Idle = search.AnyTiming, r.Grain > 0; budget != "crash=1" {
				continue
			}
			r = searchedUpTo(t, entry, b, cut)
			if !r.Complete || r.States > most/3 { // the other has twenty times as many
				continue
			}
			b.Idle = true
			dated = searchedUpTo(t, entry, b, func(o *explore.Options) { o.MaxStates, o.Plain.Clocks = 5*most, true })
			t.Logf("%s, %s, any timing: %d states, with the time of day %d (complete %v)", entry.ID, budget, r.States, dated.States, dated.Complete)
			found := prices(r)
			for word, price := range prices(dated) {
				if mine, ok := found[word]; !ok || mine.par > price.par {
					t.Errorf("%s, %s, any timing: %s@%d, with the time of day only", entry.ID, budget, word, price.par)
				}
			}
		}
	}
	if measure == 0 {
		t.Error("no lock measures")
	}
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

// aged checks a search of a lock that looks at time stamps: their grain is 0 where it looks at the time of day itself.
func aged(t *testing.T, name string, entry lock.Entry, b search.Bounds, grain time.Duration) {
	t.Helper()
	if got, _ := withClocks(t, name, entry, b); got.Grain != grain || got.ReadsClock == (grain > 0) {
		t.Errorf("%s, %s: grain %v, want %v; the time of day is part of the state: %t", name, b.Budget, got.Grain, grain, got.ReadsClock)
	}
}

// Code that compares time stamps with each other and with its clock does the same at any time of day, and the time
// of day is no part of a state. Code that looks at them otherwise is found out. In either case the search finds what
// it finds with the time of day.
func TestStamps(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	t.Parallel()
	has := func(n int64, digits string) bool { return strings.Contains(strconv.FormatInt(n, 10), digits) }
	for name, test := range map[string]struct {
		unit  time.Duration
		over  func(now, stamp int64) bool
		grain time.Duration
	}{
		"is over":             {time.Millisecond, func(now, stamp int64) bool { return now > stamp }, time.Millisecond},
		"is over, seconds":    {time.Second, func(now, stamp int64) bool { return now > stamp }, time.Second},
		"is over, nanos":      {time.Nanosecond, func(now, stamp int64) bool { return now > stamp }, time.Millisecond},
		"has 2 s left":        {time.Millisecond, func(now, stamp int64) bool { return stamp-now < 2000 }, time.Millisecond},
		"never":               {time.Millisecond, func(int64, int64) bool { return false }, time.Millisecond},
		"in even seconds":     {time.Millisecond, func(_, stamp int64) bool { return stamp/1000%2 == 0 }, 0},
		"in even seconds, s":  {time.Second, func(_, stamp int64) bool { return stamp%2 == 0 }, 0},
		"in the first minute": {time.Millisecond, func(_, stamp int64) bool { return stamp < 1_780_000_060_000 }, 0},
		"a year later":        {time.Millisecond, func(now, _ int64) bool { return now > 1_811_536_000_000 }, 0},
		"at noon":             {time.Millisecond, func(now, _ int64) bool { return time.UnixMilli(now).UTC().Hour() == 12 }, 0},
		"with a 9 in it":      {time.Millisecond, func(_, stamp int64) bool { return has(stamp, "9") }, 0},
		"in half a second":    {time.Millisecond, func(_, stamp int64) bool { return stamp%1000 < 500 }, 0},
		"fifteen seconds in":  {time.Millisecond, func(now, _ int64) bool { return now > 1_780_000_015_000 }, 0},
	} {
		entry := written(test.unit, test.over)
		for _, budget := range []string{"crash=1", "pause=1@10s", "client-clock=1@10s"} {
			aged(t, name, entry, small(entry, 2, 2, budget), test.grain)
		}
	}
}

// TestStampsInScripts: a server that looks at a stamp otherwise than by comparing it with another is found out as well.
func TestStampsInScripts(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	for script, grain := range map[string]time.Duration{
		`local held = redis.call('get', KEYS[1]) if held and tonumber(held) >= tonumber(ARGV[1]) then return 0 end redis.call('set', KEYS[1], ARGV[1]) return 1`:          time.Millisecond,
		`local held = redis.call('get', KEYS[1]) if held and tonumber(held) % 2000 ~= 0 then return 0 end redis.call('set', KEYS[1], ARGV[1]) return 1`:                   0,
		`local held = redis.call('get', KEYS[1]) if held and string.sub(held, 10, 10) == '0' then return 0 end redis.call('set', KEYS[1], ARGV[1]) return 1`:              0,
		`local held = redis.call('get', KEYS[1]) if held and tonumber(held) < 1780000300000 then return 0 end redis.call('set', KEYS[1], ARGV[1]) return 1`:               0,
		`local held = redis.call('get', KEYS[1]) if held and tonumber(held) < 178 * 10 ^ 10 + 300000 then return 0 end redis.call('set', KEYS[1], ARGV[1]) return 1`:      0,
		`if redis.call('exists', KEYS[1]) == 1 then return 0 end redis.call('set', KEYS[1], string.sub(ARGV[1], 1, 12)) return 1`:                                         0,
		`if redis.call('exists', KEYS[1]) == 1 then return 0 end redis.call('set', KEYS[1], ARGV[1]) redis.call('pexpireat', KEYS[1], tonumber(ARGV[1]) + 3000) return 1`: 0,
	} {
		run := redis.NewScript(script)
		entry := taking("scripted", func(ctx context.Context, env lock.Env, key string) (bool, error) {
			made, err := run.Eval(ctx, env.Nodes[0], []string{key}, env.Clock.Now().UnixMilli()).Int()
			return made > 0, err
		})
		aged(t, script, entry, small(entry, 2, 2, "pause=1@5s"), grain)
	}
}

// rowed is a lock whose rows hold when a lease ends. It writes down the end as until says, of which that end is the argument, and takes over
// where ended, of which the present is the argument, and over say so, which look at the end of another.
func rowed(until, ended string, over func(now, until int64) bool) lock.Entry {
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
			n, err := changed(ctx, "INSERT IGNORE INTO locks (name, owner, until_ms) VALUES (?, ?, "+until+")", key, token, end)
			if err == nil && n == 0 {
				held := int64(0)
				if err = env.DB.QueryRowContext(ctx, "SELECT until_ms FROM locks WHERE name = ?", key).Scan(&held); err == nil && over(now.UnixMilli(), held) {
					n, err = changed(ctx, "UPDATE locks SET owner = ?, until_ms = "+until+" WHERE name = ? AND until_ms = ? AND "+ended,
						token, end, key, held, now.UnixMilli())
				}
			}
			if err == nil && n == 0 {
				err = lock.ErrNotAcquired
			}
			return reporting(func(ctx context.Context) error {
				return lost(changed(ctx, "UPDATE locks SET owner = NULL, until_ms = ? WHERE name = ? AND owner = ?", env.Clock.Now().UnixMilli(), key, token))
			}), err
		})
	})
	entry.Database, entry.Expiry = lock.MySQL, lock.ExpiryClients
	return entry
}

// TestStampsInRows: the integers in the rows of a database are time stamps as texts are, and a server or a client that looks at them otherwise
// than by comparing them is found out.
func TestStampsInRows(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	t.Parallel()
	ended, always := "until_ms <= ?", func(_, _ int64) bool { return true }
	for name, test := range map[string]struct {
		until, ended string
		over         func(now, until int64) bool
		grain        time.Duration
	}{
		"is over":              {"?", ended, always, time.Millisecond},
		"is over for 2 s":      {"?", "until_ms + 2000 <= ?", always, time.Millisecond},
		"was over for 2 s":     {"?", ended, func(now, until int64) bool { return now > until+2000 }, time.Millisecond},
		"2000 s earlier":       {"? - 2 * 1000000", ended, always, time.Millisecond},
		"in even milliseconds": {"?", ended, func(_, until int64) bool { return until%2 == 0 }, 0},
		"in even seconds":      {"?", ended, func(_, until int64) bool { return until/1000%2 == 0 }, 0},
		"fifteen seconds in":   {"?", ended, func(now, _ int64) bool { return now > 1_780_000_015_000 }, 0},
		"a constant date":      {"?", "until_ms < 1780000300000 AND ? > 0", always, 0},
		"a hidden date":        {"?", "until_ms < 1780000 * 1000000 + 300000 AND ? > 0", always, 0},
		"a multiple":           {"?", "(until_ms - 1780000 * 1000000) * 2 <= ? - 1780000 * 1000000", always, 0},
		"counts from a date":   {"? - 1780000 * 1000000", "until_ms <= ? - 1780000 * 1000000", always, 0},
	} {
		entry := rowed(test.until, test.ended, test.over)
		for _, budget := range []string{"crash=1", "pause=1@10s", "client-clock=1@10s"} {
			aged(t, name, entry, small(entry, 2, 1, budget), test.grain)
		}
	}
}

// TestStampsAtAnyTiming: the locks that write down times, at any timing, without the time of day and with it.
func TestStampsAtAnyTiming(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	entries, budgets := []lock.Entry{racetest.Lock(t, "getset"), racetest.Lock(t, "getset-timeout"), racetest.Lock(t, "db-deadline")}, []string{"crash=1"}
	if effort.Exhaustive() {
		entries, budgets = algorithms.All(), append(budgets, "lose-reply=1", "client-clock=1@3s", "return=1")
	}
	stamped := 0
	for _, entry := range entries {
		if entry.Expiry != lock.ExpiryClients {
			continue
		}
		for _, budget := range budgets {
			b := small(entry, 2, 1, budget)
			b.Timing, b.Idle = search.AnyTiming, true
			r := searchedUpTo(t, entry, b, func(o *explore.Options) { o.MaxStates = 60_000 })
			if r.Grain == 0 || !r.Complete {
				continue
			}
			stamped++
			dated := searchedUpTo(t, entry, b, func(o *explore.Options) { o.MaxStates, o.Plain.Clocks = 1_000_000, true })
			if !dated.Complete || listed(prices(dated)) != listed(prices(r)) || r.States > dated.States {
				t.Errorf("%s, %s: %d states, found\n%s\nwith the time of day %d, and\n%s", entry.ID, budget, r.States, listed(prices(r)), dated.States, listed(prices(dated)))
			}
		}
	}
	if stamped < 3 {
		t.Errorf("%d searches were compared", stamped)
	}
}
