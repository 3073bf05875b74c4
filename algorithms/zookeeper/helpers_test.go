package zookeeper_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
)

// epoch is the time at which every clock of a test starts.
var epoch = time.Date(2014, time.May, 16, 12, 0, 0, 0, time.UTC)

// countedTokens makes, …: unique as long as the names are.
type countedTokens struct {
	name string
	n    int
}

func (c *countedTokens) Token() string {
	c.n++
	return fmt.Sprintf("%s-%d", c.name, c.n)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// mustRelease fails the test unless Release answers want.
func mustRelease(t testing.TB, l lock.Lease, want error) {
	t.Helper()
	if err := l.Release(t.Context()); !errors.Is(err, want) {
		t.Fatalf("Release: %v, want %v", err, want)
	}
}

func entry(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, ok := algorithms.ByName(id)
	if !ok {
		t.Fatalf("no strategy %q", id)
	}
	return e
}
