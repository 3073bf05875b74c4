package search_test

import (
	"context"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
)

// inDatabase is a lock on the rows of a database.
func inDatabase(id string, dialect lock.Dialect, ends lock.Expiry, create maker) lock.Entry {
	server := lock.InDatabase(dialect)
	server.Rows = true
	return lock.Entry{ID: id, Family: lock.Rows, Server: server, TTL: 10 * time.Second, Unit: time.Millisecond,
		Expiry: ends,
		New:    create}
}

// releasing is a lease made of a function, which reports nothing.
type releasing func(context.Context) error

// Release implements lock.Lease.
func (l releasing) Release(ctx context.Context) error { return l(ctx) }

// waiting is a lock that waits for a row: by SELECT .. FOR UPDATE without NOWAIT.
func waiting(id string, dialect lock.Dialect, take string) lock.Entry {
	return inDatabase(id, dialect, lock.ExpirySession, func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			conn, err := env.DB.Conn(ctx)
			if err != nil {
				return nil, err
			}
			if _, err = conn.ExecContext(ctx, "BEGIN"); err == nil {
				_, err = conn.ExecContext(ctx, take, key)
			}
			if err != nil {
				_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
				conn.Close()
				return nil, err
			}
			return releasing(func(ctx context.Context) error {
				defer conn.Close()
				_, err := conn.ExecContext(ctx, "COMMIT")
				return err
			}), nil
		})
	})
}

var (
	waitsInMariaDB    = waiting("waits-in-mariadb", lock.MySQL, "SELECT name FROM locks WHERE name = ? FOR UPDATE")
	waitsInPostgreSQL = waiting("waits-in-postgresql", lock.PostgreSQL,
		"SELECT name FROM locks WHERE name = $1 FOR UPDATE")
)

// A countingLock draws two tokens for an attempt, and takes the lock of another client if the first one is the greater
// text: of c1.9 and c1.10, in the fifth attempt. It is no closure, so that it is seen to remember nothing.
type countingLock struct{ env lock.Env }

// Acquire implements lock.Lock.
func (s *countingLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	first, token := s.env.Tokens.Token(), s.env.Tokens.Token()
	r, err := s.env.DB.ExecContext(ctx, "UPDATE locks SET owner = ? WHERE name = ? AND (owner IS NULL OR ? > ?)",
		token, key, first, token)
	if err != nil {
		return nil, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return nil, lock.ErrNotAcquired
	}
	return releasing(func(ctx context.Context) error {
		_, err := s.env.DB.ExecContext(ctx, "UPDATE locks SET owner = NULL WHERE name = ? AND owner = ?", key, token)
		return err
	}), nil
}

// TestTokensInDatabase: of a lock whose statement does something else with the tokens of the fifth attempt nothing is
// proved for any number of attempts, though two attempts hold.
func TestTokensInDatabase(t *testing.T) {
	counting := inDatabase("counting", lock.MySQL, lock.ExpiryNone,
		func(env lock.Env) lock.Lock { return &countingLock{env} })
	if r := searched(t, counting, small(counting, 2, 2, ""), nil); len(r.Found) > 0 {
		t.Errorf("two attempts find %v", r.Pars())
	}
	if p := racetest.Must(search.Prove(t.Context(), counting, search.ProofBounds()))(t); p.Proof.Refused == nil {
		t.Error("views prove it")
	}
	if r, err := search.Explore(t.Context(), counting, again(counting, 2, "")); err == nil && r.Complete &&
		len(r.Found) == 0 {
		t.Error("a search of any number of attempts proves it")
	}
}
