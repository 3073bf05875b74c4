package contract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/history"
)

// An addition is one file, and one line in a list.
type addition struct {
	file, source   string
	list, at, line string // the file with the list, and the text in it behind which the line goes
}

var addedLock = addition{
	file: "algorithms/redis/added.go",
	source: `package redis

import "locklab/algorithms/lock"

var addedLock = func() lock.Entry {
	e := tokenLock
	e.ID, e.Article, e.Also, e.Family = "added-lock", "", nil, lock.Stamps // few searches beside it
	return e
}()
`,
	list: "algorithms/redis/redis.go", at: "return []lock.Entry{\n", line: "addedLock,\n",
}

// addedRace has the added fault, in a size that nobody notices.
var addedRace = addition{
	file: "scenarios/added.go",
	source: `package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

var addedRace = func() race.Race {
	sc := race.Calm
	sc.ID, sc.Budget = "added-race", race.FixedBudget("migrate=1")
	sc.Script = func(race.Settings, int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Enter, 1),
			Do: race.Inject(time.Millisecond, faults.MigrateOf(1, time.Millisecond))}}
	}
	return sc
}()
`,
	list: "scenarios/scenarios.go", at: "return []race.Race{\n", line: "addedRace,\n",
}

// addedFault is of a new kind: it has an event and sentences of its own.
var addedFault = addition{
	file: "faults/added.go",
	source: fmt.Sprintf(`package faults

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/node"
)

const verbMigrate = simulator.FaultVerb + %d

// Migrate moves a client's virtual machine to another host: it stands still meanwhile.
var Migrate = &simulator.Fault{
	Name: "migrate", Verb: verbMigrate,
	// Choices offers the longest that the budget allows; a budget without a length offers
	// none.
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for c := range f.Clients {
			if c.Running() && f.Max() > 0 {
				buf = append(buf, MigrateOf(c.ID, f.Max()))
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		if c.D <= 0 {
			return node.Refuse("refused.delay.length")
		}
		f.Record(history.Event{Client: int(c.Client), D: c.D})
		return f.Client(c.Client).Pause(c.D, 0, false)
	},
}

// MigrateOf is the choice that moves client c, from 1, for d of true time.
func MigrateOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbMigrate, Client: int8(c), D: d}
}

`, len(faults.All())),
	list: "faults/faults.go", at: "\n\t\tServerList,\n", line: "\t\tMigrate,\n",
}

const migrateTexts = `[en]
title.fault.migrate = a virtual machine moves to another host, and stands still meanwhile
lane.migrate = MOVES {span}
fault.migrate = The machine of {client} moves to another host within {time}.
painted.migrate = MOVES

[zh]
title.fault.migrate = 虚拟机迁移到另一台宿主机，其间停顿
lane.migrate = 迁移 {span}
fault.migrate = {client} 所在的虚拟机迁移到另一台宿主机，用了 {time}。
painted.migrate = 迁移
`

// A source is the source tree with other files in some places. The compiler gets these as
// an overlay, so the tree itself does not change.
type source struct {
	*testing.T
	root, tmp string
	replace   map[string]string
}

func newSource(t *testing.T, additions ...addition) *source {
	t.Helper()
	effort.OnlyExhaustive(t, "it compiles nearly everything once more")
	t.Parallel()
	root := racetest.Must(filepath.Abs("../.."))(t)
	s := &source{t, root, t.TempDir(), map[string]string{}}
	for _, a := range additions {
		old := s.read(a.list)
		list := strings.Replace(old, a.at, a.at+a.line, 1)
		if list == old {
			t.Fatalf("%s has no %q any more: tell this test where its list is", a.list, a.at)
		}
		s.show(a.list, list)
		s.show(a.file, a.source)
	}
	return s
}

func (s *source) read(file string) string {
	text := racetest.Must(os.ReadFile(filepath.Join(s.root, file)))(s)
	return string(text)
}

