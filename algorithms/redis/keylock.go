package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// KeyLock is a lock of one key with one value on one server, like most locks here. They differ in four choices: which
// value they write, which commands create the key, which delete it, and what renews the lease meanwhile. The lock's
// entry says what it was meant to fix and how it fails.
type KeyLock struct {
	node  redis.UniversalClient
	clock lock.Clock
	ttl   time.Duration

	values  lock.Tokens // what Acquire writes: one for each call
	creator creator
	release release
	renew   *renewalPlan // nil: nothing renews the lease
	// endless has the renewals that no Release stops, by key.
	endless map[string]*lock.Renewal
}

type (
	// A creator creates the key, or returns ErrNotAcquired if it exists. Any other
	// error means that it is unknown whether the key was created.
	creator interface {
		create(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error
	}

	// A createFunc is a creator that needs nothing else.
	createFunc func(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error

	// A deleteFunc deletes the key.
	deleteFunc func(ctx context.Context, node redis.UniversalClient, key, value string) error

	// An expireFunc sets the key's TTL.
	expireFunc func(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error

	// A release is a way to delete the key, and whether nil from it is the statement of a Reporter.
	release struct {
		send    deleteFunc
		reports bool
	}

	// A renewalPlan says when and how the lease is renewed while it is held.
	renewalPlan struct {
		first, every time.Duration // after Acquire, and after each renewal, on the client's clock
		ttl          time.Duration // that a renewal sets
		send         expireFunc
		checksOwner  bool // send returns ErrNotHeld if the key holds another value
		endless      bool // only the end of the process ends the renewals
	}
)

// reporting is for a deleteFunc that checks the owner and deletes in one step.
func reporting(send deleteFunc) release { return release{send, true} }

// silent is for a deleteFunc whose nil states nothing.
func silent(send deleteFunc) release { return release{send, false} }

// newKeyLock returns a lock without renewal.
func newKeyLock(env lock.Env, values lock.Tokens, create creator, release release) *KeyLock {
	return &KeyLock{node: env.Nodes[0], clock: env.Clock, ttl: env.TTL,
		values: values, creator: create, release: release}
}

// renewed adds renewal to the lock.
func (s *KeyLock) renewed(plan renewalPlan) *KeyLock {
	s.renew, s.endless = &plan, map[string]*lock.Renewal{}
	return s
}

// always is the same value for every process, so it identifies no owner.
type always string

// Token implements [lock.Tokens].
func (a always) Token() string { return string(a) }

func (f createFunc) create(ctx context.Context, node redis.UniversalClient, key, v string, ttl time.Duration) error {
	return f(ctx, node, key, v, ttl)
}

// withValue makes a lock that writes this value.
func withValue(value string, create createFunc, release release) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock { return newKeyLock(env, always(value), create, release) }
}

// withThread makes a lock that writes the id of its process's thread.
func withThread(create createFunc, release release) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock { return newKeyLock(env, always(env.Thread), create, release) }
}

// withToken makes a lock that writes a token of its own at each Acquire.
func withToken(create createFunc, release release) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock { return newKeyLock(env, env.Tokens, create, release) }
}

// Acquire creates the key. After an error other than ErrNotAcquired the key may exist; Entry.Expiry says what ends it.
func (s *KeyLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &keyLease{lock: s, key: key, value: s.values.Token()}
	if err := s.creator.create(ctx, s.node, key, l.value, s.ttl); err != nil {
		return nil, err
	}
	if s.renew != nil {
		// The renewals must survive the end of this call's context.
		s.startRenewal(context.WithoutCancel(ctx), l)
	}
	return l.withPowers(), nil
}

// startRenewal starts to renew the lease l.
func (s *KeyLock) startRenewal(ctx context.Context, l *keyLease) {
	plan := s.renew
	if plan.endless {
		if old := s.endless[l.key]; old != nil && !old.Over() {
			return
		}
	}
	r := &lock.Renewal{Clock: s.clock, Every: plan.every, Send: func() error { return l.expire(ctx, plan.ttl) }}
	r.Arm(plan.first)
	if plan.endless {
		s.endless[l.key] = r
	} else {
		l.renewal = r
	}
}

// A keyLease is one creation of the key.
type keyLease struct {
	lock       *KeyLock
	key, value string
	renewal    *lock.Renewal // nil: none, or an endless one
}

// A keyLease has the methods of all powers. Its caller gets one of these, which shows only those that the lock has.
type (
	blindLease     struct{ lock.Lease }
	reportingLease struct {
		lock.Lease
		reports
	}
	ownedLease struct { // a lock that checks the owner on renewal also does on release
		lock.Renewer
		reports
	}
)

// reports makes a lease a Reporter.
type reports = lock.Reporting

func (l *keyLease) withPowers() lock.Lease {
	switch plan := l.lock.renew; {
	case plan != nil && plan.checksOwner:
		return &ownedLease{Renewer: l}
	case l.lock.release.reports:
		return &reportingLease{Lease: l}
	}
	return blindLease{l}
}

// Release stops the renewal and then deletes the key.
func (l *keyLease) Release(ctx context.Context) error {
	if l.renewal != nil {
		l.renewal.Stop()
	}
	return l.lock.release.send(ctx, l.lock.node, l.key, l.value)
}

// Renew resets the TTL to its full length, or returns ErrNotHeld.
func (l *keyLease) Renew(ctx context.Context) error { return l.expire(ctx, l.lock.ttl) }

func (l *keyLease) expire(ctx context.Context, ttl time.Duration) error {
	return l.lock.renew.send(ctx, l.lock.node, l.key, l.value, ttl)
}
