package libraries

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"

	"locklab/scenarios/locktest"
	"locklab/simulator/database"
)

// gooseSession is the lock of goose's migrations: an advisory lock of a connection that the caller keeps. Who is
// refused asks once more, after a second.
func gooseSession(c *locktest.Client) {
	l, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 1), lock.WithUnlockTimeout(1, 1))
	if err != nil {
		panic(err)
	}
	db := sql.OpenDB(c.Connector(1))
	defer db.Close()
	conn, err := db.Conn(c.Context())
	if err != nil {
		return
	}
	defer conn.Close()
	if l.SessionLock(c.Context(), conn) != nil {
		return
	}
	c.Critical(work)
	l.SessionUnlock(c.Context(), conn)
}

// TestGoose is the part of the table that is about goose.
func TestGoose(t *testing.T) {
	for _, test := range []struct {
		budget   string
		attempts int
		idle     time.Duration
		breaks   string // with one fault; it holds against all else
	}{
		{"crash=1", 2, 0, "STALE-WRITE"},
		{"pause=1", 2, 0, ""},
		{"pause=1", 2, ttl, "OVERLAP STALE-WRITE"},
		{"lose-reply=1", 2, 0, "ORPHAN DEADLOCK"},
		{"lose-request=1", 2, 0, "ORPHAN DEADLOCK"},
		{"lose-reply=1", 2, ttl, "ORPHAN"},
		{"expire-session=1", 2, 0, "OVERLAP STALE-WRITE"},
	} {
		t.Run(fmt.Sprint(test.budget, " ", test.idle), func(t *testing.T) {
			on := &database.Contents{Dialect: database.PostgreSQL, Idle: test.idle}
			b := locktest.Bounds{Clients: 2, Attempts: test.attempts, Budget: test.budget, TTL: ttl, Beside: 20_000,
				Database: on}
			locktest.Check(t, b, gooseSession, test.breaks)
		})
	}
	t.Run("any timing", func(t *testing.T) {
		b := locktest.Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl, AnyTiming: true,
			Database: &database.Contents{Dialect: database.PostgreSQL}}
		locktest.Check(t, b, gooseSession, "STALE-WRITE")
	})
}
