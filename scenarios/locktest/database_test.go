package locktest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"locklab/scenarios/internal/racetest"
	"locklab/simulator/database"
	"locklab/simulator/effort"
)

// held is a table of locks, and jobs one whose rows are locked themselves.
var (
	held = database.Table{Name: "held", Key: []string{"what"}, Owner: "who", Until: "ends", Columns: []database.Column{
		{Name: "what", Type: database.Text}, {Name: "who", Type: database.Text},
		{Name: "ends", Type: database.Timestamp},
	}}
	jobs = database.Table{Name: "jobs", Key: []string{"id"},
		Columns: []database.Column{{Name: "id", Type: database.Integer}},
		Rows:    [][]database.Value{{database.IntegerValue(7)}}}
)

func mariaDB(tables ...database.Table) *database.Contents {
	return &database.Contents{Dialect: database.MariaDB, Tables: tables}
}

func postgreSQL(tables ...database.Table) *database.Contents {
	return &database.Contents{Dialect: database.PostgreSQL, Tables: tables}
}

// pooled is code with a pool of its own.
func pooled(code func(c *Client, db *sql.DB)) func(*Client) {
	return func(c *Client) {
		db := sql.OpenDB(c.Connector(1))
		defer db.Close()
		code(c, db)
	}
}

// onConn takes and releases a lock by a name on one connection. The deadline of asking is in, 0: there is none.
func onConn(take, end string, in time.Duration) func(*Client) {
	return pooled(func(c *Client, db *sql.DB) {
		ctx := c.Context()
		if in > 0 {
			short, cancel := context.WithTimeout(ctx, in)
			defer cancel()
			ctx = short
		}
		conn, err := db.Conn(c.Context())
		if err != nil {
			return
		}
		defer conn.Close()
		var got sql.NullBool
		if conn.QueryRowContext(ctx, take, 42).Scan(&got) != nil || !got.Bool {
			return
		}
		c.Critical(work)
		conn.ExecContext(c.Context(), end, 42)
	})
}

// insert is a row without a deadline.
var insert = pooled(func(c *Client, db *sql.DB) {
	if _, err := db.ExecContext(c.Context(), "INSERT INTO held (what, who) VALUES (?, ?)", "k", c.Token()); err != nil {
		return
	}
	c.Critical(work)
	db.ExecContext(c.Context(), "DELETE FROM held WHERE what = ?", "k")
})

// lease is a row with a deadline on the server's clock.
var lease = pooled(func(c *Client, db *sql.DB) {
	token := c.Token()
	r, err := db.ExecContext(c.Context(),
		`INSERT INTO held (what, who, ends) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
		ON CONFLICT (what) DO UPDATE SET who = excluded.who, ends = excluded.ends WHERE held.ends <= clock_timestamp()`,
		"k", token, ttl.Milliseconds())
	if err != nil {
		return
	}
	if n, _ := r.RowsAffected(); n == 0 {
		return
	}
	c.Critical(work)
	db.ExecContext(c.Context(), "DELETE FROM held WHERE what = $1 AND who = $2", "k", token)
})

// forUpdate locks a row in a transaction.
var forUpdate = pooled(func(c *Client, db *sql.DB) {
	tx, err := db.BeginTx(c.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return
	}
	defer tx.Rollback()
	var id int
	if tx.QueryRow("SELECT id FROM jobs WHERE id = $1 FOR UPDATE", 7).Scan(&id) != nil {
		return
	}
	c.Critical(work)
	tx.Commit()
})

// forgetsConn takes a lock by a name on whichever connection is free, and then has another use of that connection.
var forgetsConn = pooled(func(c *Client, db *sql.DB) {
	var got sql.NullBool
	if db.QueryRowContext(c.Context(), "SELECT GET_LOCK(?, 0)", "k").Scan(&got) != nil || !got.Bool {
		return
	}
	conn, err := db.Conn(c.Context()) // the work has a connection of its own
	if err != nil {
		return
	}
	c.Critical(work)
	db.ExecContext(c.Context(), "SELECT RELEASE_LOCK(?)", "k")
	conn.Close()
})

// rowIsLock has no column for an owner: the row is the lock.
var rowIsLock = database.Table{Name: "held", Key: []string{"what"}, Owner: "what", Columns: held.Columns[:1]}

func TestDatabase(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches, and the lock is a process of its own")
	idle := postgreSQL()
	idle.Idle = ttl
	for _, test := range []struct {
		name     string
		code     func(*Client)
		on       *database.Contents
		budget   string
		attempts int
		finds    string
	}{
		{"row", insert, mariaDB(held), "crash=1", 2, "DEADLOCK"},
		{"lease", lease, postgreSQL(held), "crash=1", 2, ""},
		{"lease", lease, postgreSQL(held), "pause=1", 1, "OVERLAP STALE-WRITE"},
		{"for update", forUpdate, postgreSQL(jobs), "expire-session=1", 1, "OVERLAP STALE-WRITE"},
		{"forgets its connection", forgetsConn, mariaDB(), "", 1, "ORPHAN@0"},
		{"advisory", onConn("SELECT pg_try_advisory_lock($1)", "SELECT pg_advisory_unlock($1)", 0), idle,
			"lose-reply=1", 2, "ORPHAN"},
		{"waits for a second", onConn("SELECT pg_try_advisory_lock($1)", "SELECT pg_advisory_unlock($1)", time.Second),
			idle, "crash=1", 1, "STALE-WRITE"},
	} {
		t.Run(test.name+" "+test.budget, func(t *testing.T) {
			Check(t, Bounds{Clients: 2, Attempts: test.attempts, Budget: test.budget, TTL: ttl, Database: test.on,
				Beside: 20_000}, test.code, test.finds)
		})
	}
	t.Run("any timing", func(t *testing.T) {
		Check(t,
			Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl, Database: mariaDB(rowIsLock), AnyTiming: true},
			pooled(func(c *Client, db *sql.DB) {
				if _, err := db.ExecContext(c.Context(), "INSERT INTO held (what) VALUES ('k')"); err == nil {
					c.Critical(work)
					db.ExecContext(c.Context(), "DELETE FROM held WHERE what = 'k'")
				}
			}), "DEADLOCK")
	})
}

