package redis_test

import (
	"strconv"
	"testing"

	"locklab/algorithms/redis"
)

// BenchmarkAcquireRelease is one Acquire and Release without contention, with servers
// in this process behind real sockets: the cost of the lock's commands and of its
// own code, not of a network. Every time takes a lock and a key of its own: after a release some
// reentrant ones go on believing that they are inside, as their articles have them, and
// at-least-for refuses everybody for a while.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, e := range redis.All() {
		b.Run(e.ID, func(b *testing.B) {
			p := newTestbed(b, e.Nodes).process(b, e, "A")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				lease, err := e.New(p.env).Acquire(b.Context(), "lock"+strconv.Itoa(i))
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
