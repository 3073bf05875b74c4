package scenarios

import (
	"testing"

	"locklab/algorithms"
	"locklab/simulator/verdict"
)

// BenchmarkGCPauseToken is a whole run of gc-pause with the token lock, seeded,
// with its verdict, on a lab that is warm: the inner loop of all statistics.
func BenchmarkGCPauseToken(b *testing.B) {
	e, sc := mustCell(b, "token", "gc-pause")
	p, err := sc.stage(e, sc.Settings)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	s := sc.Settings
	b.ReportAllocs()
	broken := 0
	for b.Loop() {
		s.Seed++
		run, err := p.player.Play(p.options(s))
		if err != nil {
			b.Fatal(err)
		}
		if verdict.Judge(p.history(run, s)).Verdicts[0].Broken() {
			broken++
		}
	}
	if broken != b.N {
		b.Fatalf("%d of %d runs broken: every pause outlasts the lease", broken, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkCell is one run on a lab that is made for it: what a user waits for.
func BenchmarkCell(b *testing.B) {
	for _, lock := range []string{"token", "redlock"} {
		b.Run(lock, func(b *testing.B) {
			e, sc := mustCell(b, lock, "gc-pause")
			b.ReportAllocs()
			for b.Loop() {
				mustPlay(b, e, sc, sc.Settings)
			}
		})
	}
}

// BenchmarkMatrix is the whole grid.
func BenchmarkMatrix(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Matrix(b.Context(), algorithms.All(), All(), 0, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
