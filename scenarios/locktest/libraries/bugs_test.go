package libraries

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
)

// Locks of published libraries, each with a defect that its tracker or changelog reports, before and after the
// repair. They are ports to Go: of the library only what the defect needs, on one server, for one thread, without
// those who wait. A port asks once, and has one watchdog a lock. Where a library's own client sends a request again,
// the port does.

// A bug is a port, and what two clients with two attempts each come to in both versions: verdicts that take one
// fault, or with @0 none, and no others.
type bug struct {
	lock          string
	use           func(p *ported)
	budget        string
	old, repaired string
}

var bugs = []bug{
	{"redlock-rb", redlockRb, "lose-reply=1", "ORPHAN", ""},
	{"redlock-rb", redlockRb, "pause=1", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE"},
	{"ShedLock", shedLock, "crash=1", "DEADLOCK", ""},
	{"ShedLock", shedLock, "pause=1", "OVERLAP STALE-WRITE WRONG-DEL LIE ORPHAN DEADLOCK",
		"OVERLAP STALE-WRITE WRONG-DEL LIE"},
	{"OpenLinker", openLinker, "lose-reply=1", "LIE ORPHAN", "LIE"},
	{"OpenLinker", openLinker, "pause=1", "OVERLAP STALE-WRITE LIE", "OVERLAP STALE-WRITE LIE"},
	{"Redisson 3.24", redisson324, "lose-reply=1", "LIE ORPHAN", "ORPHAN"},
	{"Redisson 3.24", redisson324, "pause=1", "OVERLAP STALE-WRITE LIE", "OVERLAP STALE-WRITE LIE"},
	{"sherlock", sherlock, "crash=1", "OVERLAP@0 STALE-WRITE@0", ""},
	{"sherlock", sherlock, "lose-request=1", "OVERLAP@0 STALE-WRITE@0", "OVERLAP"},
	{"Redisson 2.3", redisson23, "pause=1", "OVERLAP STALE-WRITE WRONG-DEL", "OVERLAP STALE-WRITE"},
	{"Redisson 2.3", redisson23, "lose-reply=1", "ORPHAN", "ORPHAN"},
	{"Redisson 3.43", redisson343, "lose-request=1", "OVERLAP STALE-WRITE ORPHAN", "ORPHAN"},
	{"Redisson 3.43", redisson343, "crash=1", "", ""},
	{"Laravel", laravel, "pause=1", "OVERLAP STALE-WRITE WRONG-DEL LIE ORPHAN DEADLOCK",
		"OVERLAP STALE-WRITE ORPHAN DEADLOCK"},
	{"Laravel", laravel, "crash=1", "DEADLOCK", "DEADLOCK"},
	{"Leshan", leshan, "pause=1", "OVERLAP STALE-WRITE WRONG-DEL LIE", "OVERLAP STALE-WRITE"},
	{"Leshan", leshan, "lose-reply=1", "ORPHAN", "ORPHAN"},
	{"YiiRedis", yiiRedis, "crash=1", "LIE@0", ""},
	{"YiiRedis", yiiRedis, "lose-reply=1", "LIE@0 ORPHAN", "ORPHAN"},
	{"Curator 1.0", curator10, "lose-reply=1", "LIE DEADLOCK", "LIE"},
	{"Curator 1.0", curator10, "crash=1", "", ""},
	{"Curator 4.1", curator41, "lose-reply=1", "OVERLAP STALE-WRITE LIE", "LIE"},
	{"Curator 4.1", curator41, "crash=1", "", ""},
}

// TestBugs: each bug is as it says. Every search is complete, in lockstep: any timing has more of some verdicts in
// both versions.
func TestBugs(t *testing.T) {
	for _, b := range bugs {
		for name, finds := range map[string]string{"old": b.old, "repaired": b.repaired} {
			t.Run(b.lock+" "+b.budget+" "+name, func(t *testing.T) {
				bounds := locktest.Bounds{Clients: 2, Budget: b.budget, TTL: ttl, Beside: -1}
				locktest.Check(t, bounds, func(c *locktest.Client) {
					p := &ported{Client: c, ctx: c.Context(), repaired: name == "repaired"}
					defer p.close()
					b.use(p)
				}, finds)
			})
		}
	}
}

// TestToldApart: each lock has a row in which the two versions differ.
func TestToldApart(t *testing.T) {
	for _, b := range bugs {
		if !slices.ContainsFunc(bugs, func(o bug) bool { return o.lock == b.lock && o.old != o.repaired }) {
			t.Errorf("%s has no row in which its versions differ", b.lock)
		}
	}
}

// ported is a process that uses a port.
type ported struct {
	*locktest.Client
	ctx      context.Context
	repaired bool          // the version
	rdb      *redis.Client // of redis
	conn     *zk.Conn      // of connect
	token    string        // of newToken
}

const key, queue = "k", "/lock"

// redis connects to the server.
func (p *ported) redis() *redis.Client {
	p.rdb = goRedis(p.Client, 1)
	return p.rdb
}

func (p *ported) close() {
	if p.rdb != nil {
		p.rdb.Close()
	}
	if p.conn != nil {
		p.conn.Close()
	}
}

func (p *ported) newToken() string {
	p.token = rand.Text()
	return p.token
}

// use takes the lock, works and gives it back. acquire reports whether the process has the lock, release whether it
// had it until then; an error of either means that this is not known. It waits without a deadline: with one, even of
// three leases, a wait that would have no end is not found.
func (p *ported) use(acquire, release func() (bool, error), work func(*locktest.Resource)) {
	if ok, err := acquire(); err != nil || !ok {
		return
	}
	p.Critical(work)
	if held, err := release(); err == nil {
		p.Says(held)
	}
}

// longWork takes a lease and a half between the two, and two fifths of a lease to write.
func longWork(r *locktest.Resource) {
	n := r.Read()
	time.Sleep(ttl * 3 / 2)
	r.Write(n + 1)
}

// resend sends a command, and once more after an answer has not come, as client libraries do that retry by themselves.
func resend[T any](send func() (T, error)) (T, error) {
	answer, err := send()
	if err == nil || errors.Is(err, redis.Nil) {
		return answer, err
	}
	return send()
}

// deleteOwn deletes the key if it has the caller's value, and expireOwn gives it a new time to live.
var (
	deleteOwn = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then ` +
		`return redis.call("del", KEYS[1]) end return 0`)
	expireOwn = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then ` +
		`return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`)
)

