package study_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// BenchmarkGCPauseToken is a whole run of gc-pause with the token lock, seeded,
// with its verdict, on a lab that is warm: the inner loop of all statistics.
func BenchmarkGCPauseToken(b *testing.B) {
	e, sc := racetest.Cell(b, "token", "gc-pause")
	p, err := sc.Prepare(e, sc.Settings, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	s := sc.Settings
	b.ReportAllocs()
	broken := 0
	for b.Loop() {
		s.Seed++
		run, err := p.Play(s)
		if err != nil {
			b.Fatal(err)
		}
		if verdict.Judge(p.History(run, s)).Verdicts[0].Broken() {
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
	for _, id := range []string{"token", "redlock"} {
		b.Run(id, func(b *testing.B) {
			e, sc := racetest.Cell(b, id, "gc-pause")
			b.ReportAllocs()
			for b.Loop() {
				racetest.Play(b, e, sc, sc.Settings)
			}
		})
	}
}

// BenchmarkRedisson is one life of a lock whose every command is Lua: acquired,
// renewed four times and released. In the lab an interpreter is built for each
// command and a new lab for each life; from the tables nothing is run at all.
func BenchmarkRedisson(b *testing.B) {
	alone := race.Scenario{
		Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 1 }),
		Clients:  func(s race.Settings) []race.ClientSpec { return []race.ClientSpec{{Work: s.TTL * 3 / 2}} },
	}
	e, _ := racetest.Cell(b, "watchdog", "calm")
	const scripts = 6
	perScript := func(b *testing.B, h *history.History) {
		sent := 0
		for i := range h.Events {
			if race.Applies(1, "EVAL")(&h.Events[i]) {
				sent++
			}
		}
		if sent != scripts {
			b.Fatalf("%d scripts, want %d", sent, scripts)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*scripts), "ns/script")
	}
	b.Run("lab", func(b *testing.B) {
		b.ReportAllocs()
		var last *race.Outcome
		for b.Loop() {
			last = racetest.PlayAnyway(b, e, alone, alone.Settings)
		}
		perScript(b, last.History)
	})
	b.Run("tables", func(b *testing.B) {
		p, err := alone.Prepare(e, alone.Settings, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		run, err := p.Play(alone.Settings) // fills them
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if run, err = p.Play(alone.Settings); err != nil {
				b.Fatal(err)
			}
		}
		perScript(b, p.History(run, alone.Settings))
	})
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
