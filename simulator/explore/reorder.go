package explore

import (
	"slices"

	"locklab/simulator"
)

// reorder moves the choices of a witness so that those of one client stay together,
// as far as they do not depend on one another. same reports whether a list of choices
// can be made and comes to the same verdict.
func reorder(choices []simulator.Choice, same func([]simulator.Choice) bool) []simulator.Choice {
	choices = slices.Clone(choices)
	for i := 1; i < len(choices); i++ {
		who := choices[i-1].Client
		if who == 0 || choices[i].Client == who {
			continue
		}
		for j := i + 1; j < len(choices); j++ {
			if choices[j].Client != who {
				continue
			}
			moved := slices.Clone(choices)
			step := moved[j]
			moved = slices.Insert(slices.Delete(moved, j, j+1), i, step)
			if same(moved) {
				choices = moved
			}
			break // later ones of this client come after this one
		}
	}
	return choices
}
