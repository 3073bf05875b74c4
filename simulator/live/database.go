package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq" // and the driver

	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/database"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/lists"
	"locklab/simulator/realserver"
)

// A Database is a MariaDB or a PostgreSQL with a clock of its own, for simulators of one. One run at a time may use it:
// a trace is played in tables that are made anew.
//
// Each connection of a client of the lab is one of the usual driver (go-sql-driver/mysql, lib/pq). Each statement that
// reaches the server in the trace is executed on it, and its answer is what the lock's code gets. Who loses an answer,
// also of COMMIT, loses it in the lab: the server's session stays until it is over, or ends at once if it has nothing.
//
// A session that is idle ends by the server's own time-out, which is that of the trace: wait_timeout, or
// idle_in_transaction_session_timeout and idle_session_timeout. The server waits by the clock of the trace, which also
// is PostgreSQL's time of day, and stands still within a millisecond. For the end of a session the clock is put
// forward by a millisecond. MariaDB's time of day is the machine's; its idle time has whole seconds. Else a session
// ends by KILL or pg_terminate_backend, or with its connection. A restart is SIGKILL, or an immediate shutdown of
// PostgreSQL, and a start with the files that are there.
//
// Statements that wait for another session are not played, nor is a failover.
//
// Compared are the answers, of an error its code, and after each step the keys that clients have: rows with an owner
// and with the end of their leases, locks by a name, and in PostgreSQL locked rows, with the session that has them.
type Database struct {
	dialect
	version string
	folder  *child.Folder
	clock   *realserver.Clock
	process *realserver.Process // nil: it has crashed
	db      *sql.DB             // keeps no connection
	admin   *sql.Conn
}

// A dialect is how a server is run and asked. Formats have the number of a session, or a time in unit.
type dialect struct {
	run           func(ctx context.Context, dir string, clock *realserver.Clock) (*realserver.Process, error)
	driver, name  string // name: of the database, with the password and the address
	version, self string // self: the number of the session
	alive, kill   string // alive: the number of such sessions
	idle          string // sets the time for which the session may be idle
	unit          time.Duration
	until         string // when the lease in a column until ends, in milliseconds since the Unix epoch; 0: it has
	holder        string // the number of the session that has locked the name that is the argument
}

var dialects = map[database.Dialect]dialect{
	database.MariaDB: {
		run: realserver.StartMariaDB,
		// The time-out is on the clock, which is that of a run after another.
		driver: "mysql", name: "root:%s@tcp(%s)/test?wait_timeout=31536000",
		version: "SELECT VERSION()", self: "SELECT CONNECTION_ID()",
		alive: "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = %d", kill: "KILL %d",
		idle: "SET SESSION wait_timeout = %d", unit: time.Second,
		holder: "SELECT IS_USED_LOCK(?)",
	},
	database.PostgreSQL: {
		run: func(ctx context.Context, dir string, clock *realserver.Clock) (*realserver.Process, error) {
			return realserver.StartPostgreSQL(ctx, dir, clock, "autovacuum=off")
		},
		driver: "postgres", name: "postgres://postgres:%s@%s/postgres?sslmode=disable",
		version: "SHOW server_version", self: "SELECT pg_backend_pid()",
		alive: "SELECT count(*) FROM pg_stat_activity WHERE pid = %d", kill: "SELECT pg_terminate_backend(%d)",
		idle:  "SET idle_session_timeout = %[1]d; SET idle_in_transaction_session_timeout = %[1]d",
		unit:  time.Millisecond,
		until: "CASE WHEN until > clock_timestamp() THEN (extract(epoch FROM until) * 1000)::bigint ELSE 0 END",
		// A row that is locked has the number of the transaction.
		holder: `SELECT min(pid) FROM pg_locks WHERE granted AND mode = 'ExclusiveLock' AND (
			locktype = 'advisory' AND objid::bigint = hashtext($1)::bigint & 4294967295
			OR locktype = 'transactionid' AND transactionid = (SELECT xmax FROM locks WHERE name = $1))`,
	},
}

