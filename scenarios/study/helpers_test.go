package study_test

import (
	"flag"
	"os"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
)

// TestMain leaves the race detector, which makes all ten times as slow, the tests with goroutines of their own.
func TestMain(m *testing.M) {
	flag.Parse()
	if run := flag.Lookup("test.run"); effort.Watched && run.Value.String() == "" {
		run.Value.Set("^(TestFindParsGivenUp|TestSweepIsDeterministic|TestMatrixCounts|TestMatrixCancelled|TestStoppedMatrix)$")
	}
	os.Exit(m.Run())
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
