package redis_test

import (
	"testing"

	"locklab/algorithms"
)

// BenchmarkAcquireRelease is one Acquire and Release without contention, with servers
// in this process behind real sockets: the cost of the strategy's commands and of its
// own code, not of a network. Every time takes a lock of its own: after a release some of the
// reentrant ones go on believing that they are inside, as their articles have them.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, e := range algorithms.OnRedis() {
		b.Run(e.ID, func(b *testing.B) {
			if e.ID == "at-least-for" {
				b.Skip("after a release it refuses everybody until its least time is over")
			}
			p := newTestbed(b, e.Nodes).process(b, e, "A")
			b.ReportAllocs()
			for b.Loop() {
				lease, err := e.New(p.env).Acquire(b.Context(), "lock")
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
