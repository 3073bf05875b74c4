// Package database has locks in a relational database, on database/sql: rows that are inserted, rows with a deadline,
// rows that a transaction locks, and locks that a server keeps by a name. And it has what is used in place of a lock:
// a condition of the statement that writes.
//
// Every lock is one [lock.Entry]. The comment of its entry names the year and the source, what the lock was meant to
// fix, how it fails, and where ours differs from the source. A new lock is one file and one line in [All].
//
// Those with rows have them in one table:
//
//	CREATE TABLE locks (
//	  name     VARCHAR(64) NOT NULL PRIMARY KEY, -- the key
//	  owner    VARCHAR(64),                      -- a token of the holder; NULL: there is none
//	  version  BIGINT NOT NULL DEFAULT 0,        -- counts the holders
//	  until_ms BIGINT,                           -- end of the lease, milliseconds of a client's clock since 1970
//	  until    TIMESTAMP(3) NULL                 -- end of the lease, on the server's clock
//	)
//
// What holds with MySQL holds with MariaDB. Both have their defaults: autocommit, REPEATABLE READ or READ COMMITTED.
package database

import (
	"context"
	"database/sql"
	"errors"

	"locklab/algorithms/lock"
)

// All returns the locks that lock in a database, each after the one that it was meant to
// fix, and then those without a lock. The caller may change the slice.
func All() []lock.Entry {
	return []lock.Entry{
		// To enter again lets two in without a fault; in two attempts that has too many states.
		oldGetLock.Searched(lock.Search{NoUses: true, Beside: &lock.Search{Once: true}}),
		// To renew shows nothing else.
		forUpdate.Searched(lock.Search{NoUses: true}),
		uniqueRow,
		advisory,
		// To renew shows nothing else.
		advisoryXact.Searched(lock.Search{NoUses: true}),
		getLock,
		// To renew shows nothing else.
		skipLocked.Searched(lock.Search{NoUses: true}),
		// It reads a clock: two attempts have no end.
		clientDeadline.Searched(lock.Search{Once: true}),
		// With a pool of connections two attempts have no end.
		pooledGetLock.Searched(lock.Search{Once: true, NoUses: true}),
		serverDeadline,
		byVersion,
		once,
		// To enter again shows nothing else.
		byToken.Searched(lock.Search{NoUses: true}),
	}
}

// one reports whether a statement has changed a row.
func one(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// outcome returns refusal if a statement has had no effect, and that it is unknown whether it had one after err.
func outcome(done bool, err, refusal error, statement, key string) error {
	switch {
	case err != nil:
		return lock.Unknown(statement, key, err)
	case !done:
		return refusal
	}
	return nil
}

// A querier is a pool of connections, or one of them.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// yes reports whether the one answer of a query is 1 or true; NULL is neither.
func yes(ctx context.Context, db querier, query string, args ...any) (bool, error) {
	var is sql.NullBool
	err := db.QueryRowContext(ctx, query, args...).Scan(&is)
	return is.Bool, err
}

// refused reports whether err says that another session has the row (SQLSTATE 55P03, lock_not_available).
func refused(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "55P03"
}
