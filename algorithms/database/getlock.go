package database

import (
	"context"

	"locklab/algorithms/lock"
)

// oldGetLock is a lock by a name, which MySQL keeps for a session: one for each. (1998: MySQL 3.21; MySQL 5.6
// Reference Manual, "GET_LOCK".)
//
// It was meant for locks that are no rows.
//
// How it fails: who takes a second lock, of any name, loses the first, and no answer says so: GET_LOCK releases it even
// if the second is refused. Who takes its own again has it once. And the session may end, as with [getLock].
//
// Ours does not wait (GET_LOCK with 0 seconds), and has one connection for all keys of the process, as a script has.
var oldGetLock = sessionEntry("db-get-lock-old", lock.Named, 1998, lock.MySQL56,
	sessionSQL{take: getLockSQL.take, end: getLockSQL.end, one: true})

// getLock is [oldGetLock] on a server where a session may have several. (2015: MySQL 5.7, since its milestone 5.7.5;
// MariaDB since 10.0.2.)
//
// How it fails: the server ends a session in which nothing came for wait_timeout, and the lock with it, while its
// holder works on (iTop's issue 209).
//
// Ours does not wait, and has a connection for each key.
var getLock = sessionEntry("db-get-lock", lock.Named, 2015, lock.MySQL, getLockSQL)

var getLockSQL = sessionSQL{take: "SELECT GET_LOCK(?, 0)", end: "SELECT RELEASE_LOCK(?)"}

// pooledGetLock is [getLock] by code that does not keep its connection: it calls the pool twice, and the pool takes
// whichever connection is free. (2017: vault's issue 2700; authentik's issue 23876 is the same on PostgreSQL.)
//
// How it fails: if something of the process has the first connection when the lock is given back, here a ping that
// keeps the session from being idle, another session is asked, which has no such lock. The lock stays with the first
// one for as long as that is open, and refuses all other processes; the process itself may get it twice.
var pooledGetLock = getLock.Variant("db-get-lock-pool", 2017, func(env lock.Env) lock.Lock { return &pooled{env} })

type pooled struct{ env lock.Env }

func (s *pooled) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	taken, err := yes(ctx, s.env.DB, getLockSQL.take, key)
	if err := outcome(taken, err, lock.ErrNotAcquired, "GET_LOCK", key); err != nil {
		return nil, err
	}
	ping := func() error {
		_, err := yes(context.WithoutCancel(ctx), s.env.DB, "SELECT 1")
		return err
	}
	l := &pooledLease{env: s.env, key: key, pings: &lock.Renewal{Clock: s.env.Clock, Every: s.env.TTL / 3, Send: ping}}
	l.pings.Arm(s.env.TTL / 3)
	return l, nil
}

type pooledLease struct {
	lock.Reporting
	env   lock.Env
	key   string
	pings *lock.Renewal
}

func (l *pooledLease) Release(ctx context.Context) error {
	l.pings.Stop()
	held, err := yes(ctx, l.env.DB, getLockSQL.end, l.key)
	return outcome(held, err, lock.ErrNotHeld, "RELEASE_LOCK", l.key)
}
