package simulator_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// TestIdleSession: a session ends when nothing has come in it for the time-out, whatever the client's other connections do; a real server agrees
// (locklab live run db-get-lock no-finally).
func TestIdleSession(t *testing.T) {
	config := simulator.Config{
		Nodes: []simulator.NodeConfig{{Session: 10 * time.Second, Contents: database.Contents{Dialect: database.MariaDB}}},
		Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) {
			db := c.Library().(*database.Pool).DB()
			ask := func(conn *sql.Conn) (is int) {
				if err := conn.QueryRowContext(context.Background(), "SELECT GET_LOCK('k', 0)").Scan(&is); err != nil {
					return -1
				}
				return is
			}
			first, _ := db.Conn(context.Background())
			tell(c, ask(first))
			c.Clock().Sleep(5 * time.Second)
			second, _ := db.Conn(context.Background())
			tell(c, ask(second))
			c.Clock().Sleep(4900 * time.Millisecond)
			tell(c, ask(second))
			c.Clock().Sleep(200 * time.Millisecond)
			tell(c, ask(second), ask(first))
		}}},
	}
	sim := simulator.MustLab(t, config)
	run, err := schedule.Play(sim, schedule.Conditions{Latency: time.Millisecond, Horizon: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range run.Events {
		if e.Kind == history.Refuse {
			told = append(told, e.Note)
		}
	}
	if got := strings.Join(told, ", "); got != "1, 0, 0, 1 -1" {
		t.Errorf("the answers are %s", got)
	}
}
