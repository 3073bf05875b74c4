package attack

import (
	"testing"
	"time"

	"locklab/algorithms"
)

func TestScratch(t *testing.T) {
	b := newBed(t, 6)
	const step = 750 * time.Millisecond
	for _, e := range algorithms.OnRedis() {
		began := time.Now()
		all := map[string]int{}
		for seed := range uint64(30) {
			l := limits{clients: 2, attempts: 2, nodes: e.Servers(), ttl: 9 * time.Second, work: 4 * step, latency: step, lateness: step, patience: 4 * step, budget: []allowance{{"pause", 1, 0}}}
			if e.Servers() > 2 && e.Shards == 0 {
				l.latency, l.patience, l.nodes = 0, step, 3
			}
			for w := range b.play(t, e, l, seed) {
				all[w]++
			}
		}
		t.Log(e.ID, all, time.Since(began)/30)
	}
}
