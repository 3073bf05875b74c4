package explore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// TestRegister: a kind of server that only tests know is searched with symmetry, in lockstep and at any
// timing; what is found is played again and drawn.
func TestRegister(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const ttl = 9 * time.Second
	for _, timing := range []*explore.Durations{nil, {Timing: simulator.Timing{Step: ttl / 3, Latency: ttl / 3}, Work: ttl / 3, Timeout: ttl, Idle: simulator.Never}} {
		allowed, err := faults.Budget("crash=1").Parse()
		if err != nil {
			t.Fatal(err)
		}
		b := &explore.Model{
			Entry: lock.Entry{ID: "cas", Nodes: 1, TTL: ttl, New: func(env lock.Env) lock.Strategy {
				return &swapLock{server: env.Server.(*swapper), new: env.Tokens.Token}
			}},
			Scope:  explore.Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: ttl},
			Faults: allowed, Timing: timing, Servers: newRegisters,
		}
		whole, err := explore.Search(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if !whole.Complete || !whole.Symmetry || !slices.Equal(whole.Pars(), []string{"DEADLOCK@1"}) {
			t.Errorf("complete %v, symmetry %v, found %q", whole.Complete, whole.Symmetry, whole.Pars())
		}
		sim, err := b.Simulator()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		if timing == nil {
			raced, err := schedule.Play(sim, schedule.Conditions{Latency: time.Millisecond, Horizon: time.Minute})
			if err != nil || !slices.ContainsFunc(raced.Events, func(e history.Event) bool { return e.Kind == history.Enter }) {
				t.Errorf("in a timed run nobody comes in: %v", err)
			}
		}
		run, err := schedule.Replay(sim, whole.Found[0].Choices)
		if err != nil {
			t.Fatal(err)
		}
		h := b.Case()
		h.Events, h.End = run.Events, run.End
		var lanes strings.Builder
		if err := reports.Lanes(&lanes, &h, verdict.Judge(&h), reports.Look{Width: 100}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"CAS -> c", "CRASH"} {
			if !strings.Contains(lanes.String(), want) {
				t.Errorf("the lanes do not show %q:\n%s", want, lanes.String())
			}
		}
	}
}
