package database

import (
	"context"

	"locklab/algorithms/lock"
)

// uniqueRow inserts a row, whose key is unique, and deletes it. (2006: Liquibase's table
// DATABASECHANGELOGLOCK, and the first answer to "a distributed lock in a database" ever since.)
//
// It needs nothing but a table, and is what SETNX is on Redis.
//
// How it fails: nothing ends the lease of a holder that has died. The row stays until a person
// deletes it; Liquibase prints "Waiting for changelog lock" until then. Its DELETE names the
// key only, so that a holder whose row was deleted deletes that of its successor.
//
// Ours inserts with IGNORE, so that a row that is there is no error. Liquibase keeps the row and
// updates a column LOCKED, which excludes in the same way.
var uniqueRow = lock.Entry{
	ID:     "db-row",
	Family: lock.Rows,
	Year:   2006,
	Server: lock.InDatabase(lock.MySQL),
	Expiry: lock.ExpiryNone,
	New:    func(env lock.Env) lock.Lock { return &row{env} },
}

type row struct{ env lock.Env }

func (s *row) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	inserted, err := one(s.env.DB.ExecContext(ctx,
		"INSERT IGNORE INTO locks (name, owner) VALUES (?, ?)", key, s.env.Tokens.Token()))
	if err := outcome(inserted, err, lock.ErrNotAcquired, "INSERT", key); err != nil {
		return nil, err
	}
	return &rowLease{s.env, key}, nil
}

type rowLease struct {
	env lock.Env
	key string
}

func (l *rowLease) Release(ctx context.Context) error {
	_, err := l.env.DB.ExecContext(ctx, "DELETE FROM locks WHERE name = ?", l.key)
	return outcome(true, err, nil, "DELETE", l.key)
}
