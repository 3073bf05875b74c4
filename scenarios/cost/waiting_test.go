package cost

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"locklab/scenarios/internal/racetest"
	"locklab/simulator/effort"
)

func playOf(t *testing.T, id string, n int, l Load) Waiting {
	t.Helper()
	all := Policies()
	i := slices.IndexFunc(all, func(p Policy) bool { return p.ID == id })
	return racetest.Must(PlayWaiting(t.Context(), all[i], n, l))(t)
}

// TestPolicies: what follows from how each policy works.
func TestPolicies(t *testing.T) {
	effort.OnlyPushed(t, "it measures for seconds")
	effort.Unwatched(t, "one goroutine counts")
	l := UsualLoad()
	l.Most = 3000
	trip := 2*l.Latency + l.Service
	results := map[string]Waiting{}
	for _, p := range Policies() {
		r := playOf(t, p.ID, 50, l)
		if p.ID == "jitter" || p.ID == "pubsub" || p.ID == "line" {
			if again := playOf(t, p.ID, 50, l); !reflect.DeepEqual(r, again) {
				t.Errorf("%s: another run gives %+v, not %+v", p.ID, again, r)
			}
		}
		if !r.Cut && r.Entries != WaitingRuns*usualEntries || r.Load > 1 ||
			r.Jain != nil && (*r.Jain < 1.0/50 || *r.Jain > 1+1e-9) {
			t.Errorf("%s: %+v", p.ID, r)
		}
		if r.Handover < l.Latency || r.Quick > r.Handover || r.Slow < r.Handover || r.Least > r.Handover ||
			r.Most < r.Handover {
			t.Errorf("%s: a handover of %v, mostly %v to %v", p.ID, r.Handover, r.Quick, r.Slow)
		}
		results[p.ID] = r
	}
	if r := results["none"]; r.Load < 0.95 || r.Handover > 50*trip {
		t.Errorf("who does not rest keeps the server busy, and comes at once: %+v", r)
	}
	if r := results["fixed"]; r.Handover < time.Millisecond/2 || math.Abs(r.Commands-(50/l.Poll.Seconds())) > 300 {
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
}

// TestOneAlone: one client alone pays its round trips and the server's time, and waits for nobody.
func TestOneAlone(t *testing.T) {
	r := playOf(t, "fixed", 1, UsualLoad())
	if r.Entries != WaitingRuns*usualEntries || math.Abs(r.PerEntry-2) > 0.01 || r.Handover != 0 || r.Handovers != 0 ||
		*r.Jain != 1 || r.Herd != 0 || r.Overtaken != 0 {
		t.Errorf("%+v", r)
	}
}