// show puts text in the place of a file.
func (s *source) show(file, text string) {
	at := filepath.Join(s.tmp, strings.ReplaceAll(file, "/", "_"))
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
	s.replace[filepath.Join(s.root, file)] = at
}

// goCommand runs go test or go build on the source.
func (s *source) goCommand(verb string, args ...string) (out string, err error) {
	overlay := racetest.Must(json.Marshal(map[string]any{"Replace": s.replace}))(s)
	file := filepath.Join(s.tmp, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(s.Context(), "go", append([]string{verb, "-ldflags=-w", "-overlay", file}, args...)...)
	c.Dir = s.root
	text, err := c.CombinedOutput()
	return string(text), err
}

// passes runs tests of a package, and checks that the named ones are among them.
func (s *source) passes(dir, tests string, names ...string) {
	s.Helper()
	out, err := s.goCommand("test", "-count=1", "-v", "-vet=off", "-run", tests, dir)
	if err != nil {
		s.Errorf("%v\n%s", err, out)
	}
	for _, name := range names {
		if !strings.Contains(out, "--- PASS: "+name+" ") {
			s.Errorf("%s was not run, or does not pass", name)
		}
	}
}

// A program is one that was built from a source. It runs in a folder of its own.
type program struct {
	*testing.T
	path, dir string
}

func (s *source) build() program {
	s.Helper()
	p := program{s.T, filepath.Join(s.tmp, "locklab"), s.TempDir()}
	if out, err := s.goCommand("build", "-buildvcs=false", "-o", p.path, "./cmd/locklab"); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	return p
}

// run returns what a command prints, errors included, and its exit status.
func (p program) run(command string) (out string, status int) {
	p.Helper()
	c := exec.CommandContext(context.WithoutCancel(p.Context()), p.path, strings.Fields(command)...)
	c.Dir, c.Env = p.dir, append(os.Environ(), "LANG=C", "LC_ALL=", "LC_MESSAGES=")
	text, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// says checks that a command succeeds and prints texts that match the patterns.
func (p program) says(command string, patterns ...string) (out string) {
	p.Helper()
	out, status := p.run(command)
	if status != 0 {
		p.Errorf("%s: exit status %d", command, status)
	}
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).MatchString(out) {
			p.Errorf("%s does not say %s:\n%.3000s", command, pattern, out)
		}
	}
	return out
}

// file returns what a command has written.
func (p program) file(name string) string {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Error(err)
	}
	return string(text)
}

// The lines of the contract that the additions need: the profile of the lock and the cells
// that are not derived from it, those of the race, and a search with the fault.
func lockLines(t *testing.T) string {
	token := racetest.Lock(t, "token")
	profile, _ := contract.ProfileOf(token)
	text := "\n[locks]\n" + profileLine("added-lock", profile) + "\n"
	for _, sc := range scenarios.All() {
		if c := contract.CellOf(token, sc); c.Expected != nil && !c.Derived {
			text += "[" + sc.ID + "]\n" + row("added-lock", c)
		}
	}
	return text
}

func raceLines() string {
	text := "[added-race]\n"
	for _, e := range algorithms.All() {
		if c := contract.CellOf(e, race.Calm); c.Expected != nil && !c.Derived {
			text += row(e.ID, c)
		}
	}
	return text
}

func row(id string, c contract.Expectation) string {
	return fmt.Sprintf("%s %s | %s\n", id, contract.FormatVerdicts(c.Expected, false), c.Why)
}

const faultLines = "[search budget=migrate=1@10s]\ntoken OVERLAP@1 STALE-WRITE@1\nsetnx ORPHAN@1 DEADLOCK@1\n"

