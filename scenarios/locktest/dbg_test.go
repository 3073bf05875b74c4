package locktest

import (
	"context"
	"os"
	"testing"
	"time"

	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/client"
)

func TestDbg(t *testing.T) {
	entry, _ := race.Strategy("token")
	bounds := study.Bounds{Clients: 2, Attempts: 2, Budget: "crash=1,pause=1", TTL: 9 * time.Second, Nodes: 1}
	own, err := study.Explore(t.Context(), entry, bounds)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := newPlan(t, Bounds{Clients: 2, Budget: bounds.Budget, TTL: bounds.TTL, Key: client.Key}, func(c *Client) {
		lease, err := entry.New(c.Env()).Acquire(context.Background(), client.Key)
		if err != nil {
			return
		}
		c.Critical(func(r *Resource) { r.Write(r.Read() + 1) })
		lease.Release(context.Background())
	})
	for _, w := range own.Witnesses {
		o, _ := study.Replay(w.Trace)
		reports.Lanes(os.Stdout, o.History, o.Judgement, reports.Options{Width: 150, Brief: true})
		o, err := p.play(w.Choices, false)
		if err != nil {
			t.Log(err)
			continue
		}
		reports.Lanes(os.Stdout, o.History, o.Judgement, reports.Options{Width: 150, Brief: true})
	}
}
