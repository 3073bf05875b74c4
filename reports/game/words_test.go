package game

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// What a dead client had sent is worded by the message, and nothing else of a dead client is offered.
func TestNothingOfTheDead(t *testing.T) {
	offered := 0
	for _, n := range []int{2, 4, 11} {
		l, err := play.LevelAt(n)
		if err != nil {
			t.Fatal(err)
		}
		g, err := l.Game()
		if err != nil {
			t.Fatal(err)
		}
		for depth := range 8 { // c1 goes on for so long, and crashes
			var at []simulator.Choice
			for range depth {
				at = choose(t, g, at, func(m play.Move) bool { return !m.Fault && m.Choice.Client == 1 })
			}
			at = choose(t, g, at, func(m play.Move) bool { return m.Fault && m.Choice.Client == 1 })
			for range 20 {
				p, err := g.At(at)
				if err != nil {
					t.Fatal(err)
				}
				for i, said := range movesOf(p) {
					if m := p.Moves[i]; m.Choice.Client > 0 && isDead(p, m.Choice.Client) {
						offered++
						for lang, before := range map[string]string{"en": "sent before it crashed arrives", "zh": "宕机前发出的"} {
							if m.Choice.Verb != simulator.Orphaned || !strings.Contains(said[lang], before) {
								t.Errorf("level %d, %s: %q of the dead c%d", n, lang, said[lang], m.Choice.Client)
							}
						}
					}
				}
				if len(p.Moves) == 0 {
					break
				}
				at = choose(t, g, at, func(m play.Move) bool { return m.Choice.Client != 1 })
			}
		}
		g.Close()
	}
	if offered == 0 {
		t.Errorf("no request of a dead client was under way, in %v", text.Languages())
	}
}

// choose makes the first move that is wanted and what is then no choice; without one, the first move.
func choose(t *testing.T, g *play.Game, at []simulator.Choice, want func(play.Move) bool) []simulator.Choice {
	t.Helper()
	p, err := g.At(at)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range p.Moves {
		if want(m) || i == len(p.Moves)-1 {
			if !want(m) {
				m = p.Moves[0]
			}
			if at, err = g.Forward(append(at[:len(at):len(at)], m.Choice), ""); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	return at
}

// Moves that follow the hints solve each level that can be solved, with the fewest faults and steps. Each hint has a reason
// in every language, and none counts the steps to the end.
func TestHintsSolveLevels(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	counts := regexp.MustCompile(`(?i)steps|步`)
	for n, l := range play.Levels() {
		want := l.Solution()
		if !want.Possible || !effort.Exhaustive() && want.States > 4_000 {
			continue
		}
		g, err := l.Game()
		if err != nil {
			t.Fatal(err)
		}
		at, err := g.Forward(nil, l.Harm)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			p, err := g.At(at)
			if err != nil {
				t.Fatal(err)
			}
			if p.Has(l.Harm) {
				break
			}
			w, err := g.Way(context.Background(), at, l.Harm)
			if err != nil {
				t.Fatal(err)
			}
			h, err := hintOf(context.Background(), g, p, w, l.Harm)
			if err != nil {
				t.Fatal(err)
			}
			for _, lang := range text.Languages() {
				if why := h.Said[lang]; why == "" || strings.ContainsAny(why, "{}") || strings.HasPrefix(why, "play.") || counts.MatchString(why) {
					t.Errorf("level %d, %s: %q", n+1, lang, why)
				}
			}
			if at, err = g.Forward(append(at[:len(at):len(at)], p.Moves[h.Move].Choice), l.Harm); err != nil {
				t.Fatal(err)
			}
		}
		if p, err := g.At(at); err != nil || !p.Has(l.Harm) || len(at) != want.Steps || p.Used() != want.Par {
			t.Errorf("level %d: %d steps and %d faults, want %+v: %v", n+1, len(at), p.Used(), want, err)
		}
		g.Close()
	}
}
