package redis

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var watchdog = lock.Entry{
	ID:      "watchdog",
	Family:  lock.Redisson,
	Article: "003-C",
	Year:    2014,
	Server:  lock.OnRedis(1),
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Lock { return newWatchdog(env) },
}

// Watchdog keeps its lease alive: as long as the process lives and the lock is its own, a timer resets the TTL every
// third of it. (2014: RLock came with Redisson 1.0.0 in January; its source renews since a commit of November 2014,
// released as 1.3.0 in July 2015, and checks the owner on renewal only since September 2016. Article 003-C reads
// version 3.12.5, the first with a WAIT; this is the one before.)
//
// It was meant to fix work that takes longer than the TTL, the failure that token leaves open: the TTL need not be
// guessed any more; it only limits for how long a crashed holder blocks the others. A crash ends the watchdog too.
//
// The key is a hash with one field, process and thread, whose value counts how often that thread holds the lock: it may
// acquire it again. Each Release subtracts one; the last deletes the key and publishes a message to waiters.
//
// How it fails: the first failed renewal is the last one (since Redisson 3.44 the next one is sent anyway), and the
// holder is not told; the key goes when the TTL ends. A pause of the whole process stops the watchdog too: with 30 s, a
// pause just before a renewal may last 20 s, one just after it 30 s. A holder that hangs holds the lock for ever. A
// failover that loses the key grants it twice, and a holder on the wrong side of a network split keeps renewing.
//
// Where ours differs from 3.12.5:
//   - No retries. That version sends a script again to which no answer came; see redisson-retry.
//   - No WAIT. That version sends every script together with a WAIT for the replicas, if it
//     knows of any; see redisson-wait.
//   - One watchdog for each lease. Redisson has one for each process and key, and starts no
//     other when a thread enters again. Until 3.14.0 it also kept the entry of a watchdog
//     whose renewal had failed: the next lock of that key in that process is then not renewed
//     at all, unless the process has unlocked in the meantime; see redisson-entry.
//   - The thread id is always 1, since a Lock belongs to one process and is used by one
//     thread at a time.
//   - It does not wait until it gets the lock. [RedissonLock] does: it listens on the channel
//     and uses the rest of the TTL, which a refusal returns.
type Watchdog struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration
	owner string // the hash field: process id, colon, thread id

	// What the variants in redisson.go change.
	noRenewal bool                // the caller has given a lease time
	rearms    bool                // after a failed renewal, unless the lock is not held any more
	waits     bool                // sends a WAIT with each script
	resends   int                 // of a script to which no answer came
	entries   map[string]*watched // not nil: one watchdog per key, and not per lease
}

func newWatchdog(env lock.Env) *Watchdog {
	return &Watchdog{node: env.Nodes[0], clock: env.Clock, ttl: env.TTL, owner: env.Tokens.Token() + ":1"}
}

// acquireHashScript takes a free lock, or one more hold of the caller's own lock. KEYS:
// lock. ARGV: owner, TTL in ms. Reply: nil if taken, else the rest of the TTL in ms.
var acquireHashScript = redis.NewScript(`
local free = redis.call("EXISTS", KEYS[1]) == 0
if free or redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then
  redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return nil
end
return redis.call("PTTL", KEYS[1])
`)

// renewHashScript resets the TTL of the caller's own lock. KEYS: lock. ARGV: owner, TTL in
// ms. Reply: 1, or 0 if the lock is not the caller's.
var renewHashScript = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
  return 0
end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
`)

// releaseHashScript gives one hold back. KEYS: lock, channel. ARGV: owner, TTL in ms, message. Reply: nil if the lock
// is not the caller's, 0 if the caller has holds left, 1 if the lock is free.
var releaseHashScript = redis.NewScript(`
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

// Acquire takes the lock, or one more hold if this process has it already, and starts the watchdog. After an error it
// is unknown whether the lock was taken; no watchdog runs then, so the key goes when its TTL ends.
func (s *Watchdog) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	lease, _, err := s.try(ctx, key)
	return lease, err
}

// try is Acquire. With ErrNotAcquired, left is the rest of the holder's lease by the
// server's clock; below 0 the key has no TTL, or has just ended.
func (s *Watchdog) try(ctx context.Context, key string) (lease lock.Lease, left time.Duration, err error) {
	ms, err := s.eval(ctx, acquireHashScript, []string{key}, s.owner, s.ttl.Milliseconds()).Int64()
	switch {
	case err == nil: // a reply other than nil
		return nil, time.Duration(ms) * time.Millisecond, lock.ErrNotAcquired
	case !errors.Is(err, redis.Nil):
		return nil, 0, lock.Unknown("acquire script", key, err)
	}
	return s.hold(ctx, key), 0, nil
}