// eval reports whether a script has answered with 1.
func (p *ported) eval(script *redis.Script, args ...any) (bool, error) {
	is, err := script.Eval(p.ctx, p.rdb, []string{key}, args...).Int()
	return is == 1, err
}

// deleteToken gives back a key that has the token.
func (p *ported) deleteToken() (bool, error) { return p.eval(deleteOwn, p.token) }

// deleteAny gives back the key, whosever it is.
func (p *ported) deleteAny() (bool, error) {
	deleted, err := p.rdb.Del(p.ctx, key).Result()
	return deleted == 1, err
}

// setThenExpire sets the time to live by a command of its own.
func (p *ported) setThenExpire(value string) (bool, error) {
	set, err := p.rdb.SetNX(p.ctx, key, value, 0).Result()
	if err == nil && set {
		err = p.rdb.PExpire(p.ctx, key, ttl).Err()
	}
	return set, err
}

// The lock of leandromoreira/redlock-rb 0.0.3, and 0.0.4 of 25 March 2015, commit 5d8f325.
// https://github.com/leandromoreira/redlock-rb/pull/5 https://github.com/antirez/redlock-rb/issues/3
//
// A client that did not get its majority gave back the lock on those servers only that had said OK. A server that had
// executed the SET and whose answer was lost kept the key: the caller was told that it has no lock, and everybody was
// refused until the time to live was over. The repair gives the lock back on all servers.
//
// An answer that does not come is a refusal, as in the library since 1.0.1
// (https://github.com/leandromoreira/redlock-rb/pull/75), and returned as an error besides.
func redlockRb(p *ported) {
	rdb := p.redis()
	p.use(func() (bool, error) {
		locked, err := rdb.SetNX(p.ctx, key, p.newToken(), ttl).Result()
		if locked {
			return true, nil
		}
		if p.repaired {
			p.deleteToken() // the best effort
		}
		return false, err
	}, p.deleteToken, work)
}