// TestAdditions: to add a lock, a race or a fault takes one file, for a fault one more with its
// texts, one line in a list, and the lines of the contract that are not derived. The tests of the contract then pass,
// the golden file of the derived cells does not change, and commands show the fault's own
// sentences. To add a language takes one folder, here with one file, which has the texts of
// the faults too. Before the lock has its lines, it runs in every command, and each says that the
// contract does not cover it: its results are neither expected nor unexpected.
func TestAdditions(t *testing.T) {
	s := newSource(t, addedLock, addedRace, addedFault)
	s.show("reports/text/faults/migrate.txt", migrateTexts)
	s.show("reports/text/xx/all.txt", otherLanguage()+migrateElsewhere)
	lines := s.read("scenarios/contract/contract.txt") + raceLines() + faultLines
	s.show("scenarios/contract/contract.txt", lines)
	p := s.build()
	t.Run("uncontracted", func(t *testing.T) { p.testUncontracted(t) })
	s.show("scenarios/contract/contract.txt", lines+lockLines(t))
	s.passes("./scenarios/contract", strings.Join([]string{
		"^TestContractIsComplete$", "^TestProfiles$", "^TestDerivedCells$", "^TestNames$",
		"^TestProofsCoverEverything$", "^TestContract$/^(added-lock|token)$", "^TestContract$/^[a-z-]*$/^added-race$",
	}, "|"), "TestContract/added-lock/gc-pause", "TestContract/added-lock/added-race", "TestContract/mutex/added-race")
	s.passes("./faults", ".", "TestVerbs", "TestTitles", "TestEveryFault")
	s.passes("./reports/text", ".", "TestLanguagesCorrespond", "TestTextsAreUsed", "TestTextsHaveOneWidth")

	p.says("list faults --lang both --width 200",
		"^ +migrate +a virtual machine moves to another host, and stands still meanwhile / .* / 虚拟机迁移到另一台宿主机，其间停顿$")
	p.says("run token added-race --color always", "\x1b\\[33mMOVES\x1b\\[0m 1ms, \x1b\\[33mPAUSE")
	p.says("run token added-race --view redis", "^# .* ms: c1: MOVES 1ms$")
	p.says("run token added-race --view story --lang both", "The machine of c1 moves to another host within 1 ms\\.",
		"c1 所在的虚拟机迁移到另一台宿主机，用了 1 毫秒。")
	p.says("explore token --budget migrate=1@10s --lang zh", "OVERLAP", "，迁移 10s")

	var played struct {
		Trace  string
		Events []history.Event
	}
	said := p.says("run token added-race --json", `"kind": "fault",\n +"fault": "migrate"`)
	if err := reports.ReadJSON([]byte(said), &played, "run"); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(played.Events, func(e history.Event) bool { return e.Kind == history.Fault })
	if i < 0 || played.Events[i].Name() != "migrate" || played.Events[i+1].Kind != history.Pause {
		t.Errorf("the JSON has no migration before a pause: %+v", played.Events)
	}
	p.says("run "+played.Trace+" --lang zh", " 迁移 1ms，停顿 1ms")

	p.says("run token gc-pause --lang xx --view story", `^ *[0-9.]+ ms  \[xx\] .*`,
		"c1 is paused for 12.5 s and does not notice it.")
	p.says("explain overlap --lang xx", `\[xx\]`)
	p.says("run token gc-pause --lang both --view story", "c1 停顿 12.5 秒，自己毫不知情。")
	p.says("--help --lang xx", "en, xx, zh or both")
	if out, status := p.run("demo --lang yy"); status != 2 ||
		!strings.Contains(out, `--lang "yy": write en, xx, zh or both`) {
		t.Errorf("exit status %d: %s", status, out)
	}
}

const migrateElsewhere = `title.fault.migrate = a virtual machine moves
lane.migrate = MOVES {span}
fault.migrate = [xx] The machine of {client} moves within {time}.
painted.migrate = MOVES
`

