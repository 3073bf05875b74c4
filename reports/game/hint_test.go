package game

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/simulator/effort"
)

// Moves that follow the hints solve each level that can be solved, with the fewest faults and steps. Each hint has a reason
// in every language, and none counts the steps to the end.
func TestHintsSolveLevels(t *testing.T) {
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
				if why := h.Why[lang]; why == "" || strings.ContainsAny(why, "{}") || strings.HasPrefix(why, "play.") || counts.MatchString(why) {
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
