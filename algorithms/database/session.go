package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

// A sessionLock is kept by a server for a session: for one connection of the pool, which a lease keeps to itself until
// its release, or which all leases of the process share. The session and the lock end when the connection breaks.
type sessionLock struct {
	env    lock.Env
	how    sessionSQL
	conn   *sql.Conn // of all leases, if how.one; nil: there is none
	leases int       // on conn
}

// sessionSQL are the statements of a sessionLock, whose one argument is the key but for begin and a COMMIT.
type sessionSQL struct {
	begin string // of its transaction; "": it needs none
	take  string // asks for the lock and does not wait. It answers with 1 or true if it is given
	end   string // gives it back. In a transaction it has no answer, else 1 or true if the session had it
	one   bool   // all leases of the process are of one connection
}

// sessionEntry is a lock that lasts as long as its session.
func sessionEntry(id string, family lock.Family, year int, dialect lock.Dialect, how sessionSQL) lock.Entry {
	server := lock.InDatabase(dialect)
	server.Rows = family == lock.Rows
	return lock.Entry{
		ID: id, Family: family, Year: year, Server: server,
		TTL: 10 * time.Second, Unit: time.Millisecond, Expiry: lock.ExpirySession,
		New: func(env lock.Env) lock.Lock { return &sessionLock{env: env, how: how} },
	}
}

// forUpdate locks a row in a transaction that lasts as long as the work. (2001: Quartz's StdRowLockSemaphore,
// SELECT .. FOR UPDATE on its table QRTZ_LOCKS.)
//
// The server keeps the lock, grants it in the order of arrival, and ends it with the connection: no deadline has to
// exceed the time of the work.
//
// How it fails: the transaction stays open while the client works, and a server that ends idle ones
// (idle_in_transaction_session_timeout), an administrator or a proxy ends the lock with it; the holder does not notice.
//
// Ours does not wait for the row (NOWAIT, of PostgreSQL 8.1). The row must exist.
var forUpdate = sessionEntry("db-for-update", lock.Rows, 2001, lock.PostgreSQL, sessionSQL{
	begin: "BEGIN", take: "SELECT name = $1 FROM locks WHERE name = $1 FOR UPDATE NOWAIT", end: "COMMIT",
})

// skipLocked skips a locked row, as a queue of jobs does. (2016: PostgreSQL 9.5; MySQL 8.0 and MariaDB 10.6 followed.)
//
// It was meant to take the next free job without an error and without waiting for those that others work on.
//
// How it fails: as [forUpdate].
var skipLocked = sessionEntry("db-skip-locked", lock.Rows, 2016, lock.PostgreSQL, sessionSQL{
	begin: "BEGIN", take: "SELECT name = $1 FROM locks WHERE name = $1 FOR UPDATE SKIP LOCKED", end: "COMMIT",
})

// advisory is a lock by a number that PostgreSQL keeps for a session. (2006: PostgreSQL 8.2, "Advisory Locks".)
//
// It was meant for locks that are no rows: nothing is written, and nothing stays behind.
//
// How it fails: with the connection, as [forUpdate]; and behind a proxy that gives each transaction another connection
// (pgbouncer's transaction pooling) lock and unlock are of two sessions.
//
// Ours takes the key's hash for the number, so two keys may have the same, and does not wait (pg_try_advisory_lock).
var advisory = sessionEntry("db-advisory", lock.Named, 2006, lock.PostgreSQL, sessionSQL{
	take: "SELECT pg_try_advisory_lock(hashtext($1))", end: "SELECT pg_advisory_unlock(hashtext($1))",
})

// advisoryXact is [advisory] for a transaction. (2011: PostgreSQL 9.1.)
//
// It was meant to end with the transaction, so that it is never forgotten, and to go through a proxy.
//
// How it fails: as [forUpdate]: the transaction lasts as long as the work.
var advisoryXact = sessionEntry("db-advisory-xact", lock.Named, 2011, lock.PostgreSQL, sessionSQL{
	begin: "BEGIN", take: "SELECT pg_try_advisory_xact_lock(hashtext($1))", end: "COMMIT",
})

func (s *sessionLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, lock.Unknown("connect", key, err)
	}
	if s.how.begin != "" {
		_, err = conn.ExecContext(ctx, s.how.begin)
	}
	taken := false
	if err == nil {
		taken, err = yes(ctx, conn, s.how.take, key)
		if errors.Is(err, sql.ErrNoRows) || refused(err) {
			err = nil
		}
	}
	if err == nil && !taken && s.how.begin != "" {
		_, err = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	switch {
	case err != nil:
		s.leave(conn, err)
		return nil, lock.Unknown("lock", key, err)
	case !taken:
		s.leave(conn, nil)
		return nil, lock.ErrNotAcquired
	}
	return &sessionLease{of: s, conn: conn, key: key}, nil
}

// connect returns the connection for a lease, which is that of the others, if it is to be one.
func (s *sessionLock) connect(ctx context.Context) (conn *sql.Conn, err error) {
	if conn = s.conn; conn == nil {
		conn, err = s.env.DB.Conn(ctx)
	}
	if s.how.one && err == nil {
		s.conn, s.leases = conn, s.leases+1
	}
	return conn, err
}

// leave gives the connection of a lease back to its pool, unless others are on it. After an error it is closed: what
// its session holds is not known.
func (s *sessionLock) leave(conn *sql.Conn, err error) {
	if conn == s.conn {
		if s.leases--; s.leases > 0 && err == nil {
			return
		}
		s.conn, s.leases = nil, 0
	}
	if err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // which closes it
	} else {
		conn.Close()
	}
}

var _ lock.Renewer = (*sessionLease)(nil)

type sessionLease struct {
	lock.Reporting
	of   *sessionLock
	conn *sql.Conn
	key  string
}

// Renew sends a query, so that the server does not end an idle session. An answer says that it is still there.
func (l *sessionLease) Renew(ctx context.Context) error {
	_, err := yes(ctx, l.conn, "SELECT 1")
	return outcome(true, err, nil, "SELECT", l.key)
}

func (l *sessionLease) Release(ctx context.Context) (err error) {
	held := true
	if l.of.how.begin != "" {
		_, err = l.conn.ExecContext(ctx, l.of.how.end)
	} else {
		held, err = yes(ctx, l.conn, l.of.how.end, l.key)
	}
	l.of.leave(l.conn, err)
	return outcome(held, err, lock.ErrNotHeld, "unlock", l.key)
}
