package study_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// BenchmarkGCPauseToken is a whole run of gc-pause with the token lock, seeded,
// with its verdict, on a lab that is warm: the inner loop of all statistics.
func BenchmarkGCPauseToken(b *testing.B) {
	e, sc := racetest.Cell(b, "token", "gc-pause")
	p := racetest.Must(sc.Prepare(e, sc.Settings, nil))(b)
	defer p.Close()
	s := sc.Settings
	b.ReportAllocs()
	broken := 0
	for b.Loop() {
		s.Seed++
		run := racetest.Must(p.Play(s))(b)
		if verdict.Judge(p.History(run, s)).Verdicts[0].Broken() {
			broken++
		}
	}
	if broken != b.N {
		b.Fatalf("%d of %d runs broken: every pause outlasts the lease", broken, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkMatrix is the whole grid.
func BenchmarkMatrix(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := study.Matrix(b.Context(), algorithms.All(), scenarios.All(), 0, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