// hold is the lease of a lock that has been taken.
func (s *Watchdog) hold(ctx context.Context, key string) *watchdogLease {
	l := &watchdogLease{lock: s, key: key, watched: s.entry(key)}
	if !s.noRenewal {
		// The renewals must survive the end of this call's context.
		l.watch(context.WithoutCancel(ctx))
	}
	return l
}

// retryInterval is Redisson's default.
const retryInterval = 1500 * time.Millisecond

// eval runs a script, and sends it again as often as this lock does.
func (s *Watchdog) eval(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	for left := s.resends; ; left-- {
		reply := s.send(ctx, script, keys, args...)
		var said redis.Error
		if err := reply.Err(); left == 0 || err == nil || errors.As(err, &said) || ctx.Err() != nil {
			return reply
		}
		if late := net.Error(nil); !errors.As(reply.Err(), &late) || !late.Timeout() {
			s.clock.Sleep(retryInterval)
		}
	}
}

// send runs a script, followed by a WAIT if this lock waits. It ignores the number of
// replicas. An error of WAIT counts as an error of the script, whose outcome is then unknown.
func (s *Watchdog) send(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	if !s.waits {
		return script.Eval(ctx, s.node, keys, args...)
	}
	reply, _, err := sendWithWAIT(ctx, s.node, waitReplicas, waitTime, func(p redis.Pipeliner) *redis.Cmd {
		return script.Eval(ctx, p, keys, args...)
	})
	if err != nil {
		reply.SetErr(err)
	}
	return reply
}

var _ lock.Renewer = (*watchdogLease)(nil)

type watchdogLease struct {
	reports
	lock    *Watchdog
	key     string
	watched *watched
}

// A watched is what one watchdog renews: one lease, or all leases that a process has of one key.
type watched struct {
	leases  int
	renewal *lock.Renewal
}

// entry returns what the watchdog of a new lease of key renews.
func (s *Watchdog) entry(key string) *watched {
	if s.entries == nil {
		return &watched{}
	}
	if s.entries[key] == nil {
		s.entries[key] = &watched{}
	}
	return s.entries[key]
}

// watch starts a watchdog for the lease, unless its entry already has one.
func (l *watchdogLease) watch(ctx context.Context) {
	if l.watched.leases++; l.watched.leases > 1 {
		return // without checking whether that one still runs
	}
	every := fraction(l.lock.ttl, 1, 3)
	l.watched.renewal = &lock.Renewal{Clock: l.lock.clock, Every: every, Send: func() error { return l.tick(ctx) }}
	l.watched.renewal.Arm(every)
}

// tick is one renewal, in the timer's thread. Redisson logs a failure and does not tell the holder.
func (l *watchdogLease) tick(ctx context.Context) error {
	err := l.Renew(ctx)
	if l.lock.rearms && !errors.Is(err, lock.ErrNotHeld) {
		return nil
	}
	return err
}

// unwatch stops the watchdog after the last lease that it renews.
func (l *watchdogLease) unwatch() {
	w := l.watched
	if w.leases--; w.leases > 0 {
		return
	}
	if l.lock.entries[l.key] == w {
		delete(l.lock.entries, l.key)
	}
	if w.renewal != nil {
		w.renewal.Stop()
	}
}

// Renew resets the TTL in full, or returns ErrNotHeld if the process no longer holds the lock. It restarts no watchdog.
func (l *watchdogLease) Renew(ctx context.Context) error {
	s := l.lock
	reply := s.eval(ctx, renewHashScript, []string{l.key}, s.owner, s.ttl.Milliseconds())
	return notHeldIfZero(reply, "renewal script", l.key)
}

// Release gives this hold back, and returns ErrNotHeld if the process no longer holds the lock. The watchdog is stopped
// after the server's answer, whatever it is: if it is an error, the key goes when its TTL ends.
func (l *watchdogLease) Release(ctx context.Context) error {
	s := l.lock
	keys := []string{l.key, unlockChannel(l.key)}
	reply := s.eval(ctx, releaseHashScript, keys, s.owner, s.ttl.Milliseconds(), unlockMessage)
	l.unwatch()
	return refusedIfNil(reply, lock.ErrNotHeld, "release script", l.key)
}
