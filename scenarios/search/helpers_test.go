package search_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/database"
	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// TestMain leaves the race detector the tests with goroutines of their own.
func TestMain(m *testing.M) {
	effort.Watch(m, "TestSearchOnTwoCores|TestInterruptedBeside|TestRealTime|FuzzReplay")
}

// exploring is a search that ends without an error.
func exploring(t testing.TB, entry lock.Entry, b search.Bounds) *search.Search {
	t.Helper()
	s, err := search.Explore(t.Context(), entry, b)
	if err != nil {
		t.Fatalf("%s, %v: %v", entry.ID, b, err)
	}
	return s
}

// completed is one that is complete.
func completed(t testing.TB, entry lock.Entry, b search.Bounds) *search.Search {
	t.Helper()
	s := exploring(t, entry, b)
	if !s.Complete {
		t.Fatalf("%s, %v: cut short after %d states, %v", entry.ID, b, s.States, s.Limit)
	}
	return s
}

// onProcs calls do with GOMAXPROCS set to n, and restores it.
func onProcs(n int, do func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	do()
}

// replays checks that each witness of a search can be played from its link, and comes to its verdict, without a word of
// what would have followed.
func replays(t *testing.T, s *search.Search) {
	t.Helper()
	for _, w := range s.Witnesses {
		trace := racetest.Must(simulator.ParseLink(w.Trace.Link()))(t)
		if o, err := search.ReplayOn(s.Lock, trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
			t.Errorf("%s, %v: the witness of %s comes to %v, %v", s.Lock.ID, s.Bounds, w.Verdict, o, err)
		} else if slices.ContainsFunc(o.Judgement.Findings,
			func(f verdict.Finding) bool { return f.Verdict == verdict.Unknown }) {
			t.Errorf("%s, %v: the witness of %s shows what it does not know: %+v", s.Lock.ID, s.Bounds, w.Verdict,
				o.Judgement.Findings)
		}
	}
}

// groups are locks that many tests ask for.
var groups = map[string]func() []lock.Entry{
	"every":    algorithms.All,
	"ensemble": zookeeper.All,
	"database": func() []lock.Entry {
		return append(lists.Pick(database.All(), func(e lock.Entry) bool {
			return e.ID != "db-get-lock-pool" && e.ID != "db-deadline" // its pings go on and on; it looks at its clock
		}), waitsInMariaDB, waitsInPostgreSQL)
	},
	"stamped": func() []lock.Entry {
		return lists.Pick(algorithms.All(), func(e lock.Entry) bool { return e.Expiry == lock.ExpiryClients })
	},
	"server-stamped":      one(serverStamped),
	"wary":                one(wary),
	"polling-slowly":      one(polling(2*time.Second, 3)),
	"polling-fast":        one(polling(400*time.Millisecond, 4)),
	"waits-in-mariadb":    one(waitsInMariaDB),
	"waits-in-postgresql": one(waitsInPostgreSQL),
	// A place, or a reply, names a client: code that makes a difference of it tells clients apart.
	"least-number": one(queueing(func(own string, all []string) bool {
		return slices.MinFunc(all,
			func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) }) == own
	})),
	"least-name":   one(queueing(func(own string, all []string) bool { return slices.Min(all) == own })),
	"first-listed": one(queueing(func(own string, all []string) bool { return all[0] == own })),
	"own-reply":    one(reading(func(holder, token string) bool { return holder == token })),
	"lesser-reply": one(reading(func(holder, token string) bool { return holder < token })),
	"first-client": one(reading(func(holder, _ string) bool { return strings.HasPrefix(holder, "c1.") })),
}

func one(e lock.Entry) func() []lock.Entry { return func() []lock.Entry { return []lock.Entry{e} } }

// serverStamped has the lease in its value, which the server compares with its own clock: the TTL does not show how
// much of the lease is left.
var serverStamped = taking("stamped", func(ctx context.Context, env lock.Env, key string) (bool, error) {
	n, err := env.Nodes[0].Eval(ctx, `local now = redis.call("TIME") now = now[1] * 1000 + math.floor(now[2] / 1000)
		if now < tonumber(redis.call("GET", KEYS[1]) or 0) then return 0 end
		redis.call("SET", KEYS[1], now + ARGV[1]) return now + ARGV[1]`, []string{key}, env.TTL.Milliseconds()).Int64()
	return n > 0, err
})

// wary works only if the server says that two thirds of the lease are left.
var wary = taking("wary", func(ctx context.Context, env lock.Env, key string) (bool, error) {
	ok, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
	if err != nil || !ok {
		return false, err
	}
	left, err := env.Nodes[0].PTTL(ctx, key).Result()
	return left >= env.TTL*2/3, err
})

// polling asks again after a pause, so many times.
func polling(pause time.Duration, times int) lock.Entry {
	return taking("polling", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		for range times {
			if ok, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result(); err != nil || ok {
				return ok, err
			}
			env.Clock.Sleep(pause)
		}
		return false, nil
	})
}

// locks are those of these names and groups; one with -patient behind it waits in the queue for 3 s.
func locks(t testing.TB, ids ...string) (entries []lock.Entry) {
	t.Helper()
	for _, id := range ids {
		if group := groups[id]; group != nil {
			entries = append(entries, group()...)
			continue
		}
		id, waits := strings.CutSuffix(id, "-patient")
		e := racetest.Lock(t, id)
		if waits {
			e = patient(e, 3*time.Second)
		}
		entries = append(entries, e)
	}
	return entries
}

// everyTiming are small bounds at any timing.
func everyTiming(entry lock.Entry, clients, attempts int, budget string) search.Bounds {
	b := small(entry, clients, attempts, budget)
	b.Timing = search.AnyTiming
	return b
}

