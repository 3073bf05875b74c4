package algorithms

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sources has every file except the tests, exactly as it was compiled.
func TestSources(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, file := range files {
		got, err := fs.ReadFile(Sources(), file)
		if strings.HasSuffix(file, "_test.go") {
			if err == nil {
				t.Errorf("%s is a test, and is in Sources", file)
			}
			continue
		}
		want, _ := os.ReadFile(file)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s has %d bytes in Sources, want %d (%v)", file, len(got), len(want), err)
		}
	}
}
