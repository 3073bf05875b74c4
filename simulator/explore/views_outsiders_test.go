package explore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator/verdict"
)

// fallingLocks are those of TestViewsOfFallingLocks. Two clients with one attempt each do not come to the harm by the few faults;
// these clients, attempts and faults do, in a search of this timing (lockstep if it is none).
var fallingLocks = []struct {
	name              string
	harm              verdict.Word
	few               faults.Budget
	clients, attempts int
	budget            faults.Budget
	timing            search.Mode
	work              time.Duration // inside; 0: a third of a lease
	code              code
}{
	// Counters and marks of refused clients, which a view of one client does not count.
	{"the third enters", verdict.Overlap, "", 3, 1, "", search.Lockstep, 0, code{acquire: third(enters)}},
	{"the third deletes", verdict.WrongDel, "", 3, 1, "", search.Lockstep, 0, code{acquire: third(deletes)}},
	{"the third leaves its key", verdict.Orphan, "", 3, 1, "", search.AnyTiming, 0, code{acquire: third(sets)}},
	{"the fourth enters", verdict.StaleWrite, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			return f.full(ctx, key, ":a", ":b"), nil
		})}},
	{"the fifth keeps", verdict.Deadlock, "crash=1", 5, 1, "crash=1", search.Lockstep, 0, code{
		acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			if !f.full(ctx, key, ":a", ":b", ":c") {
				return false, nil
			}
			return false, f.node.Persist(ctx, key).Err()
		})}},
	// The second refused client takes the end from the key, and its owner then believes the key to be another's.
	{"two refused keep", verdict.Deadlock, "", 3, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`if redis.call('SETNX', KEYS[1]..':a', 1) == 0 then
			redis.call('SET', KEYS[1]..':b', 1) redis.call('PERSIST', KEYS[1]) end return 0`)),
		release: givingBack(`if redis.call('EXISTS', KEYS[1]..':b') == 1 then return 1 end ` + own)}},
	// Three that look alike wait at the same time; each goes away again.
	{"three wait at once", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			n, err := f.node.Incr(ctx, key+":waiting").Result()
			if err != nil || n >= 3 {
				return n >= 3, err
			}
			f.env.Clock.Sleep(f.env.TTL / 12)
			return false, f.node.Decr(ctx, key+":waiting").Err()
		})}},
	// The lock is a counter in two bits: with the owner and two that have not gone back yet, the fourth reads 1.
	{"a counter overflows", verdict.Overlap, "", 4, 1, "", search.AnyTiming, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			const add = `local n = ((redis.call('GET', KEYS[1]) or 0) + ARGV[3]) % 3 redis.call('SET', KEYS[1], n) return n`
			n, err := f.eval(ctx, add, key, 1)
			if n != 1 && err == nil {
				_, err = f.eval(ctx, add, key, 2)
			}
			return n == 1, err
		},
		release: givingBack(`redis.call('SET', KEYS[1], (redis.call('GET', KEYS[1]) + 2) % 3) return 1`)}},
	// The marks are not in keys that a refused client names, but in how many keys there are.
	{"a full database", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`redis.call('SET', KEYS[1]..':'..redis.call('DBSIZE'), 1) return redis.call('DBSIZE') >= 4 and 1 or 0`))}},
	// The marks are not in keys: they are scripts that the server has cached.
	{"cached scripts", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
			for _, script := range []*redis.Script{redis.NewScript("return 7"), redis.NewScript("return 8")} {
				if known, err := cached(f, ctx, script); !known {
					return false, cmp.Or(err, script.Load(ctx, f.node).Err())
				}
			}
			return true, nil
		})}},

	// Names of clients that have gone: a set counts them, and an abstraction may forget or merge them.
	{"two names", verdict.Overlap, "", 3, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`redis.call('HSET', KEYS[1]..':seen', ARGV[1], 1)
			return redis.call('HLEN', KEYS[1]..':seen') == 2 and redis.call('DEL', KEYS[1]..':seen') or 0`))}},
	{"three names", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`redis.call('SADD', KEYS[1]..':seen', ARGV[1])
			return redis.call('SCARD', KEYS[1]..':seen') == 3 and redis.call('DEL', KEYS[1]..':seen') or 0`))}},
	{"all names", verdict.WrongDel, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`redis.call('HSET', KEYS[1]..':seen', ARGV[1], 1)
			if redis.call('HLEN', KEYS[1]..':seen') >= 3 then redis.call('DEL', KEYS[1]) end return 0`))}},
	// It falls if the last two owners, both gone, were two.
	{"two old owners differ", verdict.Overlap, "", 4, 1, "", search.AnyTiming, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local last, before = redis.call('GET', KEYS[1]..':last'), redis.call('GET', KEYS[1]..':before')
			if last then redis.call('SET', KEYS[1]..':before', last) end
			redis.call('SET', KEYS[1]..':last', ARGV[1])
			if last and before and last ~= before then return 1 end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`)}},
	// Only the names of three, by the alphabet, show that a server compares them for more than equality.
	{"three names in disorder", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`redis.call('RPUSH', KEYS[1]..':line', ARGV[1])
			local l = redis.call('LRANGE', KEYS[1]..':line', 0, -1)
			if #l > 3 then redis.call('LPOP', KEYS[1]..':line') end
			return #l == 3 and l[1] < l[3] and l[3] < l[2] and 1 or 0`))}},
	{"the middle of three names", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: refused(byScript(`redis.call('ZADD', KEYS[1]..':line', 0, ARGV[1])
			if redis.call('ZCARD', KEYS[1]..':line') < 3 then return 0 end
			local at = redis.call('ZRANK', KEYS[1]..':line', ARGV[1])
			redis.call('ZREM', KEYS[1]..':line', ARGV[1])
			return at == 1 and 1 or 0`))}},
	// The owner has a second key by its name, whose name the server makes up, and in which two may knock.
	{"the third knocks", verdict.Overlap, "", 4, 1, "", search.Lockstep, 0, code{
		acquire: byScript(`local who = redis.call('GET', KEYS[1])
			if who then return redis.call('DECR', KEYS[1]..':'..who) < 0 and 1 or 0 end
			redis.call('SET', KEYS[1]..':'..ARGV[1], 2, 'PX', ARGV[2])
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`),
		release: givingBack(`redis.call('DEL', KEYS[1]..':'..ARGV[1]) ` + own)}},

	// Later owners: what the first two do not show.
	{"the third lease is short", verdict.StaleWrite, "", 4, 1, "", search.AnyTiming, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local n = redis.call('INCR', KEYS[1]..':n')
			if n == 3 then redis.call('DEL', KEYS[1]..':n') end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2] * (10 - 3 * n) / 9) return 1`)}},
	{"the third renewal shortens", verdict.Overlap, "", 4, 1, "", search.AnyTiming, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if taken {
				_, err = f.eval(ctx, `local n = redis.call('INCR', KEYS[1]..':n') % 3
					redis.call('SET', KEYS[1]..':n', n)
					return redis.call('PEXPIRE', KEYS[1], n > 0 and ARGV[2] or ARGV[2] / 12)`, key)
			}
			return taken, err
		}}},
	// The probe would be the third.
	{"the fourth release lies", verdict.Lie, "", 4, 1, "", search.AnyTiming, 0, code{
		acquire: (*asking).set,
		release: givingBack(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
			redis.call('DEL', KEYS[1])
			if redis.call('INCR', KEYS[1]..':n') < 4 then return 1 end
			redis.call('DEL', KEYS[1]..':n') return 0`)}},
	// Who comes takes the next of two slots if the other is free: the third overwrites the first.
	{"a ring of two slots", verdict.Overlap, "", 3, 1, "", search.Lockstep, 0, code{
		acquire: byScript(`local n = redis.call('INCR', KEYS[1]..':n') % 2
			redis.call('SET', KEYS[1]..':n', n)
			if redis.call('EXISTS', KEYS[1]..':'..(1 - n)) == 1 then return 0 end
			redis.call('SET', KEYS[1]..':'..n, ARGV[1], 'PX', ARGV[2]) return 1`),
		release: givingBack(`for n = 0, 1 do
			if redis.call('GET', KEYS[1]..':'..n) == ARGV[1] then return redis.call('DEL', KEYS[1]..':'..n) end end return 0`)}},
	// A transaction fails if another owner has come and gone, and again if a third one comes.
	{"a transaction fails twice", verdict.Overlap, "", 3, 1, "", search.AnyTiming, 0, code{acquire: optimistic}},
	// A waiting client takes the second owner for the first, whose value was the same; or the third for the first, of generation 1 or 2.
	{"an owner like the last", verdict.Overlap, "", 3, 1, "", search.AnyTiming, 0, code{
		acquire: remembering(`if redis.call('EXISTS', KEYS[1]) == 1 then return -1 end redis.call('SET', KEYS[1], 1, 'PX', ARGV[2]) return 1`)}},
	{"an owner like the last but one", verdict.Overlap, "", 4, 1, "", search.AnyTiming, 0, code{acquire: remembering(generations)}},
	// One that works for longer than its lease deletes the key of the third, whose generation, or list of old owners, has its name.
	{"generations of two", verdict.WrongDel, "", 3, 1, "", search.AnyTiming, works, code{acquire: generation}},
	{"a late request of generation one", verdict.WrongDel, "delay=1@12s", 3, 1, "delay=1@12s", search.AnyTiming, 0, code{acquire: generation}},
	{"a name three owners old", verdict.WrongDel, "", 3, 1, "", search.AnyTiming, works, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local last, before = redis.call('GET', KEYS[1]..':last'), redis.call('GET', KEYS[1]..':before')
			if before then redis.call('SET', KEYS[1]..':old', before) end
			if last then redis.call('SET', KEYS[1]..':before', last) end
			redis.call('SET', KEYS[1]..':last', ARGV[1])
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`),
		release: givingBack(`if redis.call('GET', KEYS[1]..':old') == ARGV[1] then return redis.call('DEL', KEYS[1]) end ` + own)}},

	// The second fault, or the third.
	{"the second lost request enters", verdict.Overlap, "lose-request=1", 2, 1, "lose-request=2", search.AnyTiming, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if err != nil {
				_, err = f.set(ctx, key+":again")
				return err != nil, nil
			}
			return taken, nil
		}}},
	{"two lost replies", verdict.Orphan, "lose-reply=1", 2, 1, "lose-reply=2", search.Lockstep, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			if err == nil {
				return taken, nil
			}
			return holds(f, ctx, key, f.token)
		}}},
	{"two short pauses", verdict.Overlap, "pause=1@3s", 2, 1, "pause=2@3s", search.AnyTiming, 0, code{acquire: (*asking).set}},
	// The script of a release is lost with a restart each time that it is loaded, until the key is deleted without one.
	{"two restarts", verdict.WrongDel, "restart=1", 2, 1, "restart=2", search.AnyTiming, 0, code{
		acquire: (*asking).set,
		release: func(f *asking, ctx context.Context, key string) error {
			script := redis.NewScript(own)
			for range 2 {
				if err := script.Load(ctx, f.node).Err(); err != nil {
					return err
				}
				err := script.EvalSha(ctx, f.node, []string{key}, f.token).Err()
				if err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
					return err
				}
			}
			return f.node.Del(ctx, key).Err()
		}}},
	// What two dead owners have left makes the lease of the third endless.
	{"two have died", verdict.Deadlock, "crash=2", 3, 1, "crash=3", search.AnyTiming, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
			if redis.call('INCR', KEYS[1]..':inside') >= 3 then redis.call('PERSIST', KEYS[1]) end return 1`),
		release: givingBack(`if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DECR', KEYS[1]..':inside') end ` + own)}},

	// A third client and a fault.
	// Two find the owner dead, and the second deletes the key of the first.
	{"a dead owner and two heirs", verdict.Overlap, "crash=1", 3, 1, "crash=1", search.AnyTiming, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			const script = `if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then redis.call('SET', KEYS[1]..':alive', 1, 'PX', ARGV[2]) return 1 end
				return redis.call('EXISTS', KEYS[1]..':alive') == 1 and 0 or 2`
			n, err := f.eval(ctx, script, key)
			if n == 2 && err == nil {
				if err = f.node.Del(ctx, key).Err(); err == nil {
					n, err = f.eval(ctx, script, key)
				}
			}
			return n == 1, err
		}}},
	// A permit is given back twice, because the reply was lost, and two others take them.
	{"a permit given back twice", verdict.Overlap, "lose-reply=1", 3, 1, "lose-reply=1", search.AnyTiming, 0, code{
		acquire: byScript(`if redis.call('SETNX', KEYS[1]..':made', 1) == 1 then redis.call('RPUSH', KEYS[1], 'permit') end
			return redis.call('LPOP', KEYS[1]) and 1 or 0`),
		release: func(f *asking, ctx context.Context, key string) error {
			if f.node.RPush(ctx, key, "permit").Err() == nil {
				return nil
			}
			return f.node.RPush(ctx, key, "permit").Err()
		}}},
	{"a lost request and the next", verdict.Overlap, "lose-request=1", 3, 1, "lose-request=1", search.AnyTiming, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.set(ctx, key)
			switch {
			case err != nil:
				return false, f.node.Set(ctx, key+":lost", 1, 0).Err()
			case taken:
				return true, nil
			}
			n, err := f.node.Del(ctx, key+":lost").Result()
			return n == 1, err
		}}},
	// Two find that the server has lost a script which each of them has loaded.
	{"a restart and two refused", verdict.WrongDel, "restart=1", 3, 1, "restart=1", search.AnyTiming, 0, code{acquire: outlived}},
	{"a failover and two refused", verdict.WrongDel, "failover=1", 3, 1, "failover=1", search.AnyTiming, 0, code{acquire: outlived}},
	{"an eviction and two refused", verdict.WrongDel, "evict=1", 3, 1, "evict=1", search.Lockstep, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 0 then
				redis.call('SET', KEYS[1]..':holder', 1, 'PX', ARGV[2])
				redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1 end
			if redis.call('EXISTS', KEYS[1]..':holder') == 0 and redis.call('INCR', KEYS[1]..':n') == 2 then
				redis.call('DEL', KEYS[1]..':n', KEYS[1]) end
			return 0`)}},

	// The second attempt of a client, or the third, by what is left in its process.
	{"the third attempt enters", verdict.Overlap, "", 2, 3, "", search.Lockstep, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			if f.asked++; f.asked == 3 {
				return true, nil
			}
			return f.set(ctx, key)
		}}},
	{"a timer of the first attempt", verdict.WrongDel, "", 2, 2, "", search.AnyTiming, 0, code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			if f.asked++; f.asked == 1 {
				f.env.Clock.AfterFunc(f.env.TTL/2, func() {
					if f.asked == 2 {
						f.node.Del(context.Background(), key)
					}
				})
			}
			return f.set(ctx, key)
		}}},
}

// works is longer than a lease.
const works = 21 * time.Second

func enters(*asking, context.Context, string) (bool, error) { return true, nil }

func deletes(f *asking, ctx context.Context, key string) (bool, error) {
	return false, f.node.Del(ctx, key).Err()
}

func sets(f *asking, ctx context.Context, key string) (bool, error) {
	_, err := f.set(ctx, key)
	return false, err
}

// third does something when a client is refused after another one.
func third(then func(f *asking, ctx context.Context, key string) (bool, error)) func(f *asking, ctx context.Context, key string) (bool, error) {
	return refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		if !f.full(ctx, key, ":a") {
			return false, nil
		}
		return then(f, ctx, key)
	})
}

// holds reports whether the key has that value.
func holds(f *asking, ctx context.Context, key, value string) (bool, error) {
	who, err := f.node.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return who == value, err
}

// cached reports whether the server has a script.
func cached(f *asking, ctx context.Context, script *redis.Script) (bool, error) {
	err := script.EvalSha(ctx, f.node, nil).Err()
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		return false, nil
	}
	return err == nil, err
}

// optimistic takes the lock by a transaction, and counts the second that fails as its own.
func optimistic(f *asking, ctx context.Context, key string) (bool, error) {
	for range 2 {
		err := f.node.Watch(ctx, func(tx *redis.Tx) error {
			if n, err := tx.Exists(ctx, key).Result(); n > 0 || err != nil {
				return cmp.Or(err, lock.ErrNotAcquired)
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, f.token, f.env.TTL).Err() })
			return err
		}, key)
		if !errors.Is(err, redis.TxFailedErr) {
			return err == nil, err
		}
	}
	return true, nil
}

// generations writes 1 or 2 into the key, in turn, and returns it, or the negative of what the key has.
const generations = `local held = redis.call('GET', KEYS[1])
	if held then return -held end
	local n = 3 - tonumber(redis.call('GET', KEYS[1]..':last') or 2)
	redis.call('SET', KEYS[1]..':last', n)
	redis.call('SET', KEYS[1], n, 'PX', ARGV[2]) return n`

func generation(f *asking, ctx context.Context, key string) (bool, error) {
	n, err := f.eval(ctx, generations, key)
	f.token = fmt.Sprint(n)
	return n > 0, err
}

// remembering takes a key whose value is the same after a time in which an owner would have gone.
func remembering(script string) func(f *asking, ctx context.Context, key string) (bool, error) {
	return func(f *asking, ctx context.Context, key string) (bool, error) {
		n, err := f.eval(ctx, script, key)
		if n >= 0 || err != nil {
			f.token = fmt.Sprint(n)
			return n > 0, err
		}
		f.token = fmt.Sprint(-n)
		f.env.Clock.Sleep(2 * f.env.TTL / 3)
		return holds(f, ctx, key, f.token)
	}
}

// outlived deletes the key when a second refused client finds that the server has lost what the client has told it before.
func outlived(f *asking, ctx context.Context, key string) (bool, error) {
	script := redis.NewScript("return 7")
	if err := script.Load(ctx, f.node).Err(); err != nil {
		return false, err
	}
	return refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		if known, err := cached(f, ctx, script); known || err != nil {
			return false, err
		}
		_, err := f.eval(ctx, `if redis.call('INCR', KEYS[1]..':lost') == 2 then return redis.call('DEL', KEYS[1]..':lost', KEYS[1]) end return 0`, key)
		return false, err
	})(f, ctx, key)
}
