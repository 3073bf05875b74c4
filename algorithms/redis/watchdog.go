package redis

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var _ lock.Strategy = (*Watchdog)(nil)

var watchdog = lock.Entry{
	ID:      "watchdog",
	Family:  lock.Redisson,
	Article: "003-C",
	Year:    2014,
	Title:   lock.Text{EN: "Redisson's RLock: reentrant hash, renewed by a watchdog", ZH: "Redisson 的 RLock：可重入的 hash，由看门狗续期"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Strategy { return newWatchdog(env) },
}

// Watchdog keeps its lease alive: as long as the process lives and the lock is
// its own, a timer resets the TTL every third of it. (2014: RLock came with
// Redisson 1.0.0 in January; its source renews from a commit of November 2014
// on, released as 1.3.0 in July 2015, and asks whose lock it renews only since
// September 2016. Article 003-C, on version 3.12.5.)
//
// It was meant to mend the work that takes longer than the TTL, the fall that
// the token lock leaves open: the TTL need not be guessed any more, it only bounds
// how long a crashed holder blocks the others. A crash takes the watchdog with it.
//
// The key is a hash of one field, process and thread, whose value counts how
// often that thread holds the lock. A thread that has it may acquire it again,
// and each Release takes one off; the last one deletes the key and tells the
// waiters on a channel.
//
// How it falls: one renewal that fails is the last one (from Redisson 3.44 on, the
// next one comes all the same), and the holder is not told; the key goes when the
// TTL ends. A pause of the whole process stops the watchdog as well: with 30 s,
// one that begins just before a renewal may last 20 s, one that begins just after
// it 30 s. A holder that hangs holds for ever. A failover that loses the key
// grants it twice, and a holder on the wrong side of a split renews happily.
//
// Where our form differs from 3.12.5:
//   - No WAIT. That version sends every script together with a WAIT for the
//     replicas, when it knows of any; see redisson-wait.
//   - One watchdog for each lease. Redisson has one for each process and key, and
//     starts no other for a re-entry. Since it also keeps the entry of one whose
//     renewal failed (until 3.14.0), the next lock of that key in that process is
//     not renewed at all, unless somebody there has unlocked in the meantime; see
//     redisson-entry.
//   - The thread id is always 1, since a Strategy is one process's, used by one
//     thread at a time.
//   - It does not wait for its turn; see [RedissonLock], which listens on the channel
//     and makes use of the refusal's reply, the milliseconds left.
type Watchdog struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration
	owner string // the hash field: process id, colon, thread id

	// What the variants of redisson.go change.
	unwatched bool                // no renewal: the caller has given a lease time
	again     bool                // a renewal that failed for an unknown reason does not end the watchdog
	waits     bool                // each script goes out with a WAIT
	entries   map[string]*watched // not nil: one watchdog for each key of the process
}

func newWatchdog(env lock.Env) *Watchdog {
	return &Watchdog{node: env.Nodes[0], clock: env.Clock, ttl: env.TTL, owner: env.Tokens.Token() + ":1"}
}

// acquireHash takes a free lock, or one more hold of the caller's own. KEYS:
// lock. ARGV: owner, TTL in ms. Reply: nil when taken, else the TTL left in ms.
var acquireHash = redis.NewScript(`
local free = redis.call("EXISTS", KEYS[1]) == 0
if free or redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then
  redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return nil
end
return redis.call("PTTL", KEYS[1])
`)

// renewHash resets the TTL of the caller's own lock. KEYS: lock. ARGV: owner,
// TTL in ms. Reply: 1, or 0 when the lock is not the caller's.
var renewHash = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
  return 0
end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
`)

// releaseHash gives one hold back. KEYS: lock, channel. ARGV: owner, TTL in ms,
// message. Reply: nil when the lock is not the caller's, 0 when the caller still
// has holds left, 1 when the lock is free.
var releaseHash = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
  return nil
end
if redis.call("HINCRBY", KEYS[1], ARGV[1], -1) > 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", KEYS[2], ARGV[3])
return 1
`)

// unlockMessage is what waiters hear when the lock becomes free.
const unlockMessage = 0

// Acquire takes the lock, or one more hold if this process has it already, and
// sets the watchdog on it. An error leaves open whether the lock was taken; no
// watchdog runs then, so the key goes when its TTL ends.
func (s *Watchdog) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	lease, _, err := s.try(ctx, key)
	return lease, err
}

