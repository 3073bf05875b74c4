package study_test

import (
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
)

// TestMain leaves the race detector the tests with goroutines of their own.
func TestMain(m *testing.M) {
	effort.Watch(m, "TestFindParsGivenUp|TestSweepIsDeterministic|TestMatrixCounts|TestMatrixCancelled")
}

// exploring is a search that ends without an error.
func exploring(t testing.TB, entry lock.Entry, b search.Bounds) *search.Search {
	t.Helper()
	return racetest.Must(search.Explore(t.Context(), entry, b))(t)
}

// locks are those of these names.
func locks(t testing.TB, ids ...string) (entries []lock.Entry) {
	t.Helper()
	for _, id := range ids {
		entries = append(entries, racetest.Lock(t, id))
	}
	return entries
}
