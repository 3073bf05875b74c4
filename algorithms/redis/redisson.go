package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// What else Redisson's RLock does, or did in another version: each is [Watchdog]
// with one thing changed.

// redissonLease is lock(leaseTime, unit): who says how long he needs gets no
// watchdog. (2014, as watchdog.)
//
// It was meant to mend the holder that hangs and holds for ever.
//
// How it falls: work that takes longer than the lease, as with token. Whoever
// passes a lease time to be on the safe side has switched the watchdog off.
var redissonLease = watchdog.Variant("redisson-lease", 2014,
	lock.Text{EN: "Redisson's lock with a lease time: no watchdog", ZH: "Redisson 指定租约时长的锁：不启动看门狗"},
	watching(func(s *Watchdog) { s.unwatched = true }))

// redissonWait sends every script together with WAIT, for one replica and one
// second. (2020: Redisson 3.12.5, April.)
//
// It was meant to mend the failover to a replica that has not seen the key.
//
// How it falls: nobody looks at the number that WAIT answers. A lock that no
// replica has acknowledged within the second is held like any other.
//
// Redisson waits for as many replicas as it knows to be there, and sends no WAIT
// when there are none. Ours always asks for one, since an Env knows of none.
var redissonWait = func() lock.Entry {
	e := watchdog.Variant("redisson-wait", 2020,
		lock.Text{EN: "Redisson 3.12.5: WAIT with every script, its answer ignored", ZH: "Redisson 3.12.5：每段脚本都带 WAIT，却不看它的返回值"},
		watching(func(s *Watchdog) { s.waits = true }))
	e.Replicas = waitReplicas
	return e
}()

// redissonEntry has one watchdog for each key of a process, and an entry in a map
// that says that there is one. (2020: Redisson 3.12.5; issues 2515, 3194 and 3712
// tell it. From 3.14.0 on, November 2020, a failed renewal removes the entry.)
//
// How it falls: a renewal that fails ends the watchdog and leaves the entry. If the
// holder does not unlock (an exception, no finally), the next lock of that key in
// that process finds the entry and starts no watchdog: the lease ends unrenewed.
var redissonEntry = watchdog.Variant("redisson-entry", 2020,
	lock.Text{EN: "Redisson 3.12.5: a failed renewal leaves the next lock without a watchdog", ZH: "Redisson 3.12.5：一次续期失败，下一次加锁就没有看门狗了"},
	watching(func(s *Watchdog) { s.entries = map[string]*watched{} }))

// redissonRearm renews again after a renewal that failed. (2025: Redisson 3.44.0.)
//
// It was meant to mend that one lost packet ends the watchdog. Only the answer that
// the lock is not ours ends it now. How it falls: as [Watchdog], but for that.
var redissonRearm = watchdog.Variant("redisson-rearm", 2025,
	lock.Text{EN: "Redisson since 3.44: a failed renewal is tried again", ZH: "Redisson 3.44 起：续期失败会再试"},
	watching(func(s *Watchdog) { s.again = true }))

// watching makes a Watchdog and changes it.
func watching(change func(s *Watchdog)) func(lock.Env) lock.Strategy {
	return func(env lock.Env) lock.Strategy {
		s := newWatchdog(env)
		change(s)
		return s
	}
}

// eval runs a script, with a WAIT behind it if this lock waits. An error of WAIT
// counts as one of the script, whose outcome is then open; its number is dropped.
func (s *Watchdog) eval(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	if !s.waits {
		return script.Eval(ctx, s.node, keys, args...)
	}
	reply, _, err := andWait(ctx, s.node, waitReplicas, waitTime, func(p redis.Pipeliner) *redis.Cmd {
		return script.Eval(ctx, p, keys, args...)
	})
	if err != nil {
		reply.SetErr(err)
	}
	return reply
}