// try is Acquire. With ErrNotAcquired it says what is left of the holder's lease;
// below 0, the key has no end, or has just come to it.
func (s *Watchdog) try(ctx context.Context, key string) (lease lock.Lease, left time.Duration, err error) {
	ms, err := s.eval(ctx, acquireHash, []string{key}, s.owner, s.ttl.Milliseconds()).Int64()
	switch {
	case err == nil: // a reply other than nil
		return nil, time.Duration(ms) * time.Millisecond, lock.ErrNotAcquired
	case !errors.Is(err, redis.Nil):
		return nil, 0, lock.Unknown("acquire script", key, err)
	}
	l := &watchdogLease{lock: s, key: key, watched: s.entry(key)}
	if !s.unwatched {
		// The renewals outlive the call that acquired, and its deadline.
		l.watch(context.WithoutCancel(ctx))
	}
	return l, 0, nil
}

// period is the time from one renewal to the next: a third of the TTL in whole
// milliseconds, at least one.
func (s *Watchdog) period() time.Duration {
	return max((s.ttl / 3).Truncate(time.Millisecond), time.Millisecond)
}

var (
	_ lock.Reporter = (*watchdogLease)(nil)
	_ lock.Renewer  = (*watchdogLease)(nil)
)

type watchdogLease struct {
	reports
	lock    *Watchdog
	key     string
	watched *watched
}

// watched is what one watchdog serves: a lease, or all that a process has of a key.
type watched struct {
	leases  int
	renewal *renewal
}

// entry is what a new lease of key is watched with.
func (s *Watchdog) entry(key string) *watched {
	if s.entries == nil {
		return &watched{}
	}
	if s.entries[key] == nil {
		s.entries[key] = &watched{}
	}
	return s.entries[key]
}

// watch sets the watchdog on the lease, unless there is one by the entry.
func (l *watchdogLease) watch(ctx context.Context) {
	if l.watched.leases++; l.watched.leases > 1 {
		return // nobody looks whether that one is alive
	}
	every := l.lock.period()
	l.watched.renewal = &renewal{clock: l.lock.clock, every: every, send: func() error { return l.tick(ctx) }}
	l.watched.renewal.arm(every)
}

// tick is one renewal, in the timer's thread. Redisson writes a failure into its
// log; the holder is not told.
func (l *watchdogLease) tick(ctx context.Context) error {
	err := l.Renew(ctx)
	if l.lock.again && !errors.Is(err, lock.ErrNotHeld) {
		return nil
	}
	return err
}

// unwatch ends the watchdog with the last lease that it serves.
func (l *watchdogLease) unwatch() {
	w := l.watched
	if w.leases--; w.leases > 0 {
		return
	}
	if l.lock.entries[l.key] == w {
		delete(l.lock.entries, l.key)
	}
	if w.renewal != nil {
		w.renewal.stop()
	}
}

// Renew resets the TTL to its full length. It returns ErrNotHeld when the
// process does not hold the lock any more. It does not wake a watchdog that died.
func (l *watchdogLease) Renew(ctx context.Context) error {
	s := l.lock
	renewed, err := s.eval(ctx, renewHash, []string{l.key}, s.owner, s.ttl.Milliseconds()).Int()
	switch {
	case err != nil:
		return lock.Unknown("renewal script", l.key, err)
	case renewed == 0:
		return lock.ErrNotHeld
	}
	return nil
}

// Release gives this hold back, and returns ErrNotHeld when the process does not
// hold the lock any more. The watchdog ends after the server's answer, whatever
// it was: if the answer is an error, the key goes when its TTL ends.
func (l *watchdogLease) Release(ctx context.Context) error {
	s := l.lock
	keys := []string{l.key, unlockChannel(l.key)}
	err := s.eval(ctx, releaseHash, keys, s.owner, s.ttl.Milliseconds(), unlockMessage).Err()
	l.unwatch()
	switch {
	case errors.Is(err, redis.Nil):
		return lock.ErrNotHeld
	case err != nil:
		return lock.Unknown("release script", l.key, err)
	}
	return nil
}

// unlockChannel is Redisson's channel for key. The braces put it on the key's
// shard of a cluster; a key that brings its own is left as it is.
func unlockChannel(key string) string {
	if strings.Contains(key, "{") {
		return "redisson_lock__channel:" + key
	}
	return "redisson_lock__channel:{" + key + "}"
}
