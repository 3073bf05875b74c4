package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var (
	_ lock.Strategy = (*KeyLock)(nil)
	_ lock.Renewer  = (*keyLease)(nil)
	_ lock.Reporter = (*reportingLease)(nil)
	_ lock.Reporter = (*ownedLease)(nil)
)

// KeyLock is one key with one value on one server: most of the locks here. The
// articles argue about four parts of it, and each of their locks is a choice of
// these: what value it writes, which commands create the key, which give it back,
// and who, if anybody, keeps it alive meanwhile. The lock's entry tells what it
// was meant to mend and how it falls.
type KeyLock struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration

	value func() string // what Acquire writes, made anew for each
	take  taking
	give  giving
	keep  *keeping // nil: the TTL runs from Acquire to its end
	// endless are the renewals that no Release ends, by key.
	endless map[string]*renewal
}

type (
	// A taking creates the key or returns ErrNotAcquired when there is one. Any
	// other error leaves open whether the key was created.
	taking func(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error

	// A giving removes the key.
	giving struct {
		send    func(ctx context.Context, node redis.UniversalClient, key, value string) error
		reports bool // send's nil is the statement of a Reporter
	}

	// A prolonging sets the key's TTL.
	prolonging func(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error

	// A keeping prolongs the lease again and again while it is held.
	keeping struct {
		first, every time.Duration // after Acquire, and after each renewal, on the client's clock
		extend       time.Duration // TTL that a renewal sets
		send         prolonging
		owned        bool // send returns ErrNotHeld when the key holds another value
		endless      bool // nobody ends it but the end of the process
	}
)

// newKeyLock is the lock without a renewal.
func newKeyLock(env lock.Env, value func() string, take taking, give giving) *KeyLock {
	return &KeyLock{node: env.Nodes[0], clock: env.Clock, ttl: env.TTL, value: value, take: take, give: give}
}

// kept is the lock with its lease kept alive.
func (s *KeyLock) kept(k keeping) *KeyLock {
	s.keep, s.endless = &k, map[string]*renewal{}
	return s
}

// constant is a value that is the same for everybody, and so nobody's.
func constant(value string) func() string {
	return func() string { return value }
}

// Acquire creates the key. An error other than ErrNotAcquired leaves open whether
// it is there; what ends it then is Entry.Expiry.
func (s *KeyLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &keyLease{lock: s, key: key, value: s.value()}
	if err := s.take(ctx, s.node, key, l.value, s.ttl); err != nil {
		return nil, err
	}
	if s.keep != nil {
		// The renewals outlive the call that acquired, and its deadline.
		s.startRenewal(context.WithoutCancel(ctx), l)
	}
	return l.withItsPowers(), nil
}

// startRenewal keeps the key of l alive.
func (s *KeyLock) startRenewal(ctx context.Context, l *keyLease) {
	k := s.keep
	if k.endless {
		if old := s.endless[l.key]; old != nil && !old.over() {
			return
		}
	}
	r := &renewal{clock: s.clock, every: k.every, send: func() error { return l.renew(ctx, k.extend) }}
	r.arm(k.first)
	if k.endless {
		s.endless[l.key] = r
	} else {
		l.renewal = r
	}
}

// A keyLease is one creation of the key.
type keyLease struct {
	lock       *KeyLock
	key, value string
	renewal    *renewal // nil: none, or an endless one
}

// What of a keyLease its caller sees.
type (
	blindLease     struct{ lock.Lease }
	reportingLease struct {
		lock.Lease
		reports
	}
	ownedLease struct { // whoever asks before renewing asks before giving back
		lock.Renewer
		reports
	}
)

// reports is the mark of a Reporter.
type reports struct{}

// Reports implements [Reporter].
func (reports) Reports() {}

// withItsPowers shows those methods of l that its lock has.
func (l *keyLease) withItsPowers() lock.Lease {
	switch keep := l.lock.keep; {
	case keep != nil && keep.owned:
		return &ownedLease{Renewer: l}
	case l.lock.give.reports:
		return &reportingLease{Lease: l}
	}
	return blindLease{l}
}

// Release ends the renewal and then gives the key back.
func (l *keyLease) Release(ctx context.Context) error {
	if l.renewal != nil {
		l.renewal.stop()
	}
	return l.lock.give.send(ctx, l.lock.node, l.key, l.value)
}

// Renew resets the TTL to its full length, or returns ErrNotHeld.
func (l *keyLease) Renew(ctx context.Context) error { return l.renew(ctx, l.lock.ttl) }

func (l *keyLease) renew(ctx context.Context, ttl time.Duration) error {
	return l.lock.keep.send(ctx, l.lock.node, l.key, l.value, ttl)
}
