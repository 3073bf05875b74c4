// Package leasetest is shared by the tests of the locks: it fails a test where a step does not come out as it must.
package leasetest

import (
	"errors"
	"fmt"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
)

// Must returns a value, and fails the test on an error: Must(f())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Release fails the test unless the release of a lease returns want.
func Release(t testing.TB, l lock.Lease, want error) {
	t.Helper()
	if err := l.Release(t.Context()); !errors.Is(err, want) {
		t.Fatalf("Release: %v, want %v", err, want)
	}
}

// Entry returns the lock with that ID.
func Entry(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, ok := algorithms.ByName(id)
	if !ok {
		t.Fatalf("no strategy %q", id)
	}
	return e
}

// Tokens makes, …: unique as long as the names are.
type Tokens struct {
	Name string
	n    int
}

// Token returns the next token.
func (c *Tokens) Token() string {
	c.n++
	return fmt.Sprintf("%s-%d", c.Name, c.n)
}
