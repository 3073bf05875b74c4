package chart

import (
	"fmt"
	"testing"
)

// manySample is the sample grid three times over, in groups, with one lock that
// differs from its twins and one that differs only in what was expected.
func manySample() Grid {
	g := gridSample()
	few, cells := g.Strategies, g.Cells
	g.Strategies, g.Cells = nil, nil
	for round := range 3 {
		for i, s := range few {
			s.Group = []string{"two-steps", "stamps", "majority"}[i/2]
			row := append([]Cell(nil), cells[i]...)
			if round > 0 {
				s.ID = fmt.Sprintf("%s-%d", s.ID, round+1)
			}
			if round == 1 && i == 4 {
				row[0].Verdicts = row[7].Verdicts
			}
			if round == 2 && i == 3 {
				row[2].AsExpected = !row[2].AsExpected
			}
			g.Strategies, g.Cells = append(g.Strategies, s), append(g.Cells, row)
		}
	}
	return g
}

// Every lock stands on one line, and shares it only with locks of its group that
// came out the same.
func TestOverviewFolds(t *testing.T) {
	g := manySample()
	seen := map[int]bool{}
	for _, b := range g.Bands() {
		for _, l := range b.Lines {
			for _, i := range append([]int{l.First}, l.Same...) {
				if seen[i] {
					t.Errorf("%s stands twice", g.Strategies[i].ID)
				}
				seen[i] = true
				if g.Strategies[i].Group != b.Group || !g.sameVerdicts(l.First, i) {
					t.Errorf("%s shares a line with %s", g.Strategies[i].ID, g.Strategies[l.First].ID)
				}
			}
		}
	}
	if len(seen) != len(g.Strategies) {
		t.Errorf("%d of %d locks are shown", len(seen), len(g.Strategies))
	}
	if got, want := g.names(g.Bands()[0].Lines[0].Same), "setnx-2, setnx-3"; got != want {
		t.Errorf("setnx stands for %s, want %s", got, want)
	}
}
