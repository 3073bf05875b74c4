package promela

import (
	"testing"
	"time"

	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// BenchmarkSpin has the lab and SPIN search the same space, of token with two attempts at any timing and without
// symmetry: states in a second of one processor, and bytes a state. SPIN's time is without what the lab computes for
// its answers.
func BenchmarkSpin(b *testing.B) {
	effort.Need(b, installed())
	space := question(b, "token", "crash=1,pause=1", anyTiming)
	b.Run("lab", func(b *testing.B) {
		plain := *space
		plain.Plain = explore.Plainest
		for b.Loop() {
			began := time.Now()
			r, err := explore.Search(b.Context(), &plain)
			if err != nil || !r.Complete {
				b.Fatal(err)
			}
			b.ReportMetric(float64(r.States)/time.Since(began).Seconds(), "states/s")
			b.ReportMetric(float64(r.Bytes)/float64(r.States), "B/state")
		}
	})
	b.Run("SPIN", func(b *testing.B) {
		for b.Loop() {
			var m *model
			r := spin(b, space, func(made *model) { m = made })
			b.ReportMetric(float64(r.states)/m.took.Seconds(), "states/s")
			b.ReportMetric(float64(m.bytes), "B/state")
		}
	})
}