// otherLanguage is a catalogue like the English one, in which a mark stands before each
// sentence.
func otherLanguage() string {
	var b bytes.Buffer
	english := text.In("en")
	for _, key := range english.Keys("") {
		said := english.Get(key)
		if strings.HasSuffix(said, ".") {
			said = "[xx] " + said
		}
		fmt.Fprintf(&b, "%s = %s\n", key, said)
	}
	return b.String()
}

// TestAddedLock: a lock with its lines in the contract changes the golden file of the list, and no other.
func TestAddedLock(t *testing.T) {
	s := newSource(t, addedLock)
	s.show("scenarios/contract/contract.txt", s.read("scenarios/contract/contract.txt")+lockLines(t))
	out, _ := s.goCommand("test", "-count=1", "-v", "-vet=off", "-run",
		"^Test(Outputs|Verify|Charts|Transcripts|README)$", "./cmd/locklab", "./scenarios")
	results := map[string][]string{}
	for _, m := range regexp.MustCompile(`--- (PASS|FAIL): (Test\S+) `).FindAllStringSubmatch(out, -1) {
		results[m[1]] = append(results[m[1]], m[2])
	}
	slices.Sort(results["FAIL"])
	if want := []string{"TestOutputs", "TestOutputs/list"}; !slices.Equal(results["FAIL"], want) {
		t.Errorf("the lock changes %q, want %q\n%s", results["FAIL"], want, out)
	}
	for _, name := range []string{"TestOutputs/run", "TestOutputs/explain.lock", "TestOutputs/explain.race",
		"TestOutputs/demo", "TestOutputs/sweep", "TestVerify", "TestCharts/par", "TestREADME", "TestTranscripts"} {
		if !slices.Contains(results["PASS"], name) {
			t.Errorf("%s was not run, or does not pass", name)
		}
	}
}

// deletions are instruments: their files, what names each in the lists (a pattern, by the file of the list), and tests
// of what is left, beside those of all.
var deletions = []struct {
	name  string
	files []string
	lists map[string]string
	tests map[string]string // by package
}{
	{"judge",
		[]string{"cmd/locklab/judge.go", "cmd/locklab/judge_test.go", "reports/page/log.go", "reports/page/log.html",
			"reports/text/en/judge.txt", "reports/text/zh/judge.txt"},
		map[string]string{"cmd/locklab/command.go": `judgeCommand\(\)`}, nil},
	{"lesson", []string{"cmd/locklab/lesson.go", "cmd/locklab/lesson_test.go", "cmd/page/deck_test.go", "reports/deck",
		"reports/text/en/deck.txt", "reports/text/zh/deck.txt"},
		map[string]string{"cmd/locklab/command.go": `lessonCommand\(\)`}, nil},
	{"chart waiting",
		[]string{"cmd/locklab/chart_waiting.go", "reports/chart/waiting.go", "reports/chart/waiting_test.go",
			"reports/text/en/waiting.txt", "reports/text/zh/waiting.txt", "scenarios/cost/waiting.go",
			"scenarios/cost/waiting_test.go", "scenarios/cost/simulation.go", "scenarios/cost/clients.go"},
		map[string]string{"cmd/locklab/charts.go": `waitingChart\(\)`, "reports/chart/chart.go": `"waiting": \{[^}]*}`,
			"reports/chart/charts_test.go": `"waiting": .*\)`, "cmd/locklab/charts_test.go": `"waiting": .*}`,
			"cmd/locklab/errors_test.go": "\\{`chart waiting .*}"},
		map[string]string{"./reports/chart": "TestEveryChartHasASample"}},
}

