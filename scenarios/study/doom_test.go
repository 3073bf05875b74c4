package study_test

import (
	"slices"
	"strings"
	"testing"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestDoom: shares that can be computed by hand. A paused client without a fixed end may
// resume at any moment, so each step of its rival is a coin toss, and the last toss is
// the end of the lease. After a jump of a clock, a loss of data or a crash of the holder
// nothing is left to chance.
func TestDoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lock, budget string
		nodes        int
		harm         verdict.Word
		before       float64   // the share before the fault
		after        []float64 // from the fault to the point of no return
	}{
		// the rival starts, its SET arrives, it hears the refusal, and the lease ends
		{"token", "pause=1", 1, verdict.Overlap, 0, []float64{1. / 8, 1. / 4, 1. / 2, 1}},
		{"watchdog", "pause=1", 1, verdict.Overlap, 0, []float64{1. / 8, 1. / 4, 1. / 2, 1}},
		// the same with three servers, of which each is asked by itself, and their
		// answers cleaned up after
		{"redlock", "pause=1", 3, verdict.Overlap, 0, []float64{1. / 2048, 1. / 1024, 1. / 512, 1. / 256, 1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}},
		{"setnx", "crash=1", 1, verdict.Deadlock, 0, []float64{1}},
		{"getset", "client-clock=1@10s", 1, verdict.Overlap, 0, []float64{1}},
		{"redlock", "restart=1", 3, verdict.Overlap, 0, []float64{1}},
	} {
		b := study.DefaultBounds()
		b.Budget, b.Nodes = faults.Budget(c.budget), c.nodes
		s := exploring(t, racetest.Lock(t, c.lock), b)
		i := slices.IndexFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == c.harm })
		if i < 0 {
			t.Fatalf("%s, %s: no witness of %s", c.lock, c.budget, c.harm)
		}
		trace := s.Witnesses[i].Trace
		strike := 1 + slices.IndexFunc(trace.Choices, func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb })
		shares := sharesOf(t, s, trace, c.harm)
		if got := shares[strike-1]; got != c.before {
			t.Errorf("%s, %s, %s: share %v before the strike, want %v", c.lock, c.budget, c.harm, got, c.before)
		}
		last := strike + len(c.after)
		if got := shares[strike:last]; !slices.Equal(got, c.after) { // powers of two do not round
			t.Errorf("%s, %s, %s: shares %v, want %v", c.lock, c.budget, c.harm, got, c.after)
		}
		d := racetest.Must(study.DoomOn(t.Context(), s.Strategy, trace))(t)
		if d.Harm != c.harm || d.NoReturn != last-1 || d.Steps != s.Witnesses[i].Steps {
			t.Errorf("%s, %s, %s: %+v, want no return after %d steps of %d", c.lock, c.budget, c.harm, d, last-1, s.Witnesses[i].Steps)
		}
	}
}

// sharesOf are the shares of what can follow the choices of a witness that end in a harm.
func sharesOf(t *testing.T, s *study.Search, trace simulator.Trace, harm verdict.Word) []float64 {
	t.Helper()
	bounds := racetest.Must(study.ParseBounds(trace.Settings))(t)
	sim, opt := searchOf(t, s.Strategy, bounds)
	defer sim.Close()
	d := racetest.Must(explore.DoomOf(t.Context(), sim, opt, trace.Choices, harm))(t)
	return d.Shares
}

// TestDoomOfRaces: a race has one future only, and the error says so.
func TestDoomOfRaces(t *testing.T) {
	entry, sc := racetest.Cell(t, "token", "gc-pause")
	if _, err := study.DoomOn(t.Context(), entry, racetest.Play(t, entry, sc, sc.Settings).Trace); err == nil || !strings.Contains(text.SayError("en", err), "locklab explore token") {
		t.Errorf("error %v, want where to go", err)
	}
}
