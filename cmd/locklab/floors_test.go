package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors is the drawing of the house. Imports go down only, and neighbours on
// a floor do not know each other.
//
//	4  cmd/locklab                             the commands, thin
//	3  scenarios          reports              stories and the contract | pictures and pages
//	                      reports/lessons      what is told of locks, races and terms
//	2  faults             simulator/schedule   what goes wrong | ways to pick what is next
//	1  simulator          simulator/verdict    the world | the judges
//	0  algorithms         simulator/history    the locks | what happened
//	                      simulator/zookeeper  a ZooKeeper's memory
var floors = map[string]int{
	"cmd/locklab":                     4,
	"scenarios":                       3,
	"reports":                         3,
	"reports/lessons":                 3,
	"faults":                          2,
	"simulator/schedule":              2,
	"simulator/explore":               2,
	"simulator/verdict/secondopinion": 2, // for tests only
	"simulator":                       1,
	"simulator/verdict":               1,
	"algorithms":                      0,
	"simulator/history":               0,
	"simulator/plain":                 0,
	"simulator/zookeeper":             0,
	"simulator/realserver":            0, // for tests only
}

func TestFloors(t *testing.T) {
	for dir, floor := range floors {
		for _, path := range imports(t, dir) {
			below, ours := floors[path]
			if !ours {
				t.Errorf("%s imports %s, which has no floor: draw it", dir, path)
			} else if below >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports go down only", dir, floor, path, below)
			}
		}
	}
}

// Whoever knows the locks must not be the world, and the other way round: a
// strategy that could see the lab could be written for it.
func TestStrangers(t *testing.T) {
	if slices.Contains(imports(t, "simulator"), "algorithms") {
		t.Error("simulator knows the locks")
	}
	if got := imports(t, "algorithms"); len(got) > 0 {
		t.Errorf("algorithms imports %v: a lock knows Redis or ZooKeeper, a clock and tokens", got)
	}
	for _, dir := range []string{"simulator/history", "simulator/zookeeper"} {
		if got := imports(t, dir); len(got) > 0 {
			t.Errorf("%s imports %v", dir, got)
		}
	}
	if slices.Contains(imports(t, "reports"), "simulator") {
		t.Error("reports can play runs: they are to be made of what has been played")
	}
}

// Every folder with code has a floor.
func TestEverybodyHasAFloor(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "out") {
			return filepath.SkipDir
		}
		if _, err := build.ImportDir(path, 0); err == nil {
			rel, _ := filepath.Rel(root, path)
			if _, ok := floors[filepath.ToSlash(rel)]; !ok {
				t.Errorf("%s has no floor: draw it", rel)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
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
		if rest, ok := strings.CutPrefix(path, "locklab/"); ok {
			own = append(own, rest)
		}
	}
	return own
}
