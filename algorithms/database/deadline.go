package database

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"locklab/algorithms/lock"
)

// clientDeadline is a row with a deadline. Who finds the deadline over takes the row by an UPDATE
// that asks for it once more. (2016: ShedLock; its issue 231 asks for the server's clock.)
//
// It was meant to end the lease of a holder that has died, which [uniqueRow] does not.
//
// How it fails: the deadline is of one client's clock, and is compared with another's. A client whose clock is ahead
// takes a lease that has not ended. A holder that works or pauses for longer than its lease shares it with its
// successor, and its unlock, which names the key only, ends the lease of that.
//
// Ours is of its first versions: later ones add "AND locked_by" to the unlock.
var clientDeadline = lock.Entry{
	ID:     "db-deadline",
	Family: lock.Rows,
	Year:   2016,
	Server: lock.InDatabase(lock.MySQL),
	TTL:    10 * time.Second,
	Unit:   time.Millisecond,
	Expiry: lock.ExpiryClients,
	New:    func(env lock.Env) lock.Lock { return &stampedRow{env} },
}

type stampedRow struct{ env lock.Env }

func (s *stampedRow) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	token := s.env.Tokens.Token()
	now := s.env.Clock.Now()
	until := now.Add(s.env.TTL).UnixMilli()
	got, err := one(s.env.DB.ExecContext(ctx,
		"INSERT IGNORE INTO locks (name, owner, until_ms) VALUES (?, ?, ?)", key, token, until))
	if err == nil && !got {
		got, err = one(s.env.DB.ExecContext(ctx,
			"UPDATE locks SET owner = ?, until_ms = ? WHERE name = ? AND until_ms <= ?",
			token, until, key, now.UnixMilli()))
	}
	if err := outcome(got, err, lock.ErrNotAcquired, "UPDATE", key); err != nil {
		return nil, err
	}
	return &stampedLease{s.env, key}, nil
}

type stampedLease struct {
	env lock.Env
	key string
}

func (l *stampedLease) Release(ctx context.Context) error {
	_, err := l.env.DB.ExecContext(ctx, "UPDATE locks SET owner = NULL, until_ms = ? WHERE name = ?",
		l.env.Clock.Now().UnixMilli(), l.key)
	return outcome(true, err, nil, "UPDATE", l.key)
}

// serverDeadline is [clientDeadline] by the server's clock, with the owner in every statement and a
// version that counts the holders. (2020: ShedLock 4.9, usingDbTime; the conditional takeover in one
// statement is PostgreSQL's ON CONFLICT .. DO UPDATE .. WHERE, of version 9.5.)
//
// It was meant to compare deadlines with one clock only.
//
// How it fails: as any lease, by a holder that works or pauses for longer than it. The version is a fencing
// token, and a resource that refuses lower ones is safe from that. A failover to a replica that lacks
// the last commit gives the lock away twice, and the version, too.
//
// Ours reads the clock of the statement (clock_timestamp), and not of the transaction.
var serverDeadline = lock.Entry{
	ID:      "db-deadline-now",
	Family:  lock.Rows,
	Year:    2020,
	Server:  lock.InDatabase(lock.PostgreSQL),
	TTL:     10 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	Fencing: true,
	New:     func(env lock.Env) lock.Lock { return &timedRow{env} },
}

type timedRow struct{ env lock.Env }

const takeRow = `INSERT INTO locks (name, owner, version, until)
VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, version = locks.version + 1, until = excluded.until
WHERE locks.until <= clock_timestamp() RETURNING version`

func (s *timedRow) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	l := &timedLease{env: s.env, key: key, token: s.env.Tokens.Token()}
	err := s.env.DB.QueryRowContext(ctx, takeRow, key, l.token, s.env.TTL.Milliseconds()).Scan(&l.version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, lock.ErrNotAcquired
	case err != nil:
		return nil, lock.Unknown("INSERT", key, err)
	}
	return l, nil
}

var (
	_ lock.Renewer = (*timedLease)(nil)
	_ lock.Fencer  = (*timedLease)(nil)
)

type timedLease struct {
	lock.Reporting
	env     lock.Env
	key     string
	token   string
	version uint64
}

// FencingToken returns the version of the row that the lease has written.
func (l *timedLease) FencingToken() uint64 { return l.version }

// Renew implements [lock.Renewer].
func (l *timedLease) Renew(ctx context.Context) error {
	return l.update(ctx, "until = clock_timestamp() + $3 * interval '1 millisecond'", l.env.TTL.Milliseconds())
}

// Release ends the lease, and leaves the row for its version.
func (l *timedLease) Release(ctx context.Context) error {
	return l.update(ctx, "owner = NULL, until = clock_timestamp()")
}

// update sets columns of the row, with arguments from $3 on, if the lease still holds it.
func (l *timedLease) update(ctx context.Context, set string, args ...any) error {
	const held = " WHERE name = $1 AND owner = $2 AND until > clock_timestamp()"
	was, err := one(l.env.DB.ExecContext(ctx, "UPDATE locks SET "+set+held, append([]any{l.key, l.token}, args...)...))
	return outcome(was, err, lock.ErrNotHeld, "UPDATE", l.key)
}