// RedisLockProvider of lukas-krecan/ShedLock 0.18.2, on Spring Data Redis 1, and 1.0.0 of 5 June 2018, on Spring Data
// Redis 2. https://github.com/lukas-krecan/ShedLock/issues/65 https://github.com/lukas-krecan/ShedLock/issues/105
// https://github.com/lukas-krecan/ShedLock/pull/66
//
// Where the answer to SETNX was lost, or the PEXPIRE that follows it, the provider ended with an error and left a key
// without end: the task was never executed again, by no client. The repair sets both by one SET, so that such a key
// ends.
//
// Both versions leave the key behind, for good or for the time to live, and delete it whosever it is (issue 2583). The
// port leaves out that a lock may be kept for a least time.
func shedLock(p *ported) {
	rdb := p.redis()
	p.use(func() (bool, error) {
		value := rand.Text() // the time and the host's name in the library, which nobody reads
		if p.repaired {
			return rdb.SetNX(p.ctx, key, value, ttl).Result()
		}
		return p.setThenExpire(value)
	}, p.deleteAny, work)
}

// RedisSyncLockService of openlinker-project/openlinker, on ioredis, before 31 August 2026, and since pull request
// 2717. https://github.com/openlinker-project/openlinker/pull/2717
//
// Ioredis sends commands again whose answers were lost with the connection. A SET NX that had been executed was then
// refused by its own key: acquire reported that another one holds the lock, and nobody held it until the time to live
// was over. The repair reads the key after a refusal, and takes its own value for success.
//
// The port sends a command once more, where ioredis does it up to twenty times.
func openLinker(p *ported) {
	rdb := p.redis()
	p.use(func() (bool, error) {
		p.newToken()
		set, err := resend(func() (bool, error) { return rdb.SetNX(p.ctx, key, p.token, ttl).Result() })
		if set || err != nil || !p.repaired {
			return set, err
		}
		holder, err := resend(func() (string, error) { return rdb.Get(p.ctx, key).Result() })
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil && holder == p.token, err
	}, func() (bool, error) { return resend(p.deleteToken) }, work)
}

// RedisLock of py-sherlock/sherlock 0.4.0, and 0.4.1 of 18 February 2023, commit 78cd155.
// https://github.com/py-sherlock/sherlock/issues/66
//
// Renew executed the script that releases the lock, with success: from then on its caller worked without one. The
// repair executes the script that renews it.
//
// The process renews the lease once in work that takes longer than a lease, and gives up the work where it cannot.
// What it does then takes three quarters of a lease, so that the lease lasts for slow messages as well.
func sherlock(p *ported) {
	p.redis()
	p.use(func() (bool, error) { return p.eval(sherlockAcquire, p.newToken(), ttl.Milliseconds()) }, p.deleteToken,
		func(r *locktest.Resource) {
			n := r.Read()
			time.Sleep(ttl * 2 / 3)
			renew := expireOwn
			if !p.repaired {
				renew = deleteOwn
			}
			if ok, err := p.eval(renew, p.token, ttl.Milliseconds()); err != nil || !ok {
				return
			}
			time.Sleep(ttl / 3)
			r.Write(n + 1) // takes two fifths of a lease
		})
}

var sherlockAcquire = redis.NewScript(`local result = redis.call("setnx", KEYS[1], ARGV[1])
if result == 1 then redis.call("pexpire", KEYS[1], ARGV[2]) end
return result`)

// RedisLock of laravel/framework 5.7.9, and 5.8.0, pull request 26645.
// https://github.com/laravel/framework/issues/26213 https://github.com/laravel/framework/pull/26645
//
// Release deleted the key, whosever it was: a holder that had worked for longer than its lease deleted the lock of the
// one who had got it meanwhile, and a third one came in. The repair writes the owner into the key, and compares.
//
// Both versions set the time to live by a command of its own.
func laravel(p *ported) {
	p.redis()
	if !p.repaired {
		p.use(func() (bool, error) { return p.setThenExpire("1") }, p.deleteAny, work)
		return
	}
	p.use(func() (bool, error) { return p.setThenExpire(p.newToken()) }, p.deleteToken, work)
}

