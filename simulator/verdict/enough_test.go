package verdict_test

import (
	"testing"

	"locklab/simulator/history"
	. "locklab/simulator/verdict"
)

// TestEnough: of random histories none with fewer clients than Enough says shows a verdict, and one with as many does.
// DEADLOCK and BLOCKED take a client for each place that is left behind, which histories of several holders do not say.
func TestEnough(t *testing.T) {
	const most, seeds = 4, 1500
	for _, room := range []int{1, 2, 3, history.AnyNumber, history.NoLock} {
		least := map[Word]int{}
		for clients := most; clients > 0; clients-- {
			for seed := range uint64(seeds) {
				h := randomOf(seed, clients)
				for range clients {
					h.Holders = append(h.Holders, room)
				}
				for _, w := range Judge(h).Verdicts {
					least[w] = clients
				}
			}
		}
		for _, w := range []Word{Overlap, StaleWrite, Fenced, WrongDel, Lie, Orphan} {
			if got, want := least[w], Enough(w, room); got != want {
				t.Errorf("%s where %d may be inside: shown by %d clients, and Enough says %d", w, room, got, want)
			}
		}
	}
	for _, w := range []Word{Deadlock, Blocked} {
		if one, three := Enough(w, 1), Enough(w, 3); one != 1 || three != 3 {
			t.Errorf("%s: by %d clients where one may be inside, by %d where three may", w, one, three)
		}
	}
}
