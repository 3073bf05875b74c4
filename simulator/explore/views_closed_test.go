package explore_test

import (
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestViewsClosed: views are closed. Without one of them they are not, nor do they prove what they come to.
func TestViewsClosed(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks, budgets := []string{"setnx", "token", "watch-multi"}, []string{"crash=1"}
	if hunting() {
		locks = append(locks, "setnx-expire", "watchdog", "lock-delay", "watch-del", "thread-id", "set-ifeq")
		budgets = viewBudgets
	}
	for _, id := range locks {
		for _, budget := range budgets {
			wrong, missed, err := explore.Closed(t.Context(), viewModel(t, id, budget), budget != "", 1_500, 6)
			if err != nil || missed != nil || wrong != "" && !(hunting() && wrong == "there is none") {
				t.Errorf("%s, %s: %q, and missed are %q: %v", id, budget, wrong, missed, err)
			}
		}
	}
}
