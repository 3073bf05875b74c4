package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// contributing has the drawing of the packages.
const contributing = ".github/CONTRIBUTING.md"

// drawing reads the drawing of packages: the number of the row of each package, from the top.
// A row is the names of packages, two blanks, and words. A line with a folder alone begins
// its rows, which are indented; "." is the folder's own package.
func drawing(t *testing.T) map[string]int {
	t.Helper()
	_, rest, found := strings.Cut(contentOf(t, "..", "..", contributing), "```\ncmd/locklab ")
	block, _, closed := strings.Cut("cmd/locklab "+rest, "```")
	if !found || !closed {
		t.Fatalf("%s has no drawing that begins with cmd/locklab", contributing)
	}
	floors, folder := map[string]int{}, ""
	for row, line := range strings.Split(strings.TrimSpace(block), "\n") {
		names, indented := strings.CutPrefix(line, "  ")
		names, _, _ = strings.Cut(names, "  ")
		if !indented && strings.HasSuffix(names, "/") {
			folder = strings.TrimSuffix(names, "/")
			continue
		}
		for _, name := range strings.Fields(names) {
			if indented {
				name = filepath.ToSlash(filepath.Join(folder, name))
			}
			if _, twice := floors[name]; twice {
				t.Errorf("%s draws %s twice", contributing, name)
			}
			floors[name] = row
		}
	}
	return floors
}

// A package imports only packages of lower rows; packages of one row do not know each other.
func TestImportsGoDown(t *testing.T) {
	floors := drawing(t)
	for dir, from := range floors {
		for _, path := range imports(t, dir) {
			switch to, ok := floors[path]; {
			case !ok:
				t.Errorf("%s imports %s, which is not in the drawing of %s: add it", dir, path, contributing)
			case to <= from:
				t.Errorf("%s imports %s, which is no lower floor", dir, path)
			}
		}
	}
}

// strangers are packages that must not know each other although the drawing allows it.
var strangers = map[string][]string{
	// they show finished runs
	"reports": {"scenarios", "faults", "simulator", "simulator/schedule", "simulator/explore",
		"simulator/client"},
	"reports/page": {"scenarios", "faults", "simulator", "simulator/schedule", "simulator/explore",
		"simulator/client"},
	"reports/motion": {"scenarios", "faults", "simulator", "simulator/schedule", "simulator/explore",
		"simulator/client"},
	// they draw results of studies
	"reports/chart": {"scenarios/race", "faults", "simulator", "simulator/schedule", "simulator/explore",
		"simulator/client"},
	"simulator":         {"algorithms"}, // it would treat locks differently
	"simulator/explore": {"algorithms/redis", "algorithms/zookeeper", "scenarios"},
}

func TestStrangers(t *testing.T) {
	for dir, others := range strangers {
		for _, path := range imports(t, dir) {
			for _, other := range others {
				if path == other || strings.HasPrefix(path, other+"/") && other != "simulator" {
					t.Errorf("%s imports %s", dir, path)
				}
			}
		}
	}
}

// Every folder with code is drawn, and every drawn package exists.
func TestAllPackagesAreDrawn(t *testing.T) {
	floors, modules := drawing(t), []string{}
	for _, dir := range foldersBelow(t) {
		folder := filepath.Join("..", "..", dir)
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil && dir != "." {
			modules = append(modules, dir+"/") // of their own
		}
		if slices.ContainsFunc(modules, func(m string) bool { return strings.HasPrefix(dir+"/", m) }) {
			continue
		}
		if _, drawn := floors[dir]; !drawn {
			if _, err := build.ImportDir(folder, 0); err == nil {
				t.Errorf("%s is not in the drawing of %s: add it", dir, contributing)
			}
		}
	}
}

// imports lists our own packages that the code in dir imports, tests aside.
func imports(t *testing.T, dir string) (own []string) {
	t.Helper()
	p, err := build.ImportDir(filepath.Join("..", "..", dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		if rest, ok := strings.CutPrefix(path, modulePath()+"/"); ok {
			own = append(own, rest)
		}
	}
	return own
}
