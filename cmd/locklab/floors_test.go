package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors are the packages from top to bottom. A package imports only packages of lower
// floors; packages of one floor do not know each other.
//
//	cmd/locklab, page              the commands | writes the page to play on, and is its engine
//	reports/lessons, page, board   explanations, which play runs | the report | the page to play on
//	reports/chart                  pictures of what a study has found
//	scenarios/reality, checked     lab and real servers side by side | locks that are not in the list, by their tests
//	scenarios/contract             what each lock must come to
//	scenarios/locktest             tests of locks that are not in the list
//	scenarios/play                 runs that a person schedules: levels, quiz
//	scenarios/cost                 how often locks break, what they cost, ways to wait
//	scenarios/study                what is computed from many runs and searches
//	scenarios/internal/dense       random runs against proofs: tests only
//	scenarios/fleet                work on a queue, for many machines
//	scenarios/share                work divided among machines
//	scenarios                      the races
//	scenarios/race                 how a race is played
//	simulator/promela              the same question to SPIN
//	simulator/explore              exhaustive search
//	simulator/checkpoint           the file of a search that goes on
//	simulator/live                 a trace on real servers
//	faults, simulator/schedule     what goes wrong | timed runs and replay
//	simulator/client               what users of a lock do
//	algorithms                     the list of the locks
//	algorithms/redis, zookeeper    the locks
//	algorithms/lock                what an author of a lock imports
//	reports/motion                 a run as a timeline that moves
//	reports                        views of finished runs
//	simulator, simulator/verdict   the world | the judges
//	simulator/redisnode, zookeeper kinds of servers as values
//	simulator/memo                 what servers number, rename, check and save alike
//	simulator/node                 the contract between a world and a server
//	simulator/bubble               code as it is, in bubbles of testing/synctest
//	simulator/process              code on coroutines
//	simulator/history              what happened
//	simulator/internal/jute        how ZooKeeper writes its messages
//	reports/text                   the sentences
var floors = [][]string{
	{"cmd/locklab", "cmd/page"},
	{"reports/lessons", "reports/page", "reports/board"},
	{"scenarios/reality", "scenarios/checked"},
	{"scenarios/contract", "scenarios/locktest", "scenarios/play", "reports/chart"},
	{"scenarios/cost"},
	{"scenarios/study", "scenarios/internal/racetest", "scenarios/internal/dense"},
	{"scenarios/fleet"},
	{"scenarios/share"},
	{"scenarios"},
	{"scenarios/race"},
	{"reports/ci", "reports/motion"},
	{"reports/internal/samples"},
	{"reports"},
	{"simulator/promela"},
	{"simulator/explore"},
	{"simulator/checkpoint"},
	{"simulator/live"},
	{"faults", "simulator/schedule"},
	{"simulator/client", "simulator/verdict/verdicttest"},
	{"algorithms"},
	{"algorithms/redis", "algorithms/zookeeper"},
	{"algorithms/lock"},
	{"simulator", "simulator/verdict"},
	{"simulator/redisnode", "simulator/zookeeper"},
	{"simulator/memo"},
	{"simulator/node"},
	{"simulator/bubble"},
	{"simulator/process"},
	{"simulator/history", "simulator/realserver/servertest"},
	{"simulator/internal/clock", "simulator/internal/codec", "simulator/internal/table", "simulator/realserver"},
	{"simulator/internal/jute", "simulator/resp"},
	{"reports/text"},
	{"reports/layout", "simulator/effort", "simulator/i18n"},
}

// strangers are packages that must not know each other although the floors allow it.
var strangers = map[string][]string{
	"reports":              {"scenarios", "faults", "simulator", "simulator/schedule", "simulator/explore", "simulator/client"}, // they show finished runs
	"reports/page":         {"scenarios", "faults", "simulator", "simulator/schedule", "simulator/explore", "simulator/client"},
	"reports/motion":       {"scenarios", "faults", "simulator", "simulator/schedule", "simulator/explore", "simulator/client"},
	"reports/board":        {"scenarios", "faults", "simulator", "algorithms", "reports/text"},                                       // it asks an engine
	"reports/chart":        {"scenarios/race", "faults", "simulator", "simulator/schedule", "simulator/explore", "simulator/client"}, // they draw results of studies
	"simulator":            {"algorithms"},                                                                                           // it would treat locks differently
	"simulator/explore":    {"algorithms/redis", "algorithms/zookeeper", "scenarios"},
	"simulator/promela":    {"simulator/verdict/verdicttest", "simulator/schedule"}, // it shares no rules with the lab
	"algorithms/lock":      {"simulator", "faults", "scenarios", "reports"},         // a lock must not notice that it is tested
	"algorithms/redis":     {"simulator", "faults", "scenarios", "reports"},
	"algorithms/zookeeper": {"simulator", "faults", "scenarios", "reports"},
}

func floorOf(dir string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, dir) })
}

func TestImportsGoDown(t *testing.T) {
	for _, floor := range floors {
		for _, dir := range floor {
			for _, path := range imports(t, dir) {
				switch from, to := floorOf(dir), floorOf(path); {
				case to < 0:
					t.Errorf("%s imports %s, which has no floor: add it", dir, path)
				case to <= from:
					t.Errorf("%s imports %s, which is not on a lower floor", dir, path)
				}
			}
		}
	}
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

// Every folder with code has a floor.
func TestAllPackagesHaveAFloor(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "out") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); path != root && err == nil {
			return filepath.SkipDir // a module of its own
		}
		if _, err := build.ImportDir(path, 0); err == nil {
			rel, _ := filepath.Rel(root, path)
			if floorOf(filepath.ToSlash(rel)) < 0 {
				t.Errorf("%s has no floor: add it", rel)
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
