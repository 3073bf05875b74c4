package explore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator/verdict"
)

const (
	inStep  = search.Lockstep
	anyTime = search.AnyTiming
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
	code              code
}{
	// Marks of refused clients, which a view of one client does not count.
	{"the third leaves its key", verdict.Orphan, "", 3, 1, "", anyTime, code{
		acquire: refused(func(f *asking) (bool, error) {
			if !f.full(":a") {
				return false, nil
			}
			_, err := f.set()
			return false, err
		})}},
	{"the fifth keeps", verdict.Deadlock, "crash=1", 5, 1, "crash=1", inStep, code{
		acquire: refused(func(f *asking) (bool, error) {
			if !f.full(":a", ":b", ":c") {
				return false, nil
			}
			return false, f.node.Persist(f.ctx, f.key).Err()
		})}},
	// The marks are not in keys: they are scripts that the server has cached.
	{"cached scripts", verdict.Overlap, "", 4, 1, "", inStep, code{
		acquire: refused(func(f *asking) (bool, error) {
			for _, script := range []*redis.Script{redis.NewScript("return 7"), redis.NewScript("return 8")} {
				if known, err := f.cached(script); !known {
					return false, cmp.Or(err, script.Load(f.ctx, f.node).Err())
				}
			}
			return true, nil
		})}},

	// Names of clients that have gone: an abstraction may forget or merge them.
	{"three names", verdict.Overlap, "", 4, 1, "", inStep, code{
		acquire: refused(byScript(`redis.call('SADD', KEYS[1]..':seen', ARGV[1])
			return redis.call('SCARD', KEYS[1]..':seen') == 3 and redis.call('DEL', KEYS[1]..':seen') or 0`))}},
	{"two old owners differ", verdict.Overlap, "", 4, 1, "", anyTime, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local last, before = redis.call('GET', KEYS[1]..':last'), redis.call('GET', KEYS[1]..':before')
			if last then redis.call('SET', KEYS[1]..':before', last) end
			redis.call('SET', KEYS[1]..':last', ARGV[1])
			if last and before and last ~= before then return 1 end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1`)}},

	// Later owners: what the first two do not show. The probe would be the third release.
	{"the third lease is short", verdict.StaleWrite, "", 4, 1, "", anyTime, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			local n = redis.call('INCR', KEYS[1]..':n')
			if n == 3 then redis.call('DEL', KEYS[1]..':n') end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2] * (10 - 3 * n) / 9) return 1`)}},
	{"the fourth release lies", verdict.Lie, "", 4, 1, "", anyTime, code{
		release: givingBack(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
			redis.call('DEL', KEYS[1])
			if redis.call('INCR', KEYS[1]..':n') < 4 then return 1 end
			redis.call('DEL', KEYS[1]..':n') return 0`)}},
	// A transaction fails if another owner has come and gone, and again if a third one comes.
	{"a transaction fails twice", verdict.Overlap, "", 3, 1, "", anyTime, code{acquire: optimistic}},
	// A waiting client takes the third owner, whose value is the same, for the first.
	{"an owner like the last but one", verdict.Overlap, "", 4, 1, "", anyTime, code{
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

	// The second fault, or the third.
	{"two lost replies", verdict.Orphan, "lose-reply=1", 2, 1, "lose-reply=2", inStep, code{
		acquire: func(f *asking) (bool, error) {
			if taken, err := f.set(); err == nil {
				return taken, nil
			}
			return f.holds(f.token)
		}}},
	{"two short pauses", verdict.Overlap, "pause=1@3s", 2, 1, "pause=2@3s", anyTime, code{}},
	// The script of a release is lost with a restart each time that it is loaded, until the key is deleted without one.
	{"two restarts", verdict.WrongDel, "restart=1", 2, 1, "restart=2", anyTime, code{
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
	{"two have died", verdict.Deadlock, "crash=2", 3, 1, "crash=3", anyTime, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
			if redis.call('INCR', KEYS[1]..':inside') >= 3 then redis.call('PERSIST', KEYS[1]) end return 1`),
		release: givingBack(`if redis.call('GET', KEYS[1]) == ARGV[1] then
			redis.call('DECR', KEYS[1]..':inside') end ` + deleteOwn)}},

	// A third client and a fault.
	// Two find the owner dead, and the second deletes the key of the first.
	{"a dead owner and two heirs", verdict.Overlap, "crash=1", 3, 1, "crash=1", anyTime, code{
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
	{"a lost request and the next", verdict.Overlap, "lose-request=1", 3, 1, "lose-request=1", anyTime, code{
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
	{"an eviction and two refused", verdict.WrongDel, "evict=1", 3, 1, "evict=1", inStep, code{
		acquire: byScript(`if redis.call('EXISTS', KEYS[1]) == 0 then
				redis.call('SET', KEYS[1]..':holder', 1, 'PX', ARGV[2])
				redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1 end
			if redis.call('EXISTS', KEYS[1]..':holder') == 0 and redis.call('INCR', KEYS[1]..':n') == 2 then
				redis.call('DEL', KEYS[1]..':n', KEYS[1]) end
			return 0`)}},

	// The second attempt of a client, or the third, by what is left in its process.
	{"the third attempt enters", verdict.Overlap, "", 2, 3, "", inStep, code{
		acquire: func(f *asking) (bool, error) {
			if f.asked++; f.asked == 3 {
				return true, nil
			}
			return f.set()
		}}},
	{"a timer of the first attempt", verdict.WrongDel, "", 2, 2, "", anyTime, code{
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

	// Counters that count further than any of few clients.
	{"a counter that goes down again", verdict.Overlap, "", 4, 1, "", inStep, code{
		acquire: refused(byScript(`local n = redis.call('INCR', KEYS[1]..':n') if n < 3 then return 0 end
			redis.call('DECR', KEYS[1]..':n') redis.call('DECR', KEYS[1]..':n') return 1`))}},
	{"two counters in one reply", verdict.Overlap, "", 4, 1, "", inStep, code{
		acquire: refused(func(f *asking) (bool, error) {
			const script = `return {redis.call('INCR', KEYS[1]..':a'), redis.call('INCR', KEYS[1]..':b')}`
			l, err := f.node.Eval(f.ctx, script, []string{f.key}).Int64Slice()
			return err == nil && l[0] >= 3 && l[1] >= 3, err
		})}},
	{"three phases that are no counter", verdict.Overlap, "", 5, 1, "", inStep, code{
		acquire: refused(byScript(`local next = {['0'] = '1', ['1'] = '2', ['2'] = '3'}
			local n = redis.call('GET', KEYS[1]..':phase') or '0'
			if n == '3' then return 1 end
			if next[n] then redis.call('SET', KEYS[1]..':phase', next[n]) end return 0`))}},
	// Who raises a counter that is watched, and counts in a transaction that fails, enters.
	{"a counter that is watched", verdict.Overlap, "", 3, 1, "", anyTime, code{
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
