package study_test

import (
	"testing"
	"time"

	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/explore"
)

func TestProveFor(t *testing.T) {
	for _, id := range []string{"setnx", "setnx-expire", "token", "watchdog", "getset", "constant", "thread-id", "lock-delay"} {
		for _, budget := range []string{"", "crash=1", "pause=1@2s", "pause=1", "lose-reply=1", "lose-request=1", "restart=1"} {
			t.Run(id+"/"+budget, func(t *testing.T) {
				entry := racetest.Lock(t, id)
				b := study.DefaultBounds()
				b.Timing, b.Attempts, b.Retries, b.Clients, b.Budget, b.Nodes, b.Uses = study.AnyTiming, 1, 0, 5, faults.Budget(budget), 1, client.Uses(0)
				m, err := b.Settled(entry).Model(entry)
				if err != nil {
					t.Fatal(err)
				}
				m.NoProbe = true
				began := time.Now()
				p, err := explore.ProveFor(t.Context(), m, false, 200_000)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d views, %d worlds, %d transitions, %v, closed %t, refused %v, %.1f s", p.Views, p.Worlds, p.Transitions, p.Harms, p.Closed, p.Refused, time.Since(began).Seconds())
			})
		}
	}
}
