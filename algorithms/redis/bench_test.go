package redis_test

import (
	"testing"

	"locklab/algorithms"
)

// BenchmarkAcquireRelease is one Acquire and Release without contention, with servers
// in this process behind real sockets: the cost of the strategy's commands and of its
// own code, not of a network.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, e := range algorithms.OnRedis() {
		b.Run(e.ID, func(b *testing.B) {
			p := newTestbed(b, e.Nodes).process(b, e, "A")
			b.ReportAllocs()
			for b.Loop() {
				lease, err := p.Acquire(b.Context(), "lock")
				if err != nil {
					b.Fatal(err)
				}
				if err := lease.Release(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
