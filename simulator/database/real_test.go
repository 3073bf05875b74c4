package database_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
	"pgregory.net/rapid"

	. "locklab/simulator/database"
	"locklab/simulator/effort"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
)

// A server is a real one, with the sessions of a case.
type server struct {
	dialect  Dialect
	db       *sql.DB
	admin    *sql.Conn
	purger   *sql.Conn // MariaDB
	asked    time.Time // MariaDB: who waits for whom
	blocking map[int64]map[int64]bool
	sessions [3]*client
	got      []string // answers of the present step, "B [[1]]", but for that of the session itself
	own      string
	actor    int
}

// A client is a session of a real server.
type client struct {
	conn   *sql.Conn
	pid    int64
	answer chan string // of the statement that runs
	busy   bool
}

func connect(t *testing.T, d Dialect) *server {
	s := &server{dialect: d}
	var err error
	if d == PostgreSQL {
		s.db, err = sql.Open("postgres", "postgres://postgres:"+realserver.Password+"@"+
			servertest.PostgreSQL(t, "deadlock_timeout=20ms")+"/postgres?sslmode=disable")
	} else {
		mysql.SetLogger(quiet{})
		s.db, err = sql.Open("mysql", "root:"+realserver.Password+"@tcp("+servertest.MariaDB(t)+")/test")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.db.Close() })
	s.db.SetMaxIdleConns(0)
	if s.admin, err = s.db.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d != PostgreSQL {
		if s.purger, err = s.db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.purger.ExecContext(t.Context(), "SET SESSION max_statement_time = 0.05"); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// purge waits until InnoDB has removed deleted rows; those of transactions that an open one still hides it cannot.
func (s *server) purge() {
	s.purger.ExecContext(context.Background(), "SET GLOBAL innodb_max_purge_lag_wait = 0")
}

type quiet struct{}

func (quiet) Print(...any) {}

func (s *server) must(t testing.TB, text string, args ...any) {
	t.Helper()
	if _, err := s.admin.ExecContext(context.Background(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// begin makes the table anew, and three sessions.
func (s *server) begin(t testing.TB) {
	for i := range s.sessions {
		s.end(t, i)
	}
	s.must(t, "DROP TABLE IF EXISTS locks")
	s.must(t, locksTable.Create(s.dialect))
	s.must(t, "INSERT INTO locks (name, owner, n) VALUES ('m', 'x', 7)")
	for i := range s.sessions {
		s.open(t, i)
	}
}

func (s *server) open(t testing.TB, i int) {
	conn, err := s.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c := &client{conn: conn, answer: make(chan string, 1)}
	pid := "SELECT CONNECTION_ID()"
	if s.dialect == PostgreSQL {
		pid = "SELECT pg_backend_pid()"
	}
	if err := conn.QueryRowContext(context.Background(), pid).Scan(&c.pid); err != nil {
		t.Fatal(err)
	}
	s.sessions[i] = c
}

// end kills a session, and waits for its end.
func (s *server) end(t testing.TB, i int) {
	c := s.sessions[i]
	if c == nil {
		return
	}
	if s.dialect == PostgreSQL {
		s.must(t, "SELECT pg_terminate_backend($1)", c.pid)
		s.until(t, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", c.pid)
	} else {
		s.admin.ExecContext(context.Background(), fmt.Sprintf("KILL %d", c.pid)) // it may be gone
		s.until(t, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", c.pid)
	}
	if c.busy {
		<-c.answer
	}
	c.conn.Close()
	s.sessions[i] = nil
}

// until asks until the answer is 0.
func (s *server) until(t testing.TB, query string, args ...any) {
	for n := 1; n != 0; {
		if err := s.admin.QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a statement and returns the answer in the notation of shown.
func (c *client) run(st Statement, text string) string {
	ctx := context.Background()
	if !st.HasRows() {
		r, err := c.conn.ExecContext(ctx, text)
		if err != nil {
			return errorText(err)
		}
		n, _ := r.RowsAffected()
		return fmt.Sprint(n)
	}
	rows, err := c.conn.QueryContext(ctx, text)
	if err != nil {
		return errorText(err)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	var all [][]Value
	for rows.Next() {
		fields, at := make([]any, len(names)), make([]any, len(names))
		for i := range fields {
			at[i] = &fields[i]
		}
		if err := rows.Scan(at...); err != nil {
			return err.Error()
		}
		var row []Value
		for _, f := range fields {
			v, _ := ValueOf(f)
			row = append(row, v)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return errorText(err)
	}
	return fmt.Sprint(all)
}

func errorText(err error) string {
	var my *mysql.MySQLError
	var pg *pq.Error
	switch {
	case errors.As(err, &my):
		return fmt.Sprint("error ", my.Number)
	case errors.As(err, &pg):
		return fmt.Sprint("error ", pg.Code)
	}
	return err.Error()
}

// do begins a line of a transcript.
func (s *server) do(t testing.TB, line string) {
	s.blocking = nil // what was seen before says nothing of what begins now
	who, text, _ := strings.Cut(line, ": ")
	i := int(who[0] - 'A')
	c := s.sessions[i]
	s.got, s.own, s.actor = nil, "", -1
	switch text {
	case "(closes)":
		s.end(t, i)
		s.open(t, i)
	case "(is cancelled)":
		if s.dialect == PostgreSQL {
			s.must(t, "SELECT pg_cancel_backend($1)", c.pid)
		} else {
			s.must(t, fmt.Sprintf("KILL QUERY %d", c.pid))
		}
	case "(times out)": // the transcript has set a short time
	default:
		st, err := Parse(s.dialect, text)
		if err != nil {
			t.Fatal(err)
		}
		s.actor, c.busy = i, true
		go func() { c.answer <- c.run(st, text) }()
	}
}

// seen is the present picture: the answers of this step so far, and who waits for whom.
func (s *server) seen(t testing.TB) string {
	for i, c := range s.sessions {
		select {
		case answer := <-c.answer:
			c.busy = false
			if i == s.actor {
				s.own = answer
			} else {
				s.got = append(s.got, letter(SessionID(i+1))+" "+answer)
			}
		default:
		}
	}
	slices.Sort(s.got)
	var waits []string
	for i, c := range s.sessions {
		if c.busy {
			waits = append(waits, letter(SessionID(i+1))+" waits"+s.blockers(t, c))
		}
	}
	return fmt.Sprintf("own %s, others %v, %v", s.own, s.got, waits)
}

// blockers asks the server for whom a session waits.
func (s *server) blockers(t testing.TB, c *client) (all string) {
	if s.dialect == PostgreSQL {
		s.ask(t, "SELECT $1::bigint, unnest(pg_blocking_pids($1::int))", c.pid)
	} else {
		var state sql.NullString
		s.admin.QueryRowContext(context.Background(), "SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = ?",
			c.pid).Scan(&state)
		if state.String == "User lock" {
			return " for a named lock"
		}
		// The server answers from its memory until it was not asked for 100 ms.
		if time.Since(s.asked) > 105*time.Millisecond {
			s.ask(t, `SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM information_schema.INNODB_LOCK_WAITS w
				JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id
				JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id`)
			s.asked = time.Now()
		}
	}
	for i, o := range s.sessions {
		if s.blocking[c.pid][o.pid] {
			all += " " + letter(SessionID(i+1))
		}
	}
	return all
}

// ask asks for pairs of sessions of which the first one waits for the second one.
func (s *server) ask(t testing.TB, query string, args ...any) {
	rows, err := s.admin.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	s.blocking = map[int64]map[int64]bool{}
	for rows.Next() {
		var who, whom int64
		if err := rows.Scan(&who, &whom); err != nil {
			t.Fatal(err)
		}
		if s.blocking[who] == nil {
			s.blocking[who] = map[int64]bool{}
		}
		s.blocking[who][whom] = true
	}
}

// picture is what the server must come to after a step of a session that the State has answered so.
func picture(s State, actor, said string) string {
	own := ""
	var others []string
	for _, part := range strings.Split(said, ", ") {
		switch {
		case strings.HasPrefix(part, actor+" "):
			own = part[2:]
		case len(part) > 2 && part[1] == ' ':
			others = append(others, part)
		case !strings.HasPrefix(part, "waits"):
			own = part
		}
	}
	slices.Sort(others)
	var waits []string
	for id := SessionID(1); id <= 3; id++ {
		if who := waitsFor(s, id); who != "" {
			if s.ByName(id) && s.Dialect() != PostgreSQL {
				who = " for a named lock"
			}
			waits = append(waits, letter(id)+" waits"+who)
		}
	}
	if own == "ROLLBACK" {
		own = "0"
	}
	return fmt.Sprintf("own %s, others %v, %v", own, others, waits)
}

// anyone is a picture without the names of those who were answered.
func anyone(picture string) string {
	words := strings.FieldsFunc(picture, func(r rune) bool { return strings.ContainsRune(" ,[]ABC", r) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// patience bounds the time in which a server comes to what is wanted.
const patience = 5 * time.Second

// step runs a line on the State and on the server, and returns the difference to which they come.
func (s *server) step(t testing.TB, state State, line string) (State, string, error) {
	racing := state.Racing()
	next, said := do(t, state, line)
	if strings.Contains(line, "(closes)") || strings.Contains(line, "(is cancelled)") {
		said = strings.TrimPrefix(said, "0")
	}
	s.do(t, line)
	actor := letter(SessionID(s.actor + 1))
	want, got := picture(next, actor, said), ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		got = s.seen(t)
		for _, id := range s.victims() { // PostgreSQL: who looked first
			var woken []Woken
			next, woken = next.CheckDeadlock(id)
			for _, w := range woken {
				said += ", " + letter(w.Session) + " " + shown(w.Reply)
			}
			want = picture(next, actor, said)
		}
		if next.InCycle() == 0 && (got == want || racing && anyone(got) == anyone(want)) {
			if s.dialect != PostgreSQL && !strings.Contains(line, "_LOCK") && !strings.Contains(line, "BEGIN") {
				s.purge()
			}
			return next, said, nil
		}
	}
	return next, said, fmt.Errorf("%s\n\tserver %s\n\tState  %s", line, got, want)
}

// victims are the sessions that PostgreSQL has chosen in this step.
func (s *server) victims() (all []SessionID) {
	if s.own == "error 40P01" {
		all = append(all, SessionID(s.actor+1))
	}
	for _, answer := range s.got {
		if strings.HasSuffix(answer, "error 40P01") {
			all = append(all, SessionID(answer[0]-'A')+1)
		}
	}
	return all
}

// TestRealTranscripts plays the transcripts on servers, but for those in which the clock moves.
func TestRealTranscripts(t *testing.T) {
	effort.OnlyPushed(t, "it starts database servers")
	for _, d := range []Dialect{MariaDB, PostgreSQL} {
		t.Run(d.String(), func(t *testing.T) {
			s := connect(t, d)
			played := 0
			for _, c := range transcripts {
				if c.dialect != d || strings.Contains(c.lines, " ms)") {
					continue
				}
				played++
				s.begin(t)
				state := newState(d)
				for _, line := range c.split() {
					if strings.Contains(line[0], "looks for") {
						break // the server has looked, and perhaps the other one first
					}
					var err error
					if state, _, err = s.step(t, state, line[0]); err != nil {
						t.Errorf("%s: %v", c.fact, err)
						break
					}
				}
			}
			for i := range s.sessions {
				s.end(t, i)
			}
			if played < 10 {
				t.Errorf("only %d transcripts", played)
			}
		})
	}
}

// programs are what sessions do at random, of keys %k.
var programs = map[Dialect][]string{
	MariaDB: {
		"BEGIN", "BEGIN", "BEGIN", "BEGIN", "COMMIT", "ROLLBACK", "(closes)", "(is cancelled)", "(is cancelled)",
		"INSERT INTO locks (name, owner, n) VALUES (%k, %o, 1)",
		"INSERT INTO locks (name, owner, expires) VALUES (%k, %o, NOW(3) + INTERVAL 30 MINUTE)",
		"INSERT IGNORE INTO locks (name, owner) VALUES (%k, %o)",
		"INSERT INTO locks (name, owner, expires) VALUES (%k, %o, NOW(3) - INTERVAL 10 MINUTE) " +
			"ON DUPLICATE KEY UPDATE owner = IF(expires < NOW(3), VALUES(owner), owner), n = n + 1",
		"UPDATE locks SET owner = %o, n = n + 1 WHERE name = %k",
		"UPDATE locks SET owner = %o WHERE name = %k AND owner = %o",
		"UPDATE locks SET expires = NOW(3) - INTERVAL 30 MINUTE WHERE name = %k " +
			"AND (expires > NOW(3) OR expires IS NULL)",
		"DELETE FROM locks WHERE name = %k", "DELETE FROM locks WHERE name = %k AND owner = %o",
		"SELECT owner, n FROM locks WHERE name = %k",
		"SELECT name, owner, n, expires < NOW(3) FROM locks ORDER BY name",
		"SELECT owner FROM locks WHERE name = %k FOR UPDATE", "SELECT n FROM locks WHERE name = %k FOR UPDATE",
		"SELECT n FROM locks WHERE name = %k FOR UPDATE NOWAIT",
		"SELECT n FROM locks WHERE name = %k FOR UPDATE SKIP LOCKED",
		"SELECT GET_LOCK(%k, 100)", "SELECT GET_LOCK(%k, 100)", "SELECT GET_LOCK(%k, 0)", "SELECT RELEASE_LOCK(%k)",
		"SELECT IS_FREE_LOCK(%k)",
	},
	PostgreSQL: {
		"BEGIN", "BEGIN", "BEGIN", "BEGIN", "COMMIT", "ROLLBACK", "(closes)", "(is cancelled)", "(is cancelled)",
		"INSERT INTO locks (name, owner, n) VALUES (%k, %o, 1)",
		"INSERT INTO locks (name, owner, expires) VALUES (%k, %o, now() + interval '30 minutes') " +
			"ON CONFLICT DO NOTHING RETURNING owner",
		"INSERT INTO locks (name, owner) VALUES (%k, %o) ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, " +
			"n = locks.n + 1 WHERE locks.owner = %o RETURNING n",
		"INSERT INTO locks (name, owner, expires) VALUES (%k, %o, now() - interval '10 minutes') ON CONFLICT (name) " +
			"DO UPDATE SET owner = EXCLUDED.owner, expires = EXCLUDED.expires WHERE locks.expires <= now()",
		"UPDATE locks SET owner = %o, n = n + 1 WHERE name = %k",
		"UPDATE locks SET owner = %o WHERE name = %k AND owner = %o RETURNING owner, n",
		"UPDATE locks SET expires = now() - interval '30 minutes' WHERE name = %k " +
			"AND (expires > clock_timestamp() OR expires IS NULL)",
		"DELETE FROM locks WHERE name = %k", "DELETE FROM locks WHERE name = %k AND owner = %o RETURNING n",
		"SELECT owner, n FROM locks WHERE name = %k", "SELECT name, owner, n, expires < now() FROM locks ORDER BY name",
		"SELECT owner FROM locks WHERE name = %k FOR UPDATE",
		"SELECT n FROM locks WHERE name = %k AND owner = %o FOR UPDATE",
		"SELECT n FROM locks WHERE name = %k FOR UPDATE NOWAIT",
		"SELECT name FROM locks ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED",
		"SELECT pg_advisory_lock(hashtext(%k))", "SELECT pg_advisory_xact_lock(hashtext(%k))",
		"SELECT pg_try_advisory_lock(hashtext(%k))",
		"SELECT pg_try_advisory_xact_lock(hashtext(%k))", "SELECT pg_advisory_unlock(hashtext(%k))",
	},
}

// A move is one step of a random program. Its numbers are taken modulo the number of options.
type move struct{ who, what, key, owner int }

// moves are those of a program, in two levels: so it is long, and can be shrunk to few moves.
var moves = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
	return move{anyByte.Draw(t, "who"), anyByte.Draw(t, "what"), anyByte.Draw(t, "key"), anyByte.Draw(t, "owner")}
}), 6, 20), 3, 12)

// anyByte is as often large as small; the numbers of rapid are mostly small.
var anyByte = rapid.Custom(func(t *rapid.T) (n int) {
	for range 8 {
		n <<= 1
		if rapid.Bool().Draw(t, "bit") {
			n++
		}
	}
	return n
})

// line is the move as a line of a transcript.
func (m move) line(d Dialect) string {
	if d == MySQL {
		d = MariaDB
	}
	text := programs[d][m.what%len(programs[d])]
	text = strings.ReplaceAll(text, "%k", "'"+[]string{"k", "m", "k", "m", "p"}[m.key%5]+"'")
	return letter(SessionID(m.who%3+1)) + ": " + strings.ReplaceAll(text, "%o", "'"+[]string{"x", "y"}[m.owner%2]+"'")
}

// TestRealServer plays random programs of three sessions on a State and on a real server: answers, affected rows,
// errors, and who waits for whom must agree after every step. Steps after which the threads of the server would race
// are left out.
func TestRealServer(t *testing.T) {
	effort.OnlyPushed(t, "it starts database servers")
	effort.Cases(t, 15, 60)
	for _, d := range []Dialect{MariaDB, PostgreSQL} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel() // both mostly wait for their server
			s := connect(t, d)
			met := map[string]int{}
			rapid.Check(t, func(rt *rapid.T) {
				s.begin(t)
				state := newState(d)
				var lines []string
				named := 0 // deadlocks of named locks: MariaDB may spare who was a victim before
				for i, m := range slices.Concat(moves.Draw(rt, "moves")...) {
					if i < 3 && m.owner%4 != 0 { // most begin with transactions
						m.who, m.what = i, 0
					}
					line := m.line(d)
					waits := waitsFor(state, SessionID(m.who%3+1)) != ""
					if next, said := do(t, state, line); strings.HasPrefix(said, "not carried") ||
						waits != strings.Contains(line, "(is cancelled)") && !strings.Contains(line, "(closes)") ||
						next.Racing() {
						continue
					} else if strings.Contains(line, "GET_LOCK") && strings.Contains(said, "error 1213") {
						if named++; named > 1 {
							break
						}
					}
					var said string
					var err error
					if state, said, err = s.step(t, state, line); err != nil {
						rt.Fatalf("%s\n%v", strings.Join(lines, "\n"), err)
					}
					lines = append(lines, line+" => "+said)
					for _, part := range strings.Fields(strings.ReplaceAll(said, ",", "")) {
						met[part]++
					}
				}
			})
			for i := range s.sessions {
				s.end(t, i)
			}
			t.Log(met)
			for _, what := range map[Dialect][]string{MariaDB: {"waits", "1062", "1213", "1317", "1205"},
				PostgreSQL: {"waits", "23505", "40P01", "25P02", "57014", "55P03"}}[d] {
				if met[what] == 0 {
					t.Errorf("%s was never met: the programs are too tame", what)
				}
			}
		})
	}
}
