package cost

import (
	"math"
	"reflect"
	"testing"
	"time"

	"locklab/simulator/effort"
)

func playOf(t *testing.T, id string, n int, l Load) WaitingResult {
	t.Helper()
	for _, p := range Policies() {
		if p.ID == id {
			r, err := PlayWaiting(t.Context(), p, n, l)
			if err != nil {
				t.Fatalf("%s with %d clients: %v", id, n, err)
			}
			return r
		}
	}
	t.Fatalf("there is no policy %s", id)
	return WaitingResult{}
}

// What follows from how each policy works.
func TestPolicies(t *testing.T) {
	effort.Unwatched(t, "one goroutine counts")
	l := UsualLoad()
	l.Most = 3000
	trip := 2*l.Latency + l.Service
	results := map[string]WaitingResult{}
	for _, p := range Policies() {
		r := playOf(t, p.ID, 50, l)
		if p.ID == "jitter" || p.ID == "pubsub" || p.ID == "line" {
			if again := playOf(t, p.ID, 50, l); !reflect.DeepEqual(r, again) {
				t.Errorf("%s: another run gives %+v, not %+v", p.ID, again, r)
			}
		}
		if !r.Cut && r.Entries != 10*LeastEntries || r.Throughput > 1/l.Hold.Seconds() || r.Load > 1 || r.Jain != nil && (*r.Jain < 1.0/50 || *r.Jain > 1+1e-9) {
			t.Errorf("%s: %+v", p.ID, r)
		}
		if r.Handover < l.Latency.Seconds() || r.HandoverP99 < r.Handover/2 {
			t.Errorf("%s: a handover of %v", p.ID, r.Handover)
		}
		results[p.ID] = r
	}
	if r := results["none"]; r.Load < 0.95 || r.Handover > 50*trip.Seconds() {
		t.Errorf("who does not rest keeps the server busy, and comes at once: %+v", r)
	}
	if r := results["fixed"]; r.Handover < 0.5e-3 || math.Abs(r.Commands-(50/l.Poll.Seconds())) > 300 {
		t.Errorf("a poll of %v: %+v", l.Poll, r)
	}
	if r := results["line"]; r.Herd > 1.01 || r.Overtaken > 1 || *r.Jain < 0.95 {
		t.Errorf("a line wakes one client, and keeps the order: %+v", r)
	}
	if r := results["pubsub"]; r.Herd < 10 {
		t.Errorf("a message wakes all: %+v", r)
	}
	if r := results["herd"]; r.Herd < 15 {
		t.Errorf("a change wakes all: %+v", r)
	}
	if r := results["queue"]; r.Overtaken > 1 {
		t.Errorf("a queue keeps the order: %+v", r)
	}
	if many := playOf(t, "herd", 51, l); !many.Skipped {
		t.Error("a herd of 51 was played")
	}
}

// One client alone pays its round trips and the server's time.
func TestOneAlone(t *testing.T) {
	l := UsualLoad()
	l.Entries = 0
	r := playOf(t, "fixed", 1, l)
	if r.Entries != 1 || r.Jain != nil || r.Herd != 0 || r.Overtaken != 0 {
		t.Errorf("%+v", r)
	}
	l.Entries, l.Hold = 100, 10*time.Millisecond
	r = playOf(t, "none", 1, l)
	if want := (2*l.Latency + l.Service).Seconds(); math.Abs(r.Release-want) > want/5 {
		t.Errorf("a release takes %v, want %v", r.Release, want)
	}
}
