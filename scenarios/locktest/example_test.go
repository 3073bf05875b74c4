package locktest_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
	"locklab/simulator/database"
	"locklab/simulator/effort"
)

var release = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then ` +
	`return redis.call("del", KEYS[1]) else return 0 end`)

// A lock of thirty lines: SET NX PX with a token of its own, and a script that deletes
// the key only if it still holds that token. No crash and no pause makes it delete the
// lock of another process, or keeps it locked; one pause lets two processes in.
func ExampleCheck() {
	const ttl = 9 * time.Second
	test := func(t *testing.T) { // in your code: func TestMyLock(t *testing.T)
		locktest.Check(t, locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl},
			func(c *locktest.Client) { // one process
				rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
				defer rdb.Close()
				token := c.Token()
				if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
					return
				}
				c.Critical(func(r *locktest.Resource) { r.Write(r.Read() + 1) })
				release.Run(c.Context(), rdb, []string{"k"}, token)
			},
			"OVERLAP STALE-WRITE ORPHAN")
	}
	tests = append(tests, test)
	// Output:
}

// The same lock, proved for any number of processes and of crashes. Without a claim no verdict may occur.
func ExampleCheck_any() {
	const ttl = 9 * time.Second
	test := func(t *testing.T) {
		locktest.Check(t, locktest.Bounds{Clients: locktest.Any, Budget: "crash=any", TTL: ttl},
			func(c *locktest.Client) {
				rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
				defer rdb.Close()
				token := c.Token()
				if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
					return
				}
				c.Critical(func(r *locktest.Resource) { r.Write(r.Read() + 1) })
				release.Run(c.Context(), rdb, []string{"k"}, token)
			})
	}
	tests = append(tests, test)
	// Output:
}

// A row without a deadline: that of a process that has crashed stays.
func ExampleClient_Connector() {
	locks := database.Table{Name: "locks", Key: []string{"name"}, Columns: []database.Column{
		{Name: "name", Type: database.Text}, {Name: "owner", Type: database.Text},
	}}
	test := func(t *testing.T) {
		b := locktest.Bounds{Clients: 2, Budget: "crash=1", TTL: 9 * time.Second,
			Database: &database.Contents{Dialect: database.MariaDB, Tables: []database.Table{locks}}}
		locktest.Check(t, b, func(c *locktest.Client) {
			db := sql.OpenDB(c.Connector(1))
			defer db.Close()
			if _, err := db.Exec("INSERT INTO locks (name, owner) VALUES (?, ?)", "k", c.Token()); err != nil {
				return
			}
			c.Critical(func(r *locktest.Resource) { r.Write(r.Read() + 1) })
			db.Exec("DELETE FROM locks WHERE name = ?", "k")
		}, "DEADLOCK")
	}
	tests = append(tests, test)
	// Output:
}

// tests are the examples, which the test below runs: an example has no testing.T.
var tests []func(t *testing.T)

func TestExamples(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	ExampleCheck()
	ExampleCheck_any()
	for _, test := range tests {
		test(t)
	}
}
