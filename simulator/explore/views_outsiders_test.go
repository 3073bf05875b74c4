package explore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator/verdict"
)

const (
	inStep  = search.Lockstep
	anyTime = search.AnyTiming
	works   = 21 * time.Second // longer than a lease
)

// fallingLocks are those of TestViewsOfFallingLocks. Two clients with one attempt each do not come to the harm by the
// few faults; these clients, attempts and faults do, in a search of this timing.
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
	// Marks of refused clients, which a view of one client does not count.
	{"the third leaves its key", verdict.Orphan, "", 3, 1, "", anyTime, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			if !f.full(":a") {
				return false, nil
			}
			_, err := f.set()
			return false, err
		})}},
	{"the fifth keeps", verdict.Deadlock, "crash=1", 5, 1, "crash=1", inStep, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			if !f.full(":a", ":b", ":c") {
				return false, nil
			}
			return false, f.node.Persist(f.ctx, f.key).Err()
		})}},
	// Three that look alike wait at the same time; each goes away again.
	{"three wait at once", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			n, err := f.node.Incr(f.ctx, f.key+":waiting").Result()
			if err != nil || n >= 3 {
				return n >= 3, err
			}
			f.env.Clock.Sleep(f.env.TTL / 12)
			return false, f.node.Decr(f.ctx, f.key+":waiting").Err()
		})}},
	// The marks are not in keys that a refused client names, but in how many keys there are, or in cached scripts.
	{"a full database", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(byScript(`redis.call('SET', KEYS[1]..':'..redis.call('DBSIZE'), 1)
			return redis.call('DBSIZE') >= 4 and 1 or 0`))}},
	{"cached scripts", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			for _, script := range []*redis.Script{redis.NewScript("return 7"), redis.NewScript("return 8")} {
				if known, err := f.cached(script); !known {
					return false, cmp.Or(err, script.Load(f.ctx, f.node).Err())
				}
			}
			return true, nil
		})}},

	// Names of clients that have gone: an abstraction may forget or merge them.
	{"three names", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(byScript(`redis.call('SADD', KEYS[1]..':seen', ARGV[1])
			return redis.call('SCARD', KEYS[1]..':seen') == 3 and redis.call('DEL', KEYS[1]..':seen') or 0`))}},
	{"two old owners differ", verdict.Overlap, "", 4, 1, "", anyTime, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local last, before = redis.call('GET', KEYS[1]..':last'), redis.call('GET', KEYS[1]..':before')
			if last then redis.call('SET', KEYS[1]..':before', last) end
			redis.call('SET', KEYS[1]..':last', ARGV[1])
			if last and before and last ~= before then return 1 end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`)}},
	// Only the names of three, by the alphabet, show that a server compares them for more than equality.
	{"three names in disorder", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(byScript(`redis.call('RPUSH', KEYS[1]..':line', ARGV[1])
			local l = redis.call('LRANGE', KEYS[1]..':line', 0, -1)
			if #l > 3 then redis.call('LPOP', KEYS[1]..':line') end
			return #l == 3 and l[1] < l[3] and l[3] < l[2] and 1 or 0`))}},
	// The owner has a second key by its name, whose name the server makes up, and in which two may knock.
	{"the third knocks", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: byScript(`local who = redis.call('GET', KEYS[1])
			if who then return redis.call('DECR', KEYS[1]..':'..who) < 0 and 1 or 0 end
			redis.call('SET', KEYS[1]..':'..ARGV[1], 2, 'PX', ARGV[2])
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`),
		release: givingBack(`redis.call('DEL', KEYS[1]..':'..ARGV[1]) ` + deleteOwn)}},

	// Later owners: what the first two do not show. The probe would be the third release.
	{"the third lease is short", verdict.StaleWrite, "", 4, 1, "", anyTime, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local n = redis.call('INCR', KEYS[1]..':n')
			if n == 3 then redis.call('DEL', KEYS[1]..':n') end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2] * (10 - 3 * n) / 9) return 1`)}},
	{"the fourth release lies", verdict.Lie, "", 4, 1, "", anyTime, 0, code{
		release: givingBack(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
			redis.call('DEL', KEYS[1])
			if redis.call('INCR', KEYS[1]..':n') < 4 then return 1 end
			redis.call('DEL', KEYS[1]..':n') return 0`)}},
	// A transaction fails if another owner has come and gone, and again if a third one comes.
	{"a transaction fails twice", verdict.Overlap, "", 3, 1, "", anyTime, 0, code{acquire: optimistic}},
	// A waiting client takes the third owner, whose value is the same, for the first.
	{"an owner like the last but one", verdict.Overlap, "", 4, 1, "", anyTime, 0, code{
		acquire: func(f *asking) (bool, error) {
			n, err := f.eval(generations)
			if n >= 0 || err != nil {
				f.token = fmt.Sprint(n)
				return n > 0, err
			}
			f.token = fmt.Sprint(-n)
			f.env.Clock.Sleep(2 * f.env.TTL / 3)
			return f.holds(f.token)
		}}},
	// One deletes the key of the third, whose generation, or list of old owners, has its name.
	{"a late request of generation one", verdict.WrongDel, "delay=1@12s", 3, 1, "delay=1@12s", anyTime, 0, code{
		acquire: func(f *asking) (bool, error) {
			n, err := f.eval(generations)
			f.token = fmt.Sprint(n)
			return n > 0, err
		}}},
	{"a name three owners old", verdict.WrongDel, "", 3, 1, "", anyTime, works, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local last, before = redis.call('GET', KEYS[1]..':last'), redis.call('GET', KEYS[1]..':before')
			if before then redis.call('SET', KEYS[1]..':old', before) end
			if last then redis.call('SET', KEYS[1]..':before', last) end
			redis.call('SET', KEYS[1]..':last', ARGV[1])
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`),
		release: givingBack(`if redis.call('GET', KEYS[1]..':old') == ARGV[1] then
			return redis.call('DEL', KEYS[1]) end ` + deleteOwn)}},

	// The second fault, or the third.
	{"two lost replies", verdict.Orphan, "lose-reply=1", 2, 1, "lose-reply=2", inStep, 0, code{
		acquire: func(f *asking) (bool, error) {
			if taken, err := f.set(); err == nil {
				return taken, nil
			}
			return f.holds(f.token)
		}}},
	{"two short pauses", verdict.Overlap, "pause=1@3s", 2, 1, "pause=2@3s", anyTime, 0, code{}},
	// The script of a release is lost with a restart each time that it is loaded, until the key is deleted without one.
	{"two restarts", verdict.WrongDel, "restart=1", 2, 1, "restart=2", anyTime, 0, code{
		release: func(f *asking) error {
			script := redis.NewScript(deleteOwn)
			for range 2 {
				if err := script.Load(f.ctx, f.node).Err(); err != nil {
					return err
				}
				err := script.EvalSha(f.ctx, f.node, []string{f.key}, f.token).Err()
				if err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
					return err
				}
			}
			return f.node.Del(f.ctx, f.key).Err()
		}}},
	// What two dead owners have left makes the lease of the third endless.
	{"two have died", verdict.Deadlock, "crash=2", 3, 1, "crash=3", anyTime, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
			if redis.call('INCR', KEYS[1]..':inside') >= 3 then redis.call('PERSIST', KEYS[1]) end return 1`),
		release: givingBack(`if redis.call('GET', KEYS[1]) == ARGV[1] then
			redis.call('DECR', KEYS[1]..':inside') end ` + deleteOwn)}},

	// A third client and a fault.
	// Two find the owner dead, and the second deletes the key of the first.
	{"a dead owner and two heirs", verdict.Overlap, "crash=1", 3, 1, "crash=1", anyTime, 0, code{
		acquire: func(f *asking) (bool, error) {
			const script = `if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then
				redis.call('SET', KEYS[1]..':alive', 1, 'PX', ARGV[2]) return 1 end
				return redis.call('EXISTS', KEYS[1]..':alive') == 1 and 0 or 2`
			n, err := f.eval(script)
			if n == 2 && err == nil {
				if err = f.node.Del(f.ctx, f.key).Err(); err == nil {
					n, err = f.eval(script)
				}
			}
			return n == 1, err
		}}},
	// A permit is given back twice, because the reply was lost, and two others take them.
	{"a permit given back twice", verdict.Overlap, "lose-reply=1", 3, 1, "lose-reply=1", anyTime, 0, code{
		acquire: byScript(`if redis.call('SETNX', KEYS[1]..':made', 1) == 1 then redis.call('RPUSH', KEYS[1], 'permit') end
			return redis.call('LPOP', KEYS[1]) and 1 or 0`),
		release: func(f *asking) error {
			if f.node.RPush(f.ctx, f.key, "permit").Err() == nil {
				return nil
			}
			return f.node.RPush(f.ctx, f.key, "permit").Err()
		}}},
	{"a lost request and the next", verdict.Overlap, "lose-request=1", 3, 1, "lose-request=1", anyTime, 0, code{
		acquire: func(f *asking) (bool, error) {
			taken, err := f.set()
			switch {
			case err != nil:
				return false, f.node.Set(f.ctx, f.key+":lost", 1, 0).Err()
			case taken:
				return true, nil
			}
			n, err := f.node.Del(f.ctx, f.key+":lost").Result()
			return n == 1, err
		}}},
	{"a failover and two refused", verdict.WrongDel, "failover=1", 3, 1, "failover=1", anyTime, 0, code{
		acquire: outlived}},
	{"an eviction and two refused", verdict.WrongDel, "evict=1", 3, 1, "evict=1", inStep, 0, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 0 then
				redis.call('SET', KEYS[1]..':holder', 1, 'PX', ARGV[2])
				redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1 end
			if redis.call('EXISTS', KEYS[1]..':holder') == 0 and redis.call('INCR', KEYS[1]..':n') == 2 then
				redis.call('DEL', KEYS[1]..':n', KEYS[1]) end
			return 0`)}},

	// The second attempt of a client, or the third, by what is left in its process or, unknown to it, beside it.
	{"the third attempt enters", verdict.Overlap, "", 2, 3, "", inStep, 0, code{
		acquire: func(f *asking) (bool, error) {
			if f.asked++; f.asked == 3 {
				return true, nil
			}
			return f.set()
		}}},
	{"a timer of the first attempt", verdict.WrongDel, "", 2, 2, "", anyTime, 0, code{
		acquire: func(f *asking) (bool, error) {
			if f.asked++; f.asked == 1 {
				f.env.Clock.AfterFunc(f.env.TTL/2, func() {
					if f.asked == 2 {
						f.node.Del(context.Background(), f.key)
					}
				})
			}
			return f.set()
		}}},
	{"memory in release only", verdict.Overlap, "", 2, 3, "", inStep, 0, code{
		acquire: func(f *asking) (bool, error) {
			if f.asked >= 1 {
				return true, nil
			}
			return f.set()
		},
		release: func(f *asking) error {
			f.asked++
			return givingBack(deleteOwn)(f)
		}}},
	{"global memory of a branch of many", verdict.Overlap, "", 2, 2, "", anyTime, 0, code{
		acquire: func(f *asking) (bool, error) {
			if _, ok := beside.Load(f.falling); ok {
				return true, nil
			}
			taken, err := f.set()
			if taken || err != nil {
				return taken, err
			}
			for i, name := range []string{"x", "y", "z"} {
				n, err := f.node.Exists(f.ctx, f.key, f.key+name).Result()
				if err != nil {
					return false, err
				}
				if n == 0 && i == 1 {
					beside.Store(f.falling, true)
				}
			}
			return false, nil
		}}},
	{"a later token", verdict.Overlap, "", 2, 2, "", anyTime, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			who, err := f.node.Get(f.ctx, f.key).Result()
			return err == nil && len(who) == len(f.token) && who[3:] < f.token[3:], err
		})}},
	{"a later token, for a script", verdict.Overlap, "", 2, 2, "", anyTime, 0, code{
		acquire: refused(byScript(parts + `local who = redis.call('GET', KEYS[1])
			return who and number(ARGV[1]) > number(who) and 1 or 0`))}},
	{"two in line of one other process", verdict.Overlap, "", 3, 2, "", anyTime, 0, code{
		acquire: refused(byScript(parts + `redis.call('RPUSH', KEYS[1]..':line', ARGV[1])
			redis.call('LTRIM', KEYS[1]..':line', -3, -1)
			local l = redis.call('LRANGE', KEYS[1]..':line', 0, -1)
			return #l == 3 and l[1] ~= l[2] and process(l[1]) == process(l[2]) and
				process(l[1]) ~= process(ARGV[1]) and 1 or 0`))}},
	{"owner and last refused of one process", verdict.Overlap, "lose-reply=1", 2, 2, "lose-reply=1", anyTime, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			if err := f.node.Set(f.ctx, f.key+":me", f.token, f.env.TTL).Err(); err != nil {
				return false, err
			}
			n, err := f.node.Eval(f.ctx, parts+`local a, b = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[1]..':me')
				return a and b and process(a) == process(b) and 1 or 0`, []string{f.key}).Int64()
			return n == 1, err
		})}},

	// Counters that count further than any of few clients.
	{"each fourth of a counter", verdict.Overlap, "", 5, 1, "", inStep, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			n, err := f.node.Incr(f.ctx, f.key+":n").Result()
			return n%4 == 0, err
		})}},
	{"each fourth of a counter, for a script", verdict.Overlap, "", 5, 1, "", inStep, 0, code{
		acquire: refused(byScript(`return redis.call('INCR', KEYS[1]..':n') % 4 == 0 and 1 or 0`))}},
	{"a counter that saturates", verdict.Overlap, "", 5, 1, "", inStep, 0, code{
		acquire: refused(byScript(`local n = tonumber(redis.call('GET', KEYS[1]..':n') or '0')
			if n < 3 then redis.call('INCR', KEYS[1]..':n') end return n == 3 and 1 or 0`))}},
	{"a counter in a hash", verdict.Overlap, "", 5, 1, "", inStep, 0, code{
		acquire: refused(byScript(`return redis.call('HINCRBY', KEYS[1]..':n', 'x', 1) == 4 and 1 or 0`))}},
	{"a counter that goes down again", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(byScript(`local n = redis.call('INCR', KEYS[1]..':n') if n < 3 then return 0 end
			redis.call('DECR', KEYS[1]..':n') redis.call('DECR', KEYS[1]..':n') return 1`))}},
	{"GETSET of a counter", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(byScript(`local n = tonumber(redis.call('GET', KEYS[1]..':n') or 0)
			return tonumber(redis.call('GETSET', KEYS[1]..':n', math.min(n + 1, 2)) or 0) == 2 and 1 or 0`))}},
	{"a counter with a time to live", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(byScript(`local n = redis.call('INCR', KEYS[1]..':n')
			redis.call('PEXPIRE', KEYS[1]..':n', ARGV[2] / n) return n == 3 and 1 or 0`))}},
	{"two counters in one reply", verdict.Overlap, "", 4, 1, "", inStep, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			const script = `return {redis.call('INCR', KEYS[1]..':a'), redis.call('INCR', KEYS[1]..':b')}`
			l, err := f.node.Eval(f.ctx, script, []string{f.key}).Int64Slice()
			return err == nil && l[0] >= 3 && l[1] >= 3, err
		})}},
	{"three phases that are no counter", verdict.Overlap, "", 5, 1, "", inStep, 0, code{
		acquire: refused(byScript(`local next = {['0'] = '1', ['1'] = '2', ['2'] = '3'}
			local n = redis.call('GET', KEYS[1]..':phase') or '0'
			if n == '3' then return 1 end
			if next[n] then redis.call('SET', KEYS[1]..':phase', next[n]) end return 0`))}},
	// Who raises a counter that is watched, and counts in a transaction that fails, enters.
	{"a counter that is watched", verdict.Overlap, "", 3, 1, "", anyTime, 0, code{
		acquire: refused(func(f *asking) (bool, error) {
			if err := f.node.Incr(f.ctx, f.key+":n").Err(); err != nil {
				return false, err
			}
			err := f.node.Watch(f.ctx, func(tx *redis.Tx) error {
				if err := tx.Get(f.ctx, f.key).Err(); err != nil {
					return err
				}
				read := func(p redis.Pipeliner) error { return p.Get(f.ctx, f.key+":x").Err() }
				_, err := tx.TxPipelined(f.ctx, read)
				return err
			}, f.key+":n")
			return errors.Is(err, redis.TxFailedErr), nil
		})}},
}

var beside sync.Map // what is not in the memory of locks

// parts are functions of scripts that look into tokens.
const parts = `local function number(s) return tonumber(string.match(s, '%.(%d+)')) end
	local function process(s) return string.sub(s, 1, 2) end `

// generations writes 1 or 2 into the key, in turn, and returns it, or the negative of what the key has.
const generations = `local held = redis.call('GET', KEYS[1])
	if held then return -held end
	local n = 3 - tonumber(redis.call('GET', KEYS[1]..':last') or 2)
	redis.call('SET', KEYS[1]..':last', n)
	redis.call('SET', KEYS[1], n, 'PX', ARGV[2]) return n`

// optimistic takes the lock by a transaction, and counts the second that fails as its own.
func optimistic(f *asking) (bool, error) {
	for range 2 {
		err := f.node.Watch(f.ctx, func(tx *redis.Tx) error {
			if n, err := tx.Exists(f.ctx, f.key).Result(); n > 0 || err != nil {
				return cmp.Or(err, lock.ErrNotAcquired)
			}
			take := func(p redis.Pipeliner) error { return p.Set(f.ctx, f.key, f.token, f.env.TTL).Err() }
			_, err := tx.TxPipelined(f.ctx, take)
			return err
		}, f.key)
		if !errors.Is(err, redis.TxFailedErr) {
			return err == nil, err
		}
	}
	return true, nil
}

// outlived deletes the key when a second refused client finds that the server has lost what the client has told it.
func outlived(f *asking) (bool, error) {
	script := redis.NewScript("return 7")
	if err := script.Load(f.ctx, f.node).Err(); err != nil {
		return false, err
	}
	return refused(func(f *asking) (bool, error) {
		if known, err := f.cached(script); known || err != nil {
			return false, err
		}
		_, err := f.eval(`if redis.call('INCR', KEYS[1]..':lost') == 2 then
			return redis.call('DEL', KEYS[1]..':lost', KEYS[1]) end return 0`)
		return false, err
	})(f)
}