// What the lab does not execute is named, with its line.
func TestDatabaseRefuses(t *testing.T) {
	exec := func(text string, args ...any) func(*Client, *sql.DB) error {
		return func(_ *Client, db *sql.DB) error { _, err := db.Exec(text, args...); return err }
	}
	const connector = "sql.OpenDB(c.Connector(1))"
	for name, test := range map[string]struct {
		code func(c *Client, db *sql.DB) error
		line bool   // the error names that of the code
		want string // what else it names
	}{
		"statement": {exec("TRUNCATE held"), true, `TRUNCATE held … "TRUNCATE" is not understood here, but SELECT`},
		"table": {
			exec("INSERT INTO heldd (what)\n VALUES ($1)", "x"), true,
			"INSERT INTO heldd (what) VALUES ($1) … the table heldd does not exist",
		},
		"argument": {
			exec("DELETE FROM held WHERE what = $1", time.Now()), true,
			"DELETE FROM held WHERE what = $1 … an argument that is a time.Time",
		},
		"level": {func(c *Client, db *sql.DB) error {
			_, err := db.BeginTx(c.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
			return err
		}, true, "BEGIN … a transaction at level Serializable"},
		"goroutine": {func(c *Client, db *sql.DB) error {
			failed := make(chan error)
			go func() { failed <- exec("VACUUM")(c, db) }()
			return <-failed
		}, true, "VACUUM"},
		"protocol": {func(c *Client, _ *sql.DB) error {
			conn, err := c.Dial(c.Context(), "tcp", c.Addr(1))
			if err == nil {
				_, err = conn.Read(make([]byte, 1)) // as the driver of MySQL does
			}
			return err
		}, false, connector},
		"another protocol": {func(c *Client, _ *sql.DB) error { return dial(c).Ping(c.Context()).Err() },
			false, connector},
		"no owner": {func(_ *Client, db *sql.DB) error { return db.Ping() }, false, "Table.Owner"},
		"unopened": {func(*Client, *sql.DB) error { return nil }, true, connector},
	} {
		t.Run(name, func(t *testing.T) {
			settle(t)
			p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl, Database: postgreSQL(held)},
				pooled(func(c *Client, db *sql.DB) {
					if test.code(c, db) == nil {
						c.Critical(work)
					}
				}))
			if err != nil {
				t.Fatal(err)
			}
			if err = p.alone(); err == nil {
				t.Fatal("it is not refused")
			}
			said := reason(err)
			wants := strings.Split(test.want, " … ")
			if test.line {
				wants = append(wants, "database_test.go:")
			}
			for _, want := range wants {
				if !strings.Contains(said, want) {
					t.Errorf("it does not name %q:\n%s", want, said)
				}
			}
		})
	}
}

// Wrong databases are refused before anything runs.
func TestBadDatabase(t *testing.T) {
	with := func(change func(d *database.Contents)) Bounds {
		d := postgreSQL(held)
		d.Tables[0].Columns = append([]database.Column{}, held.Columns...)
		change(d)
		return Bounds{Clients: 2, TTL: ttl, Database: d}
	}
	on := func(change func(t *database.Table)) Bounds {
		return with(func(d *database.Contents) { change(&d.Tables[0]) })
	}
	for want, b := range map[string]Bounds{
		"dialect 0":           with(func(d *database.Contents) { d.Dialect = 0 }),
		"idle for -1s":        with(func(d *database.Contents) { d.Idle = -time.Second }),
		`is called "held"`:    with(func(d *database.Contents) { d.Tables = append(d.Tables, held) }),
		`is called "Held"`:    on(func(t *database.Table) { t.Name = "Held" }),
		`a column "who"`:      on(func(t *database.Table) { t.Columns[2].Name = "who" }),
		`a column "ends"`:     on(func(t *database.Table) { t.Columns[2].Type = database.Bool }),
		`has the column ""`:   on(func(t *database.Table) { t.Key = nil }),
		`has the column "id"`: on(func(t *database.Table) { t.Key = []string{"id"} }),
		`is "owner", which`:   on(func(t *database.Table) { t.Owner = "owner" }),
		`is "end", which`:     on(func(t *database.Table) { t.Until = "end" }),
		"row 1 of": on(func(t *database.Table) {
			t.Rows = [][]database.Value{{database.IntegerValue(1), {},
				{}}}
		}),
		"row 2 of": on(func(t *database.Table) {
			row := []database.Value{database.TextValue("k"), {}, {}}
			t.Rows = [][]database.Value{row, row}
		}),
	} {
		_, err := newPlan(t, b, insert)
		if err == nil || !strings.Contains(say(err), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, change := range []func(*Bounds){
		func(b *Bounds) { b.Servers = 3 }, func(b *Bounds) { b.Clients = Any },
	} {
		b := with(func(*database.Contents) {})
		change(&b)
		if _, err := newPlan(t, b, insert); err == nil || !strings.Contains(say(err), "Bounds.Database is one server") {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// Without Bounds.Database there is none.
func TestNoDatabase(t *testing.T) {
	settle(t)
	p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, insert))(t)
	if err := p.alone(); err == nil || !strings.Contains(reason(err), "Bounds.Database is nil") {
		t.Errorf("%v", err)
	}
}