// quiet has the driver of all MariaDBs print nothing; errors are returned as well.
var quiet = sync.OnceValue(func() error { return mysql.SetLogger(&mysql.NopLogger{}) })

// NewDatabase runs a server. The error is realserver.ErrNoMariaDB, ErrNoPostgreSQL or ErrNoCompiler if one is missing.
func NewDatabase(ctx context.Context, of database.Dialect) (_ Server, err error) {
	if err := quiet(); err != nil {
		return nil, err
	}
	d := &Database{dialect: dialects[of]}
	if d.folder, err = child.NewFolder(); err != nil {
		return nil, err
	}
	library, err := realserver.BuildClocks(d.folder.Path)
	if err == nil {
		d.clock, err = realserver.NewClock(library, filepath.Join(d.folder.Path, "clock"), clock.Epoch)
	}
	if err == nil {
		err = d.begin(ctx)
	}
	var number string
	if err == nil {
		err = d.admin.QueryRowContext(ctx, d.dialect.version).Scan(&number)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	number = strings.FieldsFunc(number, func(r rune) bool { return r == ' ' || r == '-' })[0]
	d.version = of.String() + " " + number
	return d, nil
}

// begin runs the server, with what it has on disk.
func (d *Database) begin(ctx context.Context) (err error) {
	if d.process, err = d.run(ctx, d.folder.Path, d.clock); err != nil {
		return err
	}
	if d.db, err = sql.Open(d.driver, fmt.Sprintf(d.name, realserver.Password, d.process.Addr)); err != nil {
		return err
	}
	d.db.SetMaxIdleConns(0)
	d.admin, err = d.db.Conn(ctx)
	return err
}

// end ends the server at once.
func (d *Database) end() {
	if d.process != nil {
		d.process.Kill()
	}
	if d.process = nil; d.db != nil {
		d.db.Close()
	}
}

// Version implements Server.
func (d *Database) Version() string { return d.version }

// Close implements Server.
func (d *Database) Close() {
	d.end()
	d.clock.Close()
	d.folder.Close()
}

func (d *Database) servers(p *player) servers {
	p.run.Servers = 1
	return &databaseRun{
		player: p, Database: d, sessions: map[place]*session{}, lab: map[string]value{}, names: map[string]bool{},
	}
}

var _ database.Real = (*databaseRun)(nil)

// A databaseRun is a run on a Database.
type databaseRun struct {
	*player
	*Database
	tables   []database.Table
	idle     time.Duration
	state    clock.State // of the server's clock
	sessions map[place]*session
	lab      map[string]value // the keys that clients have in the lab
	names    map[string]bool  // of all keys that they have had
	changed  bool             // since they were compared
}

// A place is a connection of a client, as database.Action numbers it.
type place struct{ client, slot int8 }

type session struct {
	conn   *sql.Conn
	number int64 // by which the server knows it
}

// start makes the tables anew.
func (r *databaseRun) start() error {
	r.sim.Kind().(*database.Kind).Real = r
	config := r.sim.Config()
	c := config.Nodes[0]
	contents := c.Contents.(database.Contents)
	r.tables, r.idle = contents.Tables, c.Session
	r.state = clock.State{Offset: c.Offset + config.Epoch.Ahead(), PPM: c.PPM}
	r.clock.Ahead = 0
	r.stand(0)
	var err error
	for _, t := range r.tables {
		err = errors.Join(err, r.exec("DROP TABLE IF EXISTS "+t.Name), r.exec(t.Create(contents.Dialect)))
		for _, row := range t.Rows {
			var fields []string
			for _, v := range row {
				fields = append(fields, v.String())
			}
			err = errors.Join(err, r.exec("INSERT INTO "+t.Name+" VALUES ("+strings.Join(fields, ", ")+")"))
		}
	}
	return err
}

// close ends all sessions and removes the tables. A server that has crashed is started again for the next run.
func (r *databaseRun) close() (err error) {
	if r.process == nil {
		err = r.begin(r.ctx)
	}
	for at := range r.sessions {
		err = errors.Join(err, r.over(at, hangUp))
	}
	for _, t := range r.tables {
		err = errors.Join(err, r.exec("DROP TABLE IF EXISTS "+t.Name))
	}
	return err
}

// exec has the administrator execute a statement.
func (r *databaseRun) exec(text string) error {
	_, err := r.admin.ExecContext(r.ctx, text)
	return err
}

// stand sets the clock, within a millisecond in which it stands still.
func (r *databaseRun) stand(later time.Duration) {
	r.clock.Set(clock.Epoch.Add(r.state.Read(r.now)).Truncate(time.Millisecond).Add(later))
}

// Do implements database.Real.
func (r *databaseRun) Do(a database.Action) (answer database.Reply, closed bool) {
	if r.err != nil {
		return a.Lab, false
	}
	r.changed = true
	at := place{a.Client, a.Slot}
	answer, err := a.Lab, error(nil)
	switch a.Kind {
	case database.ActServe:
		if answer, closed, err = r.serve(at, a); err != nil {
			answer, err = a.Lab, fmt.Errorf("%q of c%d: %w", a.Text, a.Client, err)
		}
	case database.ActWait:
		err = errors.New("statements that wait are not played on real servers")
	case database.ActClose:
		err = r.over(at, hangUp)
	case database.ActEnd:
		err = r.over(at, func(s *session) error {
			if a.Left > 0 {
				return r.exec(fmt.Sprintf(r.kill, s.number))
			}
			r.stand(time.Millisecond)
			return nil
		})
		r.stand(0)
	}
	r.fail(err)
	return answer, closed
}

// hangUp breaks a session's connection.
func hangUp(s *session) error {
	s.conn.Close() // it may have broken
	return nil
}

// patience is the time that a server may take for what it does at once.
const patience = 10 * time.Second

// over has a session end, and waits until it has.
func (r *databaseRun) over(at place, how func(*session) error) error {
	s := r.sessions[at]
	if s == nil {
		return nil
	}
	delete(r.sessions, at)
	defer s.conn.Close()
	if err := how(s); err != nil {
		return err
	}
	for began := time.Now(); ; {
		var left int
		err := r.admin.QueryRowContext(r.ctx, fmt.Sprintf(r.alive, s.number)).Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		if time.Since(began) > patience {
			r.differ(sessionDiffers(at.client, true))
			return nil
		}
		if err := rest(r.ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// session is a connection's. One that has nothing begins anew if it ended for being idle, as in pools of connections.
func (r *databaseRun) session(ctx context.Context, at place, has bool) (s *session, err error) {
	if s = r.sessions[at]; s != nil {
		if has || r.idle == 0 || s.conn.PingContext(ctx) == nil {
			return s, nil
		}
		s.conn.Close()
		delete(r.sessions, at)
	}
	s = &session{}
	if s.conn, err = r.db.Conn(ctx); err != nil {
		return nil, err
	}
	r.sessions[at] = s
	if r.idle > 0 {
		if _, err := s.conn.ExecContext(ctx, fmt.Sprintf(r.dialect.idle, r.idle/r.unit)); err != nil {
			return nil, err
		}
	}
	return s, s.conn.QueryRowContext(ctx, r.self).Scan(&s.number)
}

// serve executes a statement and compares the answer.
func (r *databaseRun) serve(at place, a database.Action) (is database.Reply, closed bool, err error) {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	s, err := r.session(ctx, at, a.Has)
	if err != nil {
		return is, false, err
	}
	if a.Rows {
		is, err = query(ctx, s.conn, a.Text, a.Args...)
	} else {
		var done sql.Result
		if done, err = s.conn.ExecContext(ctx, a.Text, a.Args...); err == nil {
			is.Affected, err = done.RowsAffected()
		}
	}
	var my *mysql.MySQLError
	var pg *pq.Error
	switch {
	case errors.As(err, &my):
		is = database.Reply{Code: database.Code(my.Number), Text: my.Message}
	case errors.As(err, &pg) && !pg.Fatal():
		code, _ := strconv.ParseUint(string(pg.Code), 36, 32)
		is = database.Reply{Code: database.Code(code), Text: pg.Message}
	case ctx.Err() != nil:
		return is, false, err
	default:
		closed = err != nil
	}
	text := is.Observed()
	if closed {
		text = "(closed)"
	}
	r.run.Answers++
	if text != a.Lab.Observed() {
		r.differ(Difference{Server: 1, Client: int(a.Client), Cmd: a.Words, Lab: a.Lab.Observed(), Real: text})
	}
	return is, closed, nil
}

// query returns the answer to a statement that has rows.
func query(ctx context.Context, conn *sql.Conn, text string, args ...any) (is database.Reply, err error) {
	rows, err := conn.QueryContext(ctx, text, args...)
	if err != nil {
		return is, err
	}
	defer rows.Close()
	is.Columns, _ = rows.Columns()
	for rows.Next() {
		fields, to := make([]any, len(is.Columns)), make([]any, len(is.Columns))
		for i := range fields {
			to[i] = &fields[i]
		}
		if err := rows.Scan(to...); err != nil {
			return is, err
		}
		is.Rows = append(is.Rows, lists.Each(fields, func(f any) database.Value {
			v, _ := database.ValueOf(f)
			return v
		}))
	}
	return is, rows.Err()
}

// before sets the clock.
func (r *databaseRun) before(simulator.Choice) error {
	r.stand(0)
	return nil
}

// after does what has happened in the lab to the server, and compares the keys.
func (r *databaseRun) after(_ simulator.Choice, first int) error {
	for _, e := range r.run.Events[first:] {
		if err := r.happened(&e); err != nil {
			return err
		}
	}
	if !r.changed || r.process == nil {
		return nil
	}
	r.changed = false
	is, err := r.keys()
	if err == nil {
		r.compareKeys(1, r.lab, is)
	}
	return err
}

func (r *databaseRun) happened(e *history.Event) error {
	switch e.Kind {
	case history.Change, history.Expire:
		r.changed = true
		if delete(r.lab, e.Key); e.After != "" {
			v := value{e.After, lasting}
			if e.Until != history.Forever {
				v.ends = clock.Epoch.UnixMilli() + clock.Millis(r.state.Read(e.Until))
			}
			r.lab[e.Key], r.names[e.Key] = v, true
		}
	case history.External:
		return r.exec(strings.Join(e.Cmd, " "))
	case history.ClockStep:
		if e.Client == 0 {
			r.state.Jump(e.D)
			r.clock.Ahead += e.D
			r.stand(0)
		}
	case history.Down:
		clear(r.sessions)
		r.end()
	case history.Up:
		r.run.Servers++
		return r.begin(r.ctx)
	}
	return nil
}

// keys returns those that clients have on the server: in rows with an owner, or by its locks.
func (r *databaseRun) keys() (map[string]value, error) {
	keys := map[string]value{}
	for _, t := range r.tables {
		until := fmt.Sprint(lasting)
		if t.Has("until") {
			until = r.until
		}
		is, err := query(r.ctx, r.admin, "SELECT name, owner, "+until+" FROM "+t.Name)
		if err != nil {
			return nil, err
		}
		for _, row := range is.Rows {
			if name, v := row[0].Text, (value{row[1].Text, row[2].Int}); v.text != "" && v.ends != 0 {
				keys[name] = v
			}
		}
	}
	for name := range r.names {
		var holder sql.NullInt64 // a session of the server
		if err := r.admin.QueryRowContext(r.ctx, r.holder, name).Scan(&holder); err != nil {
			return nil, err
		}
		for at, s := range r.sessions {
			if _, row := keys[name]; !row && holder.Int64 == s.number {
				keys[name] = value{database.SessionText(at.client, at.slot), lasting}
			}
		}
	}
	return keys, nil
}