// TestDeletions: an instrument goes with its files and its lines. All that is left compiles, its tests too, and the
// help and the catalogues are whole. One goes after the other, from a copy of the source.
func TestDeletions(t *testing.T) {
	effort.OnlyExhaustive(t, "it compiles everything once more")
	s := &source{t, t.TempDir(), t.TempDir(), map[string]string{}}
	if err := os.CopyFS(s.root, withoutHidden{os.DirFS("../..")}); err != nil {
		t.Fatal(err)
	}
	for _, d := range deletions {
		for _, file := range d.files {
			if err := os.RemoveAll(filepath.Join(s.root, file)); err != nil {
				t.Fatal(err)
			}
		}
		for file, named := range d.lists {
			old := s.read(file)
			list := regexp.MustCompile(`,?\s*`+named).ReplaceAllString(old, "")
			if list == old {
				t.Errorf("%s: %s has no %s any more: tell this test which line names it", d.name, file, named)
			}
			if err := os.WriteFile(filepath.Join(s.root, file), []byte(list), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := s.goCommand("vet", "./cmd/...", "./reports/...", "./scenarios/cost"); err != nil {
			t.Errorf("%s: %v\n%s", d.name, err, out)
		}
		s.passes("./cmd/locklab", "^Test(Help|Landing|Completion|WrongUse)$", "TestHelp", "TestLanding")
		s.passes("./reports/text", "^Test", "TestTextsAreUsed", "TestLanguagesCorrespond", "TestKeysInCodeExist")
		for dir, name := range d.tests {
			s.passes(dir, "^Test", name)
		}
	}
}

// withoutHidden is a folder without what is hidden in it, such as its history.
type withoutHidden struct{ fs.FS }

func (f withoutHidden) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(f.FS, name)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), ".") ||
			e.Name() == "out"
	}), err
}

func (p program) testUncontracted(t *testing.T) {
	p.T = t
	const cell, json = "The contract does not cover added-lock in gc-pause.",
		`"contracted": false,\n +"expected": null,\n +"as_expected": null`
	for command, patterns := range map[string][]string{
		"demo":                      {"6 of 6 locks fail"},
		"list --all":                {`added-lock \(not covered by the contract\)`},
		"run token gc-pause":        {"Verdict: OVERLAP STALE-WRITE"},
		"run added-lock gc-pause":   {"Verdict: OVERLAP STALE-WRITE", cell},
		"run added-lock getset-nil": {"N/A", "The contract does not cover added-lock in getset-nil."},
		"explain added-lock": {"^The contract does not cover added-lock.",
			"locklab run added-lock gc-pause"},
		"explain R18":                    {"^  not covered by the contract:\n    added-lock\n"},
		"run added-lock gc-pause --json": {`"contracted": false`, `"expected": null`, `"as_expected": null`},
		"matrix --locks token,added-lock --races R18,calm --width 200": {
			`# OVERLAP\+1 +\(# OVERLAP\+1\)`, `\(...\)       not in the contract`,
			"The contract does not cover 2 of 4 cells.",
		},
		"matrix --locks token,added-lock --races R18 --json": {json, `"as_expected": true`},
		"matrix --locks added-lock --races R18 -o report":    {"wrote report/grid.txt"},
		"chart par --locks added-lock":                       {"added-lock"},
		"verify --locks stamps --junit junit.xml": {
			"as contracted. Not covered by the contract: added-lock."},
	} {
		out := p.says(command, patterns...)
		if strings.Contains(out, "Differs") || strings.Contains(out, "own settings") {
			t.Errorf("%s says that something differs:\n%.3000s", command, out)
		}
	}
	if out := p.says("run token gc-pause"); strings.Contains(out, "contract") {
		t.Errorf("what is contracted is said not to be:\n%.3000s", out)
	}
	if !strings.Contains(p.file("report/grid.txt"), "(# OVERLAP+1)") {
		t.Error("the grid does not put what is not in the contract in brackets")
	}
	if !strings.Contains(p.file("report/report.html"), ` uncontracted"`) {
		t.Error("the report does not say that there is no contract")
	}
	junit := p.file("junit.xml")
	if !strings.Contains(junit, `<testcase name="added-lock" classname="locklab.races">`) ||
		!strings.Contains(junit, `skipped="1"`) {
		t.Errorf("JUnit does not skip the lock:\n%.1000s", junit)
	}
}
