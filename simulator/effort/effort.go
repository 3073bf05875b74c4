// Package effort decides how much a test does. Only tests import it.
package effort

import (
	"os"
	"testing"
)

// Exhaustive reports whether tests do all that they can do, which takes minutes:
// LOCKLAB_EXHAUSTIVE=1 is set, as CI and make check do. Otherwise they leave out the
// largest searches.
func Exhaustive() bool { return os.Getenv("LOCKLAB_EXHAUSTIVE") != "" }

// OnlyExhaustive skips a test, for a reason, unless tests are exhaustive.
func OnlyExhaustive(t testing.TB, reason string) {
	t.Helper()
	if !Exhaustive() {
		t.Skipf("%s: set LOCKLAB_EXHAUSTIVE=1", reason)
	}
}

// Need skips a test if there is an err, which names what the machine lacks for it. Under CI=true it fails the test.
func Need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// Unwatched skips a test under the race detector, which makes it ten times as slow, and
// gives the reason why nothing is lost: it has one goroutine, or other tests show the same
// concurrency. Without the race detector it runs.
func Unwatched(t testing.TB, reason string) {
	t.Helper()
	if Watched {
		t.Skipf("the race detector need not see it: %s", reason)
	}
}
