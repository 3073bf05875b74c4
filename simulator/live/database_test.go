package live

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/schedule"
)

// aRow is a table with a row that a session can lock.
var aRow = database.Table{
	Name: "locks", Key: []string{"name"},
	Columns: []database.Column{
		{Name: "name", Type: database.Text}, {Name: "owner", Type: database.Text},
		{Name: "version", Type: database.Integer},
	},
	Rows: [][]database.Value{{database.TextValue("k"), {}, database.IntegerValue(0)}},
}

// holding are the statements by which a session has the key k, and the one that asks for it.
var holding = map[database.Dialect][]string{
	database.MariaDB:    {"SELECT GET_LOCK('k', 0)"},
	database.PostgreSQL: {"BEGIN", "SELECT name = 'k' FROM locks WHERE name = 'k' FOR UPDATE SKIP LOCKED"},
}

// asks notes for a client whether it gets the key, asks for it on another connection, leaves the first one idle for a
// time, with a ping in between or without, and asks again on the other.
func asks(d database.Dialect, ping bool) func(c *simulator.Client) {
	return func(c *simulator.Client) {
		ctx := context.Background()
		db := c.Library().(*database.Pool).DB()
		ask := func(conn *sql.Conn) {
			got := "no"
			for _, text := range holding[d] {
				var is bool
				if text == "BEGIN" {
					conn.ExecContext(ctx, text)
				} else if conn.QueryRowContext(ctx, text).Scan(&is) == nil && is {
					got = "yes"
				}
			}
			if got == "no" && d == database.PostgreSQL {
				conn.ExecContext(ctx, "ROLLBACK")
			}
			c.Record(history.Event{Kind: history.Acquire, Note: got})
		}
		first, _ := db.Conn(ctx)
		ask(first)
		second, _ := db.Conn(ctx)
		ask(second)
		for range 2 {
			c.Clock().Sleep(6 * time.Second)
			if ping {
				first.PingContext(ctx)
			}
		}
		ask(second)
		c.Record(history.Event{Kind: history.Done})
	}
}

// script is that of a run in the lab.
type script = func(s *schedule.Stage, e *history.Event)

// TestDatabase: on a real server a session keeps what it has until its idle time is over or it is killed. A session
// that is killed outside the trace is noticed.
func TestDatabase(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	for d := range holding {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			server, err := NewDatabase(t.Context(), d)
			servertest.Need(t, err)
			t.Cleanup(server.Close)
			play := func(ping bool, script script, on Target) (*Playback, error) {
				config := simulator.Config{
					Clients: []simulator.ClientConfig{{Program: asks(d, ping)}},
					Nodes: []simulator.NodeConfig{{
						Session:  10 * time.Second,
						Contents: database.Contents{Dialect: d, Tables: []database.Table{aRow}},
					}},
					Faults: []simulator.FaultBudget{
						{Fault: faults.ExpireSession, Times: 1}, {Fault: faults.Restart, Times: 1},
					},
				}
				sim, choices := played(t, config, script)
				return Play(t.Context(), sim, choices, on)
			}
			once := func(f simulator.Choice) script {
				done := false
				return func(s *schedule.Stage, e *history.Event) {
					if e.Kind == history.Acquire && !done {
						done = true
						s.Inject(time.Second, f)
					}
				}
			}
			for _, test := range []struct {
				ping   bool
				script script
				want   string
			}{
				{true, nil, "yes no no"},
				{false, nil, "yes no yes"},
				{true, once(faults.ExpireSessionOf(1)), "yes no yes"},
				{true, once(faults.RestartOf(1)), "yes no no"}, // all connections have broken
			} {
				run, err := play(test.ping, test.script, server)
				if err != nil || run.Stopped != nil || len(run.Differences) > 0 || run.Answers == 0 ||
					notes(run.Events) != test.want {
					t.Errorf("ping %v: %v, %+v, %q, want %q", test.ping, err, run, notes(run.Events), test.want)
				}
			}
			killed := false
			run, err := play(true, nil, disturbed{server, func(_ int, s servers) {
				r := s.(*databaseRun)
				if first := r.sessions[place{1, 1}]; first != nil && len(r.lab) > 0 && !killed {
					killed = true
					if err := r.exec(fmt.Sprintf(r.kill, first.number)); err != nil {
						t.Error(err)
					}
				}
			}})
			if err != nil || !killed || len(run.Differences) == 0 {
				t.Errorf("%v, %v, %+v, %q", err, killed, run.Differences, notes(run.Events))
			}
		})
	}
}
