package reality_test

import (
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/scenarios/cost"
	"locklab/scenarios/reality"
	"locklab/simulator/realserver/servertest"
)

// TestContend: on a real server no request is lost, nobody is inside with another, and the server's own
// counts are those of the requests: one script with one DEL each, and a SET for each attempt.
func TestContend(t *testing.T) {
	t.Parallel()
	server, err := reality.NewServer(t.Context())
	servertest.Need(t, err)
	t.Cleanup(server.Close)
	c := cost.Contention{Clients: 100, Requests: 250, Load: cost.Load{Hold: 100 * time.Microsecond, Inside: 1, Poll: 5 * time.Millisecond, Cap: 20 * time.Millisecond, TTL: 20 * time.Second, Patience: time.Minute}}
	if c.Load.Service, c.Load.Latency, err = server.Calibrate(t.Context(), 10); err != nil || c.Load.Service <= 0 || c.Load.Latency <= 0 {
		t.Fatal(c.Load, err)
	}
	for _, p := range cost.Policies() {
		if p.ID != "jitter" && p.ID != "pubsub" {
			continue
		}
		e, _ := algorithms.ByName(p.Lock)
		m, err := server.Contend(t.Context(), c, cost.Contender{Policy: p, Lock: e})
		if err != nil {
			t.Fatal(err)
		}
		if m.Acquired != 250 || m.GaveUp+m.Together+m.Lost != 0 || m.Jain == nil || m.Acquire.Max < m.Acquire.P50 || m.Release.P50 <= 0 {
			t.Errorf("%s: %+v", p.ID, m)
		}
		if n := m.Commands; n["del"] != 250 || p.ID == "jitter" && (n["eval"] != 250 || n["get"] != 500 || n["set"] < 250 || len(n) != 4) || p.ID == "pubsub" && n["publish"] != 250 {
			t.Errorf("%s: %v", p.ID, n)
		}
	}
	// Who has no patience is counted too.
	c.Clients, c.Requests, c.Load.Patience, c.Load.Hold = 20, 60, time.Millisecond, 3*time.Millisecond
	token, _ := algorithms.ByName("token")
	m, err := server.Contend(t.Context(), c, cost.Contender{Policy: cost.Policies()[0], Lock: token})
	if err != nil || m.GaveUp == 0 || m.Acquired+m.GaveUp != 60 || m.Commands["del"] != m.Acquired {
		t.Errorf("%v, %+v", err, m)
	}
}
