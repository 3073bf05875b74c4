package algorithms

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is shown as the lock's code is the file that was compiled, and there is one
// for every file but the tests.
func TestSources(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, file := range files {
		got, err := fs.ReadFile(Sources(), file)
		if strings.HasSuffix(file, "_test.go") {
			if err == nil {
				t.Errorf("%s is a test, and is shown", file)
			}
			continue
		}
		want, _ := os.ReadFile(file)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is shown with %d bytes, want %d (%v)", file, len(got), len(want), err)
		}
	}
}
