package effort_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWatchedInstead: a test that leaves its concurrency to others, which its reason names, leaves it to
// tests that the race detector sees.
func TestWatchedInstead(t *testing.T) {
	reasons := regexp.MustCompile(`(?:effort\.Unwatched\(\w+, |const watched\w+ = )("[^"]*")`)
	test := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	bodies, named := map[string][]string{}, map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, f := range strings.Split(string(source), "\nfunc ")[1:] {
			name, _, _ := strings.Cut(f, "(")
			body, _, _ := strings.Cut(f, "\n}\n")
			bodies[name] = append(bodies[name], body)
		}
		for _, m := range reasons.FindAllStringSubmatch(string(source), -1) {
			for _, name := range test.FindAllString(m[1], -1) {
				named[name] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range named {
		watched := false
		for _, body := range bodies[name] {
			watched = watched || !strings.Contains(body, "effort.Unwatched(")
		}
		if !watched {
			t.Errorf("the race detector does not see %s, to which other tests leave their concurrency", name)
		}
	}
	if len(named) == 0 {
		t.Error("no reason names a test")
	}
}
