// Package samples compares what reports write with files, and plays runs for them.
package samples

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locklab/algorithms"
	"locklab/reports/layout"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

var update = flag.Bool("update", false, "rewrite the files in testdata; read the difference before you commit it")

// Golden compares what write produces with testdata/name of the package under test.
func Golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	got := Written(t, write)
	if diff := cmp.Diff(string(Wanted(t, name, []byte(got))), got); diff != "" {
		t.Errorf("testdata/%s (-want +got; -update rewrites it):\n%s", name, diff)
	}
}

// Wanted returns the content of testdata/name of the package under test; with -update it is what the test has got.
func Wanted(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test -update writes it", err)
	}
	return want
}

// Written returns the output of write.
func Written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// CheckWidth fails if a line of what write produces is wider than width.
func CheckWidth(t *testing.T, what string, width int, write func(io.Writer) error) {
	t.Helper()
	for line := range strings.Lines(Written(t, write)) {
		if n := layout.Width(strings.TrimSuffix(line, "\n")); n > width {
			t.Fatalf("%s at width %d: %d cells in %q", what, width, n, line)
		}
	}
}

// Played is the run of a lock in a race.
func Played(t *testing.T, lock, raceID string) *race.Outcome {
	t.Helper()
	e, _ := algorithms.ByName(lock)
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		t.Fatal(err)
	}
	o, err := race.Play(e, sc, sc.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
