package chart

import (
	"fmt"
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
