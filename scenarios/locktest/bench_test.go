package locktest

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/explore"
)

// BenchmarkHosts is the same search, of the token lock, on coroutines and in bubbles.
func BenchmarkHosts(b *testing.B) {
	entry := racetest.Lock(b, "token")
	bounds := study.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 2, TTL: 9 * time.Second, Nodes: 1}, Budget: "crash=1, pause=1"}
	b.Run("coroutines", func(b *testing.B) {
		for b.Loop() {
			if _, err := study.Explore(b.Context(), entry, bounds); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bubbles", func(b *testing.B) {
		err := errors.New("no test has run")
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as Check does
		for b.Loop() {
			testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "search", F: func(t *testing.T) {
				var p *plan
				p, err = newPlan(t, Bounds{Clients: 2, Budget: string(bounds.Budget), TTL: bounds.TTL, Key: client.Key}, labLock(entry, nil))
				if err == nil {
					_, err = p.search(t.Context())
				}
			}}})
		}
		if err != nil {
			b.Fatal(err)
		}
	})
}