// RedisLock of eclipse-leshan/leshan 1.0.0, and 1.0.1, commit 76cac08 of 22 April 2020.
// https://github.com/eclipse-leshan/leshan/pull/837
//
// Release read the key, compared, and deleted it by another command. A lease that ended between the two gave the key
// to somebody else, and it was that one's key that went. The repair watches the key and deletes it in a transaction.
//
// The port asks once, where the library asks every 5 ms.
func leshan(p *ported) {
	rdb := p.redis()
	isOwn := func(on redis.Cmdable) (bool, error) {
		value, err := on.Get(p.ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil && value == p.token, err
	}
	p.use(func() (bool, error) { return rdb.SetNX(p.ctx, key, p.newToken(), ttl).Result() },
		func() (held bool, err error) {
			if !p.repaired {
				if held, err = isOwn(rdb); held {
					err = rdb.Del(p.ctx, key).Err()
				}
				return held, err
			}
			err = rdb.Watch(p.ctx, func(tx *redis.Tx) error {
				if held, err = isOwn(tx); !held {
					return err
				}
				_, err := tx.TxPipelined(p.ctx, func(pipe redis.Pipeliner) error { return pipe.Del(p.ctx, key).Err() })
				return err
			}, key)
			if errors.Is(err, redis.TxFailedErr) {
				return false, nil
			}
			return held, err
		}, work)
}

// ARedisMutex of phpnode/YiiRedis before 24 December 2013, and commit 613e969.
// https://github.com/phpnode/YiiRedis/pull/18
//
// The value of the key is the time at which the lock ends; the key itself has none. Whoever read that a lock had ended
// took it for his own, and wrote nothing: all who came after a holder had died got the lock at once. The repair sets a
// new time by GETSET, and only the one who replaces the time that he has read has the lock.
//
// The port's times are in milliseconds.
func yiiRedis(p *ported) {
	rdb, own := p.redis(), int64(0)
	newEnd := func() string {
		own = time.Now().Add(ttl).UnixMilli()
		return strconv.FormatInt(own, 10)
	}
	p.use(func() (bool, error) {
		set, err := rdb.SetNX(p.ctx, key, newEnd(), 0).Result()
		if set || err != nil {
			return set, err
		}
		ends, err := orZero(rdb.Get(p.ctx, key))
		if err != nil || ends > time.Now().UnixMilli() {
			return false, err
		}
		if !p.repaired {
			return true, nil
		}
		current, err := orZero(rdb.Do(p.ctx, "getset", key, newEnd()))
		return err == nil && current == ends, err
	}, func() (bool, error) {
		ends, err := orZero(rdb.Get(p.ctx, key))
		if err != nil || ends < own && ends > time.Now().UnixMilli() {
			return false, err
		}
		return true, rdb.Del(p.ctx, key).Err()
	}, work)
}

// orZero returns a time, 0 where the key is missing, as PHP does.
func orZero(answer interface{ Int64() (int64, error) }) (int64, error) {
	ends, err := answer.Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return ends, err
}

// Redisson's scripts. A lock is a hash with the name of the holder and how often it has the lock. lockScript returns
// nil to the holder, and to others the time that the lock has to live. unlockScript returns nil to one that does not
// have the lock, 0 to one that had it more than once, and 1 to one that has released it. The message to those who
// wait is left out.
var (
	lockScript = redis.NewScript(`
if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[2]) == 1 then
	redis.call("hincrby", KEYS[1], ARGV[2], 1)
	redis.call("pexpire", KEYS[1], ARGV[1])
	return nil
end
return redis.call("pttl", KEYS[1])`)

	unlockScript = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call("hincrby", KEYS[1], ARGV[2], -1) > 0 then
	redis.call("pexpire", KEYS[1], ARGV[1])
	return 0
end
redis.call("del", KEYS[1])
return 1`)

	renewScript = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[2]) == 1 then
	redis.call("pexpire", KEYS[1], ARGV[1])
	return 1
end
return 0`)

	// latchedUnlock is unlockScript with an answer for repetitions, KEYS[2].
	latchedUnlock = redis.NewScript(`local before = redis.call("get", KEYS[2])
if before ~= false then return tonumber(before) end
if redis.call("hexists", KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call("hincrby", KEYS[1], ARGV[2], -1) > 0 then
	redis.call("pexpire", KEYS[1], ARGV[1])
	redis.call("set", KEYS[2], 0, "px", ARGV[3])
	return 0
end
redis.call("del", KEYS[1])
redis.call("set", KEYS[2], 1, "px", ARGV[3])
return 1`)
)

// tryLock is RLock.tryLock.
func (p *ported) tryLock() (bool, error) {
	err := lockScript.Eval(p.ctx, p.rdb, []string{key}, ttl.Milliseconds(), p.token).Err()
	if !errors.Is(err, redis.Nil) {
		return false, err
	}
	return true, nil
}

// unlock is RLock.unlock: where Redisson throws an IllegalMonitorStateException the caller did not have the lock.
func (p *ported) unlock() (bool, error) {
	return notNil(unlockScript.Eval(p.ctx, p.rdb, []string{key}, ttl.Milliseconds(), p.token))
}

