package algorithms

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is shown as the lock's code is the file that was compiled, and there is one
// for every file but the tests.
func TestSource(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, file := range files {
		want := ""
		if !strings.HasSuffix(file, "_test.go") {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want = string(b)
		}
		if got := Source(file); got != want {
			t.Errorf("Source(%q) has %d bytes, want %d", file, len(got), len(want))
		}
	}
	if got := Source("no-such.go"); got != "" {
		t.Errorf("a file that is not there has a text: %q", got)
	}
}
