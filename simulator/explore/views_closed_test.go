package explore_test

import (
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestViewsClosed: views are closed. Without one of them they are not, nor do they prove what they come to.
func TestViewsClosed(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks, budgets, drawn := []string{"setnx", "token", "watch-multi"}, []string{"crash=1"}, 6
	if hunting() {
		locks = append(locks, "setnx-expire", "watchdog", "lock-delay", "watch-del", "thread-id", "set-ifeq")
		budgets, drawn = viewBudgets, 60
	}
	for _, id := range locks {
		for _, budget := range budgets {
			wrong, missed, err := explore.Closed(t.Context(), viewModel(t, id, budget), budget != "", 3_000, drawn)
			if err != nil || missed != nil || wrong != "" && !(hunting() && wrong == "there is none") {
				t.Errorf("%s, %s: %q, and missed are %q: %v", id, budget, wrong, missed, err)
			}
		}
	}
}