func notNil(answer *redis.Cmd) (bool, error) {
	err := answer.Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// RLock of Redisson 3.24.0, and 3.24.1 of 18 October 2023: "'attempt to unlock lock, not locked by current thread'
// error occurs in rare cases even if RLock.unlock() method called by lock owner thread".
// https://github.com/redisson/redisson/issues/4871
//
// Redisson sends a request again whose answer does not come. An unlock that had been executed found no lock the second
// time, and its caller, who had held the lock to the end, was told by an IllegalMonitorStateException that it had not.
// The repair gives each unlock a number, under which the script leaves its answer for its repetitions.
//
// The port repeats an unlock once, and a lock never. It leaves the watchdog out.
func redisson324(p *ported) {
	rdb := p.redis()
	p.newToken()
	p.use(p.tryLock, func() (bool, error) {
		if !p.repaired {
			return resend(p.unlock)
		}
		latch := "redisson_unlock_latch:{" + key + "}:" + rand.Text()
		held, err := resend(func() (bool, error) {
			return notNil(latchedUnlock.Eval(p.ctx, rdb, []string{key, latch}, ttl.Milliseconds(), p.token,
				ttl.Milliseconds()))
		})
		if err == nil {
			rdb.Del(p.ctx, latch)
		}
		return held, err
	}, work)
}

// RLock of Redisson 2.3.0, with its watchdog, and 2.4.0 of 27 September 2016, commit e76d28a.
// https://github.com/redisson/redisson/commit/e76d28a768bd530591beaae863ee993e817ce2be
// https://github.com/redisson/redisson/issues/597
//
// The watchdog prolonged the key, whosever it was: a holder that had been paused for longer than its lease prolonged
// the lock of the one who had got it meanwhile. The repair prolongs it only if the hash has the holder's name.
func redisson23(p *ported) {
	rdb := p.redis()
	p.watched(func() bool {
		if !p.repaired {
			done, err := rdb.PExpire(p.ctx, key, ttl).Result()
			return err == nil && done
		}
		done, err := p.eval(renewScript, ttl.Milliseconds(), p.token)
		return err == nil && done
	})
}

// RLock of Redisson 3.43.0, with its watchdog, and 3.44.0 of 27 January 2025, commit 597d604: "lock watchdog doesn't
// renew RLock if an expection has been thrown".
// https://github.com/redisson/redisson/blob/master/CHANGELOG.md#27-jan-2025---3440-released
// https://github.com/redisson/redisson/issues/5698
//
// One renewal that failed, because an answer came late, was the last: the lease ended while its holder worked on, and
// another one got the lock. The repair tries again at the end of the next period.
//
// A renewal waits a tenth of the lease for its answer, as Redisson's does where nothing else is configured: 3 s of 30.
func redisson343(p *ported) {
	rdb := p.redis()
	p.watched(func() bool {
		done, err := renewScript.Eval(p.ctx, rdb.WithTimeout(ttl/10), []string{key}, ttl.Milliseconds(), p.token).Int()
		if err != nil {
			return p.repaired
		}
		return done == 1
	})
}

// watched uses RLock with long work, for which a watchdog calls renew every third of the lease until it returns false
// or the lock is released. A renewal that is under way is not waited for.
func (p *ported) watched(renew func() bool) {
	var mu sync.Mutex
	var timer *time.Timer
	stopped := false
	p.newToken()
	p.use(func() (bool, error) {
		got, err := p.tryLock()
		if got {
			mu.Lock()
			defer mu.Unlock()
			timer = time.AfterFunc(ttl/3, func() {
				if !renew() {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if !stopped {
					timer.Reset(ttl / 3)
				}
			})
		}
		return got, err
	}, func() (bool, error) {
		mu.Lock()
		stopped = true
		timer.Stop()
		mu.Unlock()
		return p.unlock()
	}, longWork)
}

// InterProcessMutex of Netflix Curator 1.0.0, and since October 2011, after issue 3.
// https://github.com/Netflix/curator/issues/3
//
// A place in the queue is an ephemeral, sequential znode, and Curator repeats a create whose answer was lost with the
// connection. The session went on, and with it the place that the first create had made: nobody knew its name, and all
// who came after it waited for it, its own client too. The repair puts a GUID into the name, and looks for it before
// it creates.
//
// The port repeats at once.
func curator10(p *ported) {
	if p.connect() != nil {
		return
	}
	own := ""
	p.use(func() (bool, error) {
		prefix := "lock-"
		if p.repaired {
			prefix = rand.Text() + "-lock-"
		}
		if err := p.makeQueue(); err != nil {
			return false, err
		}
		tried := false
		err := retry(func() (err error) {
			if tried && p.repaired {
				if own, err = p.find(prefix); own != "" || err != nil {
					return err
				}
			}
			tried = true
			own, err = p.join(prefix)
			return err
		})
		if err != nil {
			return false, err
		}
		return p.await(own)
	}, func() (bool, error) { return p.leave(own) }, work)
}

// Protected creation of Apache Curator 4.1.0, as LeaderLatch and InterProcessMutex have it, and 4.2.0, commit
// ea505f5: CURATOR-498. https://github.com/apache/curator/issues/1018
// https://issues.apache.org/jira/browse/CURATOR-498
//
// When a create has no answer, Curator looks for its GUID and takes what it finds for its place. When the connection
// stays away it gives the session up and begins a new one. The place that it then found was of the old session: it
// disappeared with that, and another client got the lock beside the one that believed in it. The repair takes a place
// only if it is of the present session.
//
// The port gives the connection up when a create has no answer, and begins a new session two thirds of a time-out
// later, where Curator tries to connect until then. It looks at the owner of the znode, where Curator compares the
// session with that of its first attempt.
func curator41(p *ported) {
	own := ""
	create := func(prefix string) (err error) {
		for range 4 {
			if own, err = p.join(prefix); !errors.Is(err, zk.ErrConnectionClosed) {
				return err
			}
			p.conn.Close()
			time.Sleep(ttl * 2 / 3)
			if err = p.connect(); err != nil {
				return err
			}
			found, err := p.find(prefix)
			if found != "" && err == nil && p.repaired {
				var stat *zk.Stat
				if _, stat, err = p.conn.Exists(found); err == nil && stat.EphemeralOwner != p.conn.SessionID() {
					found = ""
				}
			}
			if found != "" || err != nil {
				own = found
				return err
			}
		}
		return err
	}
	p.use(func() (bool, error) {
		if err := p.connect(); err != nil {
			return false, err
		}
		if err := p.makeQueue(); err != nil {
			return false, err
		}
		if err := create(rand.Text() + "-lock-"); err != nil {
			return false, err
		}
		return p.await(own)
	}, func() (bool, error) { return p.leave(own) }, work)
}

// connect begins a session with the ensemble.
func (p *ported) connect() (err error) {
	p.conn, err = session(p.Client)
	return err
}

// retry calls f again as long as the connection breaks, up to four times.
func retry(f func() error) (err error) {
	for range 4 {
		if err = f(); !errors.Is(err, zk.ErrConnectionClosed) {
			return err
		}
	}
	return err
}

// makeQueue creates the znode of the queue, if it is missing.
func (p *ported) makeQueue() error {
	return retry(func() error {
		if _, err := p.conn.Create(queue, nil, 0, everybody); !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		return nil
	})
}

// join creates a place in the queue, and returns its path.
func (p *ported) join(prefix string) (own string, err error) {
	return p.conn.Create(path.Join(queue, prefix), nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
}

// places returns the names of the places in the queue, the first one first.
func (p *ported) places() (places []string, err error) {
	err = retry(func() error {
		places, _, err = p.conn.Children(queue)
		return err
	})
	slices.SortFunc(places, func(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) })
	return places, err
}

// find returns the path of the place whose name begins so; "": there is none.
func (p *ported) find(prefix string) (string, error) {
	places, err := p.places()
	for _, place := range places {
		if strings.HasPrefix(place, prefix) {
			return path.Join(queue, place), err
		}
	}
	return "", err
}

// await waits until own, the path of a place, is the first of its queue. It reports false if the process ends before.
func (p *ported) await(own string) (bool, error) {
	for {
		places, err := p.places()
		if err != nil {
			return false, err
		}
		i := slices.Index(places, path.Base(own))
		if i <= 0 {
			if i < 0 {
				err = errors.New("the place in the queue is gone, as the session is")
			}
			return i == 0, err
		}
		var gone <-chan zk.Event
		err = retry(func() (err error) {
			_, _, gone, err = p.conn.GetW(path.Join(queue, places[i-1])) // which watches no place that is gone
			return err
		})
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return false, err
		}
		select {
		case <-gone:
		case <-p.ctx.Done():
			_, err := p.leave(own)
			return false, err
		}
	}
}

// leave deletes a place, and reports whether it was there.
func (p *ported) leave(own string) (bool, error) {
	err := retry(func() error { return p.conn.Delete(own, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}
