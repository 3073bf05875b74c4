package play_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/play"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Forward leaves a player where there is a choice, a fault, the goal or the end, and Back leads to where the last
// choice was. No move without an effect is offered, and no pause of no length.
func TestForward(t *testing.T) {
	random, forced, goals := rand.New(rand.NewPCG(1, 1)), 0, 0
	for _, l := range play.Levels() {
		if l.Solution().States > 500 {
			continue
		}
		g := racetest.Must(l.Game())(t)
		for range 6 {
			at, err := g.Forward(nil, l.Harm)
			for err == nil {
				var p *play.Position
				if p, err = g.At(at); err != nil || len(p.Moves) == 0 {
					break
				}
				offered(t, g, l, p, at)
				chosen := append(slices.Clip(at), p.Moves[random.IntN(len(p.Moves))].Choice)
				var on, back []simulator.Choice
				if on, err = g.Forward(chosen, l.Harm); err != nil {
					break
				}
				forced += len(on) - len(chosen)
				if back, err = g.Back(on, l.Harm); len(p.Moves) > 1 && !slices.Equal(back, at) {
					t.Fatalf("%s: back from %v is %v, not %v", l.ID, on, back, at)
				}
				if q, _ := g.At(on); q != nil && q.Has(l.Harm) && !p.Has(l.Harm) {
					goals++
				}
				at = on
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		g.Close()
	}
	if forced == 0 || goals == 0 {
		t.Errorf("%d forced moves, %d goals: nothing was tested", forced, goals)
	}
}

// offered checks what a player may choose from.
func offered(t *testing.T, g *play.Game, l play.Level, p *play.Position, at []simulator.Choice) {
	t.Helper()
	if len(p.Moves) == 1 && !p.Moves[0].Fault {
		before, err := g.At(at[:max(len(at)-1, 0)])
		if err != nil || !p.Has(l.Harm) || before.Has(l.Harm) {
			t.Errorf("%s: the only move after %v is not made: %v", l.ID, at, err)
		}
	}
	for _, m := range p.Moves {
		since, paused := play.PausedAt(p.Outcome.History.Events, int(m.Choice.Client))
		if m.Choice.Verb == simulator.Resume && paused && since == p.Now && len(p.Moves) > 1 {
			t.Errorf("%s: after %v a client may wake from a pause of no length", l.ID, at)
		}
		if e := m.Run.Events[min(len(p.Outcome.History.Events), len(m.Run.Events)-1)]; m.Choice.Verb == simulator.Orphaned && e.Kind == history.Read && len(p.Moves) > 1 && !p.Has(l.Harm) {
			t.Errorf("%s: after %v a read is offered for which nobody waits", l.ID, at)
		}
	}
}
