// Package effort decides how much a test does. Only tests import it.
package effort

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Exhaustive reports whether tests do all that they can do, which takes half an hour:
// LOCKLAB_EXHAUSTIVE=1 is set, as make hunt does. Otherwise they leave out the largest searches.
func Exhaustive() bool { return os.Getenv("LOCKLAB_EXHAUSTIVE") != "" }

// Pushed reports whether tests do what each push is checked by: CI=true is set, as CI does, or they are Exhaustive.
func Pushed() bool { return Exhaustive() || os.Getenv("CI") == "true" }

// OnlyPushed skips a test, for a reason, unless a push is checked.
func OnlyPushed(t testing.TB, reason string) {
	t.Helper()
	if !Pushed() {
		t.Skipf("%s: set CI=true", reason)
	}
}

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

// Cases sets how many random cases rapid checks from here on, many where tests are exhaustive: the same ones in every
// run, so that a test fails always or never. The test is not parallel to others: the setting is global.
func Cases(t testing.TB, few, many int) {
	t.Helper()
	if Exhaustive() {
		few = many
	}
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(few), "rapid.seed": "16", "rapid.nofailfile": "true", "rapid.shrinktime": "20s",
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// Unwatched skips a test under the race detector, which makes it ten times as slow, and gives the reason why nothing is
// lost: it has one goroutine, or other tests show the same concurrency. Without the race detector it runs.
func Unwatched(t testing.TB, reason string) {
	t.Helper()
	if Watched {
		t.Skipf("the race detector need not see it: %s", reason)
	}
}

// Watch runs the tests of a package and ends the program. Under the race detector, which makes all ten times as slow,
// it runs only those whose names match, which have goroutines of their own, unless -run names others.
func Watch(m *testing.M, tests string) {
	flag.Parse()
	if run := flag.Lookup("test.run"); Watched && run.Value.String() == "" {
		_ = run.Value.Set("^(" + tests + ")$")
	}
	os.Exit(m.Run())
}
