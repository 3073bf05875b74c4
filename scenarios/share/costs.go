package share

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// costs.txt holds what long tasks have cost on some machine: seconds, and the ID. A task
// that is missing, or that costs something else by now, makes shares less even, and
// nothing else. make costs measures it anew.
//
//go:embed costs.txt
var costsText string

// recorded panics on a line that is no cost: the file is ours.
var recorded = sync.OnceValue(func() map[string]float64 {
	costs := map[string]float64{}
	for line := range strings.Lines(costsText) {
		seconds, id, found := strings.Cut(strings.TrimSpace(line), " ")
		c, err := strconv.ParseFloat(seconds, 64)
		if !found || err != nil || c <= 0 {
			panic("share: costs.txt: " + line)
		}
		costs[id] = c
	}
	return costs
})

// Recorded is the recorded cost of a task in seconds; false: there is none.
func Recorded(id string) (cost float64, ok bool) {
	cost, ok = recorded()[id]
	return cost, ok
}
