package locktest

import (
	"context"
	"testing"
	"time"

	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/client"
)

// The lab's own locks come to the same in bubbles as on coroutines: verdicts, par, and
// the number of states.
func TestBothHosts(t *testing.T) {
	for _, id := range []string{"setnx", "setnx-expire", "token"} {
		t.Run(id, func(t *testing.T) {
			entry, err := race.Strategy(id)
			if err != nil {
				t.Fatal(err)
			}
			bounds := study.Bounds{Clients: 2, Attempts: 2, Budget: "crash=1,pause=1", TTL: 9 * time.Second, Nodes: 1}
			own, err := study.Explore(t.Context(), entry, bounds)
			if err != nil {
				t.Fatal(err)
			}
			p, err := newPlan(t, Bounds{Clients: 2, Budget: bounds.Budget, TTL: bounds.TTL, Key: client.Key}, func(c *Client) {
				lease, err := entry.New(c.Env()).Acquire(context.Background(), client.Key)
				if err != nil {
					return
				}
				c.Critical(func(r *Resource) { r.Write(r.Read() + 1) })
				lease.Release(context.Background())
			})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			s, err := p.search(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Log(time.Since(start), p.timed, own.States, s.States, own.Transitions, s.Transitions, s.Histories, own.Histories, s.Symmetry, own.Symmetry)
			for _, w := range own.Witnesses {
				t.Log(w.Verdict, w.Par, w.Steps)
			}
			for _, w := range s.Witnesses {
				t.Log(w.Verdict, w.Par, w.Steps)
			}
		})
	}
}
