package cost

import (
	"reflect"
	"testing"
	"time"

	"locklab/algorithms"
)

// TestPredict: no request of a contention is lost, commands are counted by kind, those of scripts
// too, and who has no patience gives up.
func TestPredict(t *testing.T) {
	token, _ := algorithms.ByName("token")
	c := Contention{Clients: 5, Requests: 40, Load: Load{Service: 50 * time.Microsecond, Latency: 100 * time.Microsecond, Hold: 5 * time.Millisecond,
		Inside: 1, Poll: time.Millisecond, Cap: 10 * time.Millisecond, TTL: 30 * time.Second, Patience: time.Hour}} // pttl sleeps for a lease
	for _, p := range Policies() {
		if !p.Polls {
			continue
		}
		m, err := c.Predict(t.Context(), Contender{p, token})
		if err != nil {
			t.Fatalf("%s: %v", p.ID, err)
		}
		if m.Acquired != 40 || m.GaveUp+m.Together+m.Lost != 0 || m.Jain == nil || m.Commands["eval"] != 40 || m.Commands["del"] != 40 || m.Commands["get"] != 80 || m.Commands["set"] < 40 {
			t.Errorf("%s: %+v", p.ID, m)
		}
		if q := m.Acquire; q.P50 < 2*50e-6 || q.P90 < q.P50 || q.P99 < q.P90 || q.Max < q.P99 || m.Throughput > 1/c.Load.Hold.Seconds() {
			t.Errorf("%s: %+v", p.ID, m)
		}
		if again, err := c.Predict(t.Context(), Contender{p, token}); err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%s: another run gives %+v, %v", p.ID, again, err)
		}
	}
	c.Load.Patience = 12 * time.Millisecond // of five clients, two or three get in meanwhile
	m, err := c.Predict(t.Context(), Contender{Policies()[0], token})
	if err != nil || m.GaveUp == 0 || m.Acquired == 0 || m.Acquired+m.GaveUp != 40 || m.Acquire.Max > 0.013 {
		t.Errorf("%v, %+v", err, m)
	}
}

// TestCheck: a request that is missing, or counted twice, is an error.
func TestCheck(t *testing.T) {
	c := Contention{Requests: 3}
	for _, m := range []Measures{{Acquired: 2}, {Acquired: 3, GaveUp: 1}} {
		if c.Check(m) == nil {
			t.Errorf("%+v is no error", m)
		}
	}
	if err := c.Check(Measures{Acquired: 2, GaveUp: 1}); err != nil {
		t.Error(err)
	}
}
