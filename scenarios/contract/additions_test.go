package contract_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
)

// The additions: each is one file and one line in a list.
var additions = []struct {
	list, before, line string // the file with the list, and what goes in front of its first item
	file, source       string
}{
	{"algorithms/redis/redis.go", "return []lock.Entry{\n", "addedLock,\n", "algorithms/redis/added.go", `package redis

import "locklab/algorithms/lock"

var addedLock = func() lock.Entry {
	e := tokenLock
	e.ID, e.Article, e.Also = "added-lock", "", nil
	return e
}()
`},
	{"scenarios/scenarios.go", "return []race.Scenario{\n", "addedRace,\n", "scenarios/added.go", `package scenarios

import "locklab/scenarios/race"

var addedRace = func() race.Scenario {
	sc := race.Calm
	sc.ID = "added-race"
	return sc
}()
`},
	{"faults/faults.go", "return []Entry{\n", "{Fault: added{}},\n", "faults/added.go", `package faults

import "locklab/simulator"

// added kills a client, as Crash does.
type added struct{}

const verbAdded = simulator.FaultVerb + 40

func (added) Name() string         { return "added-fault" }
func (added) Verb() simulator.Verb { return verbAdded }

func (added) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	n := len(buf)
	buf = Crash{}.Choices(m, buf)
	for i := range buf[n:] {
		buf[n+i].Verb = verbAdded
	}
	return buf
}

func (added) Inject(m simulator.FaultContext, c simulator.Choice) string { return m.Crash(c.Client) }
`},
}

// addedLines are the lines of the contract that the additions need: the profile of the
// lock, and the cells that are not derived from it.
func addedLines(t *testing.T) string {
	token := racetest.Lock(t, "token")
	profile, _ := contract.ProfileOf(token)
	text := "\n[locks]\n" + profileLine("added-lock", profile) + "\n"
	row := func(id string, c contract.Expectation) string {
		return fmt.Sprintf("%s %s | %s\n", id, contract.FormatVerdicts(c.Expected), c.Why)
	}
	for _, sc := range scenarios.All() {
		if c := contract.CellOf(token, sc); c.Origin == contract.Written {
			text += "[" + sc.ID + "]\n" + row("added-lock", c)
		}
	}
	text += "[added-race]\n"
	for _, e := range algorithms.All() {
		if c := contract.CellOf(e, race.Calm); c.Origin == contract.Written {
			text += row(e.ID, c)
		}
	}
	return text + "[search budget=added-fault=1]\ntoken HOLDS\nsetnx DEADLOCK@1\n"
}

// TestAdditions: to add a lock, a race or a fault takes one file, one line in a list, and
// the lines of the contract that are not derived. The tests of the contract then pass,
// and the golden file of the derived cells does not change. The compiler gets the changed
// files as an overlay, so the source tree does not change.
func TestAdditions(t *testing.T) {
	if !racetest.Exhaustive() {
		t.Skip("it compiles nearly everything once more: set LOCKLAB_EXHAUSTIVE=1")
	}
	t.Parallel()
	tmp, replace := t.TempDir(), map[string]string{}
	show := func(file, text string) {
		at := filepath.Join(tmp, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, file)] = at
	}
	read := func(file string) string {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, a := range additions {
		old := read(a.list)
		list := strings.Replace(old, a.before, a.before+a.line, 1)
		if list == old {
			t.Fatalf("%s has no %q any more: tell this test where its list begins", a.list, a.before)
		}
		show(a.list, list)
		show(a.file, a.source)
	}
	show("scenarios/contract/contract.txt", read("scenarios/contract/contract.txt")+addedLines(t))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []string{
		"^TestContractIsComplete$", "^TestProfiles$", "^TestDerivedCells$", "^TestNames$", "^TestProofsCoverEverything$",
		"^TestContract$/^(added-lock|token)$", "^TestContract$/^[a-z-]*$/^added-race$", "^TestProofs$/^(token|setnx)$/added-fault",
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-vet=off", "-overlay", file, "-run", strings.Join(tests, "|"), ".").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"TestContract/added-lock/gc-pause", "TestContract/added-lock/added-race", "TestContract/mutex/added-race", "TestProofs/setnx/clients=2,attempts=2,budget=added-fault=1"} {
		if !strings.Contains(string(out), "--- PASS: "+name+" ") {
			t.Errorf("%s was not run, or does not pass", name)
		}
	}
}