// within are small bounds but for those that are written, as "clients=3 budget=crash=1".
func within(t testing.TB, entry lock.Entry, bounds string) search.Bounds {
	t.Helper()
	b := small(entry, 2, 1, "")
	if err := setAll(&b, bounds); err != nil {
		t.Fatal(err)
	}
	return b
}

func setAll(b *search.Bounds, bounds string) error {
	for item := range strings.FieldsSeq(bounds) {
		name, value, _ := strings.Cut(item, "=")
		if err := b.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// parsOf are the verdicts that a search and those beside it have found, each with its par.
func parsOf(s *search.Search) map[verdict.Word]int {
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

// tried is what a search within b finds, with the fewest faults of each; nil: it is not
// complete within some states.
func tried(t *testing.T, entry lock.Entry, b search.Bounds, states int) map[verdict.Word]int {
	t.Helper()
	b.MaxStates = states
	search := racetest.Must(b.Model(entry))(t)
	r, err := explore.Search(t.Context(), search)
	if errors.Is(err, explore.ErrReadsClock) {
		b.Idle = true
		return tried(t, entry, b, states)
	}
	if err != nil {
		t.Fatalf("%s, %v: %v", entry.ID, b, err)
	}
	if !r.Complete {
		return nil
	}
	pars := map[verdict.Word]int{}
	for _, w := range r.Found {
		pars[w.Verdict] = w.Par
	}
	return pars
}

type maker func(lock.Env) lock.Lock

// own is a lock that only a test uses.
func own(id string, create maker) lock.Entry {
	return lock.Entry{ID: id, Server: lock.OnRedis(1), Unit: time.Millisecond, New: create}
}

// acquiring is a lock made of a function.
type acquiring func(ctx context.Context, key string) (lock.Lease, error)

func (s acquiring) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return s(ctx, key)
}

// reporting is a lease made of a function.
type reporting func(context.Context) error

func (l reporting) Release(ctx context.Context) error { return l(ctx) }
func (l reporting) Reports()                          {}

// lost turns the result of a release script into the error of Release.
func lost(n int64, err error) error {
	switch {
	case err != nil && !errors.Is(err, redis.Nil):
		return err
	case err != nil || n == 0:
		return lock.ErrNotHeld
	}
	return nil
}

// deleting is a lease that DEL gives back.
func deleting(env lock.Env, key string) lock.Lease {
	return reporting(func(ctx context.Context) error { return lost(env.Nodes[0].Del(ctx, key).Result()) })
}

// taking is a lock that only a test uses: try takes it, and reports whether it has, and DEL gives it back.
func taking(id string, try func(ctx context.Context, env lock.Env, key string) (bool, error)) lock.Entry {
	return own(id, func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			taken, err := try(ctx, env, key)
			if err == nil && !taken {
				err = lock.ErrNotAcquired
			}
			return deleting(env, key), err
		})
	})
}

// otherwise is a lock by SET NX that only a test uses. It is also taken where it is refused, and force says so.
func otherwise(id string, force func(ctx context.Context, env lock.Env, key, token string) bool) lock.Entry {
	return taking(id, func(ctx context.Context, env lock.Env, key string) (bool, error) {
		token := env.Tokens.Token()
		made, err := env.Nodes[0].SetNX(ctx, key, token, env.TTL).Result()
		return made || err == nil && force(ctx, env, key, token), err
	})
}

// byScripts is a lock of two scripts with the key, the token and the TTL in milliseconds. The first returns 1 if the
// lock is taken.
func byScripts(id string, acquire, release string) lock.Entry {
	return own(id, func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			keys, args := []string{key}, []any{env.Tokens.Token(), env.TTL.Milliseconds()}
			if n, err := env.Nodes[0].Eval(ctx, acquire, keys, args...).Int(); err != nil || n != 1 {
				return nil, errors.Join(err, lock.ErrNotAcquired)
			}
			return reporting(func(ctx context.Context) error {
				return lost(env.Nodes[0].Eval(ctx, release, keys, args...).Int64())
			}), nil
		})
	})
}

// patient is a lock of which every attempt waits in the queue.
func patient(e lock.Entry, patience time.Duration) lock.Entry {
	e.ID += "-patient"
	inner := e.New
	e.New = func(env lock.Env) lock.Lock {
		held := inner(env).(lock.Queuer)
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			return held.Await(ctx, key, patience)
		})
	}
	return e
}

// reading is a lock that is also taken where mine says so of its holder.
func reading(mine func(holder, token string) bool) lock.Entry {
	return otherwise("reading", func(ctx context.Context, env lock.Env, key, token string) bool {
		holder, _ := env.Nodes[0].Get(ctx, key).Result()
		return mine(holder, token)
	})
}

// queueing is a lock on a ZooKeeper whose places bear their clients' names. first reports whether
// a place is the first of the children, in the order in which they were listed.
func queueing(first func(own string, children []string) bool) lock.Entry {
	root := func(string) string { return "/places" }
	e := own("queueing", func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			env.ZooKeeper.Create(ctx, root(key), lock.Persistent)
			path, err := env.ZooKeeper.Create(ctx, root(key)+"/"+env.Tokens.Token()+"-", lock.EphemeralSequential)
			if err != nil {
				return nil, err
			}
			leave := func(ctx context.Context) error { return env.ZooKeeper.Delete(ctx, path) }
			children, err := env.ZooKeeper.Children(ctx, root(key))
			if err == nil && len(children) > 0 && !first(strings.TrimPrefix(path, root(key)+"/"), children) {
				leave(ctx)
				err = lock.ErrNotAcquired
			}
			return reporting(leave), err
		})
	})
	e.Line, e.Expiry = root, lock.ExpirySession
	return e
}
