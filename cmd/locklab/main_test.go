package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/report"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/simulator/effort"
)

// watchedCommands is why the race detector need not see a test of commands.
const watchedCommands = "TestMerge and TestMergeRefuses show the goroutines of commands"

var update = flag.Bool("update", false, "write the golden files and the README's blocks anew")

// newTestEnv returns an environment without input, in English and without a terminal.
func newTestEnv(stdout, stderr io.Writer) *env {
	return newEnv(strings.NewReader(""), stdout, stderr, func(string) string { return "" })
}

// call runs the program as a shell would, in English and without a terminal.
func call(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := func(string) string { return "" }
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs, env)
	return code, out.String(), errs.String()
}

// allCells is how many cells the whole grid has.
func allCells() int { return len(algorithms.All()) * len(scenarios.All()) }

// golden compares with testdata/name, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./cmd/... -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed; go test ./cmd/... -update writes it anew, then read the diff\ngot:\n%.2000s", path, got)
	}
}

// What people see, command by command. The files are what to read first when a
// change makes this test fail.
func TestOutputs(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for name, args := range map[string][]string{
		"landing":           {},
		"landing.zh":        {"--lang", "zh"},
		"demo":              {"demo"},
		"demo.zh":           {"demo", "--lang", "zh"},
		"list":              {"list"},
		"run":               {"run", "token", "gc-pause"},
		"run.story.zh":      {"run", "setnx-expire", "R02", "--view", "story", "--lang", "zh"},
		"run.redis":         {"run", "getset", "getset-nil", "--view", "redis"},
		"run.na":            {"run", "redlock", "getset-nil"},
		"run.idle":          {"run", "db-for-update", "gc-pause", "--set", "idle=8h"},
		"run.narrow":        {"run", "watchdog", "failed-renewal", "--width", "80"},
		"explain.lock":      {"explain", "003-C"},
		"explain.race":      {"explain", "R18", "--lang", "both"},
		"explain.run":       {"explain", "token", "gc-pause"},
		"explain.run.zh":    {"explain", "setnx-expire", "R02", "--lang", "zh", "--width", "80"},
		"explain.path.zh":   {"explain", "path", "5", "--lang", "zh", "--width", "80"},
		"explain.interview": {"explain", "interview", "ttl"},
		"explain.term":      {"explain", "lease", "--lang", "both"},
		"explain.debate":    {"explain", "debate"},
		"explain.need":      {"explain", "need"},
		"lesson":            {"lesson", "setnx-expire", "redlock"},
		"explain.debate.md": {"explain", "debate", "--lang", "zh", "--markdown"},
		"explain.judge":     {"explain", "judge"},
		"prove":             {"prove", "token", "--budget", "restart=1"},
		"prove.views":       {"prove", "token", "--views", "--lang", "both"},
		"prove.any.zh":      {"prove", "setnx", "--budget", "crash=any,lose-request=any", "--lang", "zh"},
		"matrix.part":       {"matrix", "--strategies", "token,redlock", "--scenarios", "R21,restart", "--width", "80"},
		"sweep":             {"chart", "sweep", "pause/ttl=0:2:0.5", "--runs", "27", "--strategies", "setnx,token,watchdog"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := call(t, args...)
			if code != 0 || errs != "" {
				t.Errorf("exit status %d, standard error %q", code, errs)
			}
			if name == "explain.race" { // whatever the locks are
				before, after, ok := withoutLocks(out)
				if !ok {
					t.Fatal("the page does not name the locks")
				}
				out = before + after
			}
			golden(t, name+".txt", []byte(out))
		})
	}
}

// withoutLocks is the page of a race before and after the list of the locks, in both languages.
func withoutLocks(page string) (before, after string, ok bool) {
	before, rest, ok := strings.Cut(page, "Which locks fail")
	_, after, found := strings.Cut(rest, "\n\n")
	return before, after, ok && found
}

// The page of a race has every lock once, below what the contract says of it.
func TestRaceNamesLocks(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	_, page, _ := call(t, "explain", "R18", "--lang", "both")
	before, after, _ := withoutLocks(page)
	list := strings.TrimSuffix(strings.TrimPrefix(page, before), after)
	_, list, _ = strings.Cut(list, "\n")
	got, words := map[string]string{}, ""
	for line := range strings.Lines(strings.TrimRight(list, "\n")) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutSuffix(line, ":"); ok {
			words, _, _ = strings.Cut(head, " (")
			continue
		}
		for id := range strings.FieldsSeq(strings.ReplaceAll(line, ",", " ")) {
			if got[id] != "" {
				t.Errorf("%s is there twice", id)
			}
			got[id] = words
		}
	}
	for _, e := range algorithms.All() {
		want := "N/A"
		for _, x := range contract.Own() {
			if x.Strategy.ID == e.ID && !x.IsSearch() && x.Scenario.ID == "gc-pause" {
				want = contract.FormatVerdicts(x.Expected)
			}
		}
		if got[e.ID] != want {
			t.Errorf("%s stands below %q, and the contract says %q", e.ID, got[e.ID], want)
		}
	}
	if len(got) != len(algorithms.All()) {
		t.Errorf("there are %d locks, want %d", len(got), len(algorithms.All()))
	}
}

// The whole grid: its text, and its JSON, in which every cell is as contracted.
func TestWholeGrid(t *testing.T) {
	effort.OnlyExhaustive(t, "it plays every race; TestContract plays the same cells side by side")
	t.Run("text", func(t *testing.T) {
		code, out, errs := call(t, "matrix")
		if code != 0 || errs != "" {
			t.Errorf("exit status %d, standard error %q", code, errs)
		}
		golden(t, "matrix.txt", []byte(out))
	})
	t.Run("JSON", func(t *testing.T) {
		_, out, _ := call(t, "matrix", "--strategies", strings.Join(report.DemoLocks, ","), "--json")
		var m matrixJSON
		if err := json.Unmarshal([]byte(out), &m); err != nil || len(m.Cells) != len(report.DemoLocks)*len(scenarios.All()) {
			t.Fatalf("%d cells, %v", len(m.Cells), err)
		}
		for _, c := range m.Cells {
			if c.Contracted != nil || c.AsExpected == nil || !*c.AsExpected || !c.Triggered || len(c.Verdicts) == 0 || len(c.Expected) == 0 || c.Trace == "" {
				t.Errorf("%s in %s: %+v", c.Strategy, c.Scenario, c)
			}
		}
	})
}

// The tour has to fit on a screen.
func TestDemoIsShort(t *testing.T) {
	_, out, _ := call(t, "demo")
	if n := strings.Count(out, "\n"); n > 45 {
		t.Errorf("the demo has %d lines, more than 45", n)
	}
	for line := range strings.Lines(out) {
		if len(line) > 121 {
			t.Errorf("wider than 120: %s", line)
		}
	}
}

// Wrong use ends with status 2 and a word that names what was wrong and what
// would be right.
func TestWrongUse(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	good := link(t)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"dmo"}, []string{`"dmo"`, "demo"}},
		{[]string{"demo", "now"}, []string{"now"}},
		{[]string{"demo", "--jsn"}, []string{"--jsn", "--help"}},
		{[]string{"demo", "--xyzzy"}, []string{"no flag --xyzzy: 'locklab demo --help'"}},
		{[]string{"explore", "token", "--max-memory", "20"}, []string{"--max-memory 20", "from 50, or 0"}},
		{[]string{"verify", "--max-memory", "-1"}, []string{"--max-memory -1"}},
		{[]string{"demo", "--lang", "fr"}, []string{`"fr"`, "en, zh or both"}},
		{[]string{"demo", "--color", "red"}, []string{`"red"`, "auto, always or never"}},
		{[]string{"demo", "--width", "7"}, []string{"7", "40"}},
		{[]string{"token", "gc-pause"}, []string{"did you mean 'locklab run token gc-pause'?"}},
		{[]string{"R18", "002-C"}, []string{"did you mean 'locklab run 002-C R18'?"}},
		{[]string{"token", "gc-pause", "--seed", "3"}, []string{"did you mean 'locklab run token gc-pause'?"}},
		{[]string{"token", "gc-paus"}, []string{"did you mean 'locklab explain token'?"}},
		{[]string{"token"}, []string{"did you mean 'locklab explain token'?"}},
		{[]string{"levels"}, []string{"did you mean 'locklab play --levels'?"}},
		{[]string{"races"}, []string{"did you mean 'locklab list races'?"}},
		{[]string{"explain", "lesson", "3"}, []string{"did you mean 'locklab explain path 3'?"}},
		{[]string{"explain", "Kleppmann"}, []string{"did you mean 'locklab explain debate'?"}},
		{[]string{"explain", "zookeeper"}, []string{"did you mean 'locklab list --strategies line'?"}},
		{[]string{"play", "level", "2"}, []string{"did you mean 'locklab play --level 2'?"}},
		{[]string{"play", "levels"}, []string{"did you mean 'locklab play --levels'?"}},
		{[]string{"play", "quiz", "3"}, []string{"did you mean 'locklab play quiz --lesson 3'?"}},
		{[]string{"gc-pause", "--help"}, []string{"did you mean 'locklab explain gc-pause'?"}},
		{[]string{"help", "gc-pause"}, []string{"did you mean 'locklab explain gc-pause'?"}},
		{[]string{good}, []string{"did you mean 'locklab run LINK'?"}},
		{[]string{"debate"}, []string{"did you mean 'locklab explain debate'?"}},
		{[]string{"lease"}, []string{"did you mean 'locklab explain lease'?"}},
		{[]string{"matrix", "token", "R18"}, []string{"did you mean 'locklab matrix --strategies token --scenarios R18'?"}},
		{[]string{"play", "2"}, []string{"did you mean 'locklab play --level 2'?"}},
		{[]string{"chart", "pars"}, []string{`"chart pars"`, "did you mean par?"}},
		{[]string{"run", good, "token"}, []string{"run LINK"}},
		{[]string{"run", good[:len(good)-5]}, []string{"damaged"}},
		{[]string{"completion", "bsh"}, []string{`"bsh"`, "did you mean bash?", "powershell"}},
		{[]string{"completion"}, []string{"needs a shell, for example: locklab completion bash"}},
		{[]string{"explore", "token", "--asks", "2"}, []string{"--retries"}},
		{[]string{"explore", "token", "--retries", "-2"}, []string{"-2", "auto"}},
		{[]string{"explore", "token", "--uses", "renw"}, []string{`"renw"`, "did you mean renew?", "give-up"}},
		{[]string{"explore", "token", "--uses", "renew,give-up"}, []string{"uses=renew: token does not offer that", "give-up"}},
		{[]string{"explore", "token", "--uses", "give-up", "--timing", "lockstep"}, []string{"uses=give-up", "timing=any"}},
		{[]string{"explore", "token", "--client-retries", "6"}, []string{"client-retries=6", "0 to 5"}},
		{[]string{"explore", "zk-naive", "--client-retries", "1"}, []string{"the client library of zk-naive sends nothing again"}},
		{[]string{"explore", "getset", "--skew", "1s"}, []string{"skew=1s", "a step of this search is 750ms"}},
		{[]string{"explore", "token", "--tokens", "uniqe"}, []string{`"uniqe"`, "did you mean unique?"}},
		{[]string{"explore", "setnx", "--tokens", "constant"}, []string{"tokens=constant", "setnx takes no token"}},
		{[]string{"explore", "thread-id", "--tokens", "prefix"}, []string{"tokens=prefix", "thread or constant"}},
		{[]string{"explore", "token", "--work=-1s"}, []string{"work=-1s"}},
		{[]string{"run", "token", "gc-pause", "--expect", "stall"}, []string{"STALL", "DEADLOCK"}},
		{[]string{"run", "token", "gc-pause", "--expect", "overlap,phantom"}, []string{"PHANTOM", "ORPHAN"}},
		{[]string{"list", "things"}, []string{`"things"`, "locks, races, faults"}},
		{[]string{"run", "token"}, []string{"needs a lock and a race, for example: locklab run token gc-pause"}},
		{[]string{"run", "tokn", "gc-pause"}, []string{`"tokn"`, "did you mean token"}},
		{[]string{"run", "token", "gc-paus"}, []string{`"gc-paus"`, "did you mean gc-pause"}},
		{[]string{"run", "token", "R99"}, []string{`"R99"`, "did you mean R"}},
		{[]string{"run", "token", "gc-pause", "--set", "ttl=0s"}, []string{"ttl=0s", "ttl=10s"}},
		{[]string{"run", "token", "gc-pause", "--set", "pause=-1s"}, []string{"pause=-1s", "negative"}},
		{[]string{"run", "token", "gc-pause", "--set", "clients=0"}, []string{"clients=0", "1 to 8"}},
		{[]string{"run", "token", "gc-pause", "--set", "clients=9"}, []string{"clients=9", "1 to 8"}},
		{[]string{"run", "token", "gc-pause", "--set", "skew=3s"}, []string{"skew=3s", "no skew"}},
		{[]string{"run", "token", "gc-pause", "--set", "puase=3s"}, []string{"puase", "did you mean pause"}},
		{[]string{"run", "token", "gc-pause", "--set", "ttl"}, []string{`"ttl"`, "name=value"}},
		{[]string{"run", "token", "gc-pause", "--set", "ttl=soon"}, []string{"ttl=soon", "unit"}},
		{[]string{"run", "token", "gc-pause", "--set", "horizon=5s"}, []string{"horizon=5s", "horizon=30s"}},
		{[]string{"run", "token", "gc-pause", "--budget", "pause=0"}, []string{"pause=0", "pause=1"}},
		{[]string{"run", "token", "gc-pause", "--budget", "pauze=1"}, []string{`"pauze"`, "did you mean pause"}},
		{[]string{"run", "setnx-expire", "gc-pause", "--set", "ttl=1500ms"}, []string{"1.5s", "2s"}},
		{[]string{"run", "token", "gc-pause", "--view", "lane"}, []string{`"lane"`, "did you mean lanes"}},
		{[]string{"run", "token", "gc-pause", "--expect", "fine"}, []string{`"fine"`, "HOLDS"}},
		{[]string{"run", "token", "gc-pause", "-o", "x.pdf"}, []string{"x.pdf", ".json"}},
		{[]string{"run", "token", "clock-drift", "--set", "drift=0"}, []string{"drift=0", "more than 0"}},
		{[]string{"run", "token", "clock-drift", "--set", "drift=1s"}, []string{"drift=1s", "500ms"}},
		{[]string{"explore", "token", "--budget", "client-rate=1"}, []string{"cannot carry client-rate", "locklab chart sweep client-rate"}},
		{[]string{"run"}, []string{"run token gc-pause"}},
		{[]string{"run", "no-such-file"}, []string{"no-such-file", "neither a trace nor a file"}},
		{[]string{"run", strings.Replace(good, "locklab2", "locklab0", 1)}, []string{"another version", "0"}},
		{[]string{"run", good[:len(good)-5]}, []string{"damaged"}},
		{[]string{"run", good, "--against", "readlock"}, []string{"--against", "did you mean redlock"}},
		{[]string{"explain"}, []string{"a lock, a race"}},
		{[]string{"explain", "gcpause"}, []string{`"gcpause"`, "did you mean gc-pause"}},
		{[]string{"explain", "leas"}, []string{`"leas"`, "did you mean lease"}},
		{[]string{"explain", "token", "--html", "--markdown"}, []string{"--html"}},
		{[]string{"explain", "debat"}, []string{`"debat"`, "did you mean debate"}},
		{[]string{"explain", "path", "11"}, []string{`"11"`, "1 to 10"}},
		{[]string{"explain", "interview", "redlok"}, []string{`"redlok"`, "did you mean redlock"}},
		{[]string{"explain", "glossary", "fance"}, []string{`"fance"`, "did you mean"}},
		{[]string{"matrix", "--strategies", "tokn"}, []string{"did you mean token"}},
		{[]string{"matrix", "--scenarios", "failovr"}, []string{"did you mean failover"}},
		{[]string{"matrix", "--runs", "-1"}, []string{"-1"}},
		{[]string{"matrix", "--strategies="}, []string{"names no lock"}},
		{[]string{"matrix", "--scenarios="}, []string{"names no race"}},
		{[]string{"matrix", "--strategies", "token,002-C"}, []string{"token twice"}},
		{[]string{"run", good[1:]}, []string{"neither a trace nor a file"}},
		{[]string{"chart", "sweep", "skw"}, []string{`"skw"`, "did you mean skew", "client-rate"}},
		{[]string{"chart", "sweep", "skew/ttl", "skew=1s"}, []string{"skew is there twice"}},
		{[]string{"chart", "sweep", "pause/ttl=2:1:0.1"}, []string{"2:1:0.1", "TO"}},
		{[]string{"chart", "sweep", "pause/ttl=0:x:1"}, []string{`"x" is no pause in leases`}},
		{[]string{"chart", "sweep", "pause/ttl", "--set", "pause=1s"}, []string{"pause is there twice"}},
		{[]string{"chart", "sweep", "pause/ttl", "--set", "retry"}, []string{"--set", `"retry"`}},
		{[]string{"chart", "sweep", "ttl=1500ms", "--strategies", "setnx-expire"}, []string{"ttl=1.5s", "setnx-expire", "ttl=2s"}},
		{[]string{"chart", "sweep", "pause/ttl", "--verdict", "overlp"}, []string{`"overlp"`, "did you mean OVERLAP"}},
		{[]string{"chart", "sweep", "client-rate=1"}, []string{`"1"`, "ppm"}},
		{[]string{"chart", "sweep", "pause/ttl", "-o", "x.gif"}, []string{"x.gif", ".png"}},
		{[]string{"run", "token", "gc-pause", "--seed", "x"}, []string{`--seed "x": give a whole number from 0`}},
		{[]string{"run", "token", "gc-pause", "--seed", "-1"}, []string{`--seed "-1": give a whole number from 0`}},
		{[]string{"matrix", "--runs", "1.5"}, []string{`--runs "1.5": give a whole number`}},
		{[]string{"explore", "token", "--ttl", "soon"}, []string{`--ttl "soon": give a length with its unit`}},
		{[]string{"demo", "--json=maybe"}, []string{`--json "maybe": write true or false`}},
		{[]string{"matrix", "--strategies", "redison"}, []string{`"redison"`, "did you mean redisson"}},
		{[]string{"list", "--strategies", "zzz"}, []string{`"zzz"`, "list locks"}},
		{[]string{"list", "faults", "--strategies", "stamps"}, []string{"faults", "--strategies"}},
		{[]string{"chart", "sweep", "pause/ttl", "--strategies", "stamps,getset"}, []string{"getset twice"}},
		{[]string{"verify", "--strategies="}, []string{"names no lock"}},
		{[]string{"run", "token", "gc-pause", "--expect", ""}, []string{"--expect names no verdict"}},
		{[]string{"run", good, "--expect", ", "}, []string{"--expect names no verdict"}},
		{[]string{"verify", "--contract", ""}, []string{"--contract is empty"}},
		{[]string{"verify", "--junit", ""}, []string{"--junit is empty"}},
		{[]string{"help", "nonsense"}, []string{`"nonsense"`}},
		{[]string{"help", "run", "nonsense"}, []string{`"nonsense"`}},
		{[]string{"nonsense", "--help"}, []string{`"nonsense"`}},
		{[]string{"demo", "--version"}, []string{"--version"}},
		{[]string{"run", "somethingelse", "gc-pause"}, []string{`"somethingelse": 'locklab list locks'`}},
	} {
		code, out, errs := call(t, c.args...)
		if strings.Contains(errs, "strconv") {
			t.Errorf("%v speaks of its own code: %s", c.args, errs)
		}
		if code != exitUsage || out != "" {
			t.Errorf("%v: exit status %d, want %d; standard output %q", c.args, code, exitUsage, out)
		}
		for _, w := range c.want {
			if !strings.Contains(errs, w) {
				t.Errorf("%v: %q does not say %q", c.args, strings.TrimSpace(errs), w)
			}
		}
	}
}

// link is a trace of the token lock in gc-pause.
func link(t testing.TB) string {
	t.Helper()
	code, out, errs := call(t, "run", "token", "gc-pause", "--seed", "3", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var j runJSON
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	return j.Trace
}

// A link plays the same run: the same JSON, byte for byte. So does the file
// that -o wrote, and the JSON itself.
func TestReplayIsTheSameRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.json")
	_, first, _ := call(t, "run", "redlock", "restart", "--seed", "5", "--json", "-o", file)
	var j runJSON
	if err := json.Unmarshal([]byte(first), &j); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "trace.txt")
	if err := os.WriteFile(plain, []byte(j.Trace+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{j.Trace, file, plain} {
		if code, again, errs := call(t, "run", arg, "--json"); code != 0 || again != first {
			t.Errorf("run %.20s…: exit status %d, same %t, %s", arg, code, again == first, errs)
		}
	}
}

// The same attack on another lock: the token lock falls to the pause, the one
// without a lease does not.
// A run is a picture for a slide too, in the language of the command.
func TestRunAsPicture(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	dir := t.TempDir()
	names := []string{"run.png", "run.svg", "zh.svg"}
	args := []string{"run", "token", "gc-pause"}
	for _, n := range names[:2] {
		args = append(args, "-o", filepath.Join(dir, n))
	}
	for _, args := range [][]string{args, {"run", "token", "gc-pause", "--lang", "zh", "-o", filepath.Join(dir, names[2])}} {
		if code, _, errs := call(t, args...); code != exitOK {
			t.Fatal(errs)
		}
	}
	seen := map[string]string{}
	for _, n := range names {
		content, err := os.ReadFile(filepath.Join(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		if same, ok := seen[string(content)]; ok {
			t.Errorf("%s and %s are the same", n, same)
		}
		seen[string(content)] = n
		if strings.HasSuffix(n, ".png") {
			if picture, err := png.Decode(bytes.NewReader(content)); err != nil || picture.Bounds().Dx() != 1600 {
				t.Errorf("%s: %v, %v", n, picture.Bounds(), err)
			}
		} else if bytes.Contains(content, []byte("<text")) {
			t.Errorf("%s needs a font", n)
		}
	}
	code, _, errs := call(t, "run", "mutex", "failover", "-o", filepath.Join(dir, "none.png"))
	if code != exitUsage || !strings.Contains(errs, "does not apply") {
		t.Errorf("a race that does not apply: exit status %d, %s", code, errs)
	}
}

func TestReplayAgainst(t *testing.T) {
	code, out, _ := call(t, "run", link(t), "--against", "setnx", "--expect", "holds")
	if code != 0 || !strings.Contains(out, "setnx (003-A) in gc-pause") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
}

func TestReplayStep(t *testing.T) {
	code, out, _ := call(t, "run", link(t), "--step")
	if code != 0 || !strings.Contains(out, "step ") || !strings.Contains(out, "Verdict: OVERLAP") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
}

// --expect turns a verdict into an exit status; without it a lock that falls is
// what one came to see.
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"run", "token", "gc-pause"}, exitOK},
		{[]string{"run", "token", "gc-pause", "--expect", "overlap,stale-write"}, exitOK},
		{[]string{"run", "token", "gc-pause", "--expect", "holds"}, exitDiffers},
		{[]string{"run", "redlock", "getset-nil", "--expect", "n/a"}, exitOK},
		{[]string{"run", "token", "gc-pause", "--set", "pause=0s"}, exitNoAnswer},
	} {
		if code, _, errs := call(t, c.args...); code != c.code {
			t.Errorf("%v: exit status %d, want %d: %s", c.args, code, c.code, errs)
		}
	}
}

// Every command speaks JSON, and says which version of it.
func TestJSON(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for _, args := range [][]string{
		{"demo"}, {"run", "watchdog", "R15"}, {"run", "setnx", "R06"}, {"explain", "token"}, {"explain", "R01"}, {"explain", "token", "R01"}, {"explain", "path"}, {"explain", "interview"}, {"explain", "lease"},
		{"run", link(t)}, {"matrix", "--scenarios", "R02"}, {"chart", "sweep", "pause/ttl=1:1:1", "--runs", "9"},
	} {
		code, out, errs := call(t, append(args, "--json")...)
		var v struct{ Version int }
		if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != schema {
			t.Errorf("%v: exit status %d, version %d, %v %s", args, code, v.Version, err, errs)
		}
	}
}

// The fields that others build on, by name and kind. A rename, or a field that
// goes, breaks somebody's script.
func TestJSONFields(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	cell := map[string]any{"strategy": "", "article": "", "scenario": "", "race": "", "verdicts": []any{}, "expected": []any{},
		"as_expected": true, "triggered": true, "trace": "", "why": "", "why_zh": ""}
	for line, want := range map[string]map[string]any{
		"list strategies": {"id": "", "article": "", "family": "", "year": 0.0, "title": "", "title_zh": ""},
		"list scenarios":  {"id": "", "race": "", "title": "", "title_zh": ""},
		"list faults":     {"id": "", "title": "", "title_zh": ""},
		"run setnx R01 --seed 4": {"version": 0.0, "strategy": "", "article": "", "scenario": "", "race": "", "seed": 0.0, "settings": "",
			"verdicts": []any{}, "expected": []any{}, "as_expected": true, "triggered": true, "findings": []any{}, "events": []any{}, "trace": ""},
		"matrix --scenarios calm":      {"version": 0.0, "cells": []any{}},
		"matrix --scenarios calm cell": cell,
		"explore setnx --attempts 1 --budget crash=1": {"version": 0.0, "strategy": "", "clients": 0.0, "attempts": 0.0, "nodes": 0.0, "budget": map[string]any{}, "states": 0.0,
			"bounds": "", "timing": "", "uses": []any{}, "client_retries": 0.0, "skew_ns": 0.0, "tokens": "", "not_injected": []any{}, "claim": "", "scope": "", "may_happen": []any{}, "assumed": []any{},
			"transitions": 0.0, "depth": 0.0, "complete": true, "verdicts": []any{}, "certificate": ""},
		"explain token":                        {"version": 0.0, "strategy": map[string]any{}, "texts": map[string]any{}, "cells": []any{}},
		"lesson path 3":                        {"version": 0.0, "title": "", "minutes": 0.0, "steps": []any{}},
		"explain lease":                        {"version": 0.0, "texts": map[string]any{}},
		"chart sweep pause/ttl=1:1:1 --runs 9": {"version": 0.0, "sweep": "", "axes": []any{}, "verdicts": []any{}, "assumptions": "", "takeaway": "", "series": []any{}},
	} {
		sameKinds(t, line, jsonOf(t, line), want)
	}
}

// jsonOf is the object that a command prints; of a list, or of the cells, the
// first one.
func jsonOf(t *testing.T, line string) map[string]any {
	t.Helper()
	line, cell := strings.CutSuffix(line, " cell")
	_, out, errs := call(t, append(strings.Fields(line), "--json")...)
	var v any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%s: %v %s", line, err, errs)
	}
	if cell {
		v = v.(map[string]any)["cells"]
	}
	if list, ok := v.([]any); ok {
		v = list[0]
	}
	return v.(map[string]any)
}

func sameKinds(t *testing.T, line string, got, want map[string]any) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || reflect.TypeOf(g) != reflect.TypeOf(v) {
			t.Errorf("%s: field %q is %T, want %T", line, name, g, v)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: field %q is new: add it here, it stays", line, name)
		}
	}
}

// Output that cannot be written is no success.
func TestLostOutput(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for _, args := range [][]string{{"list"}, {"explain", "R18"}, {"run", "token", "R18"}, {"chart", "sweep", "pause/ttl=1:1:1", "--runs", "9"}} {
		var errs bytes.Buffer
		code := run(context.Background(), args, strings.NewReader(""), full{}, &errs, func(string) string { return "" })
		if code != exitInternal || !strings.Contains(errs.String(), "no room") {
			t.Errorf("%v: exit status %d: %s", args, code, errs.String())
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// Ctrl-C leaves what is finished, says that it is not all, and writes no report
// of half a grid.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"matrix", "-o", dir}, strings.NewReader(""), &out, &errs, func(string) string { return "" })
	if code != exitNoAnswer || !strings.Contains(errs.String(), "incomplete") || !strings.Contains(out.String(), fmt.Sprintf("incomplete, 0 of %d cells", allCells())) {
		t.Errorf("exit status %d: %s\n%s", code, errs.String(), out.String())
	}
	if strings.Contains(out.String(), "came out as expected") || strings.Contains(out.String(), "no meaning") {
		t.Errorf("cells that were not played are told as if they had been:\n%s", out.String())
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("files were written: %v", files)
	}
}

// The numbers of a report are those of testdata. Package chart tests how pictures are
// drawn; -update draws that of the README.
func TestReport(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine writes")
	dir := t.TempDir()
	write := func(locks []string, more ...string) {
		code, _, errs := call(t, append([]string{"matrix", "--strategies", strings.Join(locks, ","), "--scenarios", strings.Join(report.DemoRaces, ","), "-o", dir}, more...)...)
		if code != 0 {
			t.Fatal(errs)
		}
	}
	same := func(names ...string) {
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, b)
		}
	}
	if *update {
		write(report.DemoLocks)
		same("grid.png")
	}
	locks := []string{"setnx", "token"} // the searches of the others take most of a minute
	write(locks)
	same("grid.csv")
	namedBy(t, dir, "run")
	write(locks, "--all")
	namedBy(t, dir, "charts")
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 6<<20 || regexp.MustCompile(`(?i)(src|href)="https?:`).Match(page) {
		t.Errorf("the page has %d bytes, or wants the network", len(page))
	}
}

// namedBy checks that the last line about a target's report names every picture and table there.
func namedBy(t *testing.T, dir, target string) {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	_, recipe, _ := strings.Cut(string(makefile), "\n"+target+": ##")
	_, last, _ := strings.Cut(recipe, "/report.html;")
	last, _, _ = strings.Cut(last, "\n")
	tables, globErr := filepath.Glob(filepath.Join(dir, "*.csv"))
	for _, table := range tables {
		if name := strings.TrimSuffix(filepath.Base(table), ".csv"); !slices.Contains(strings.FieldsFunc(last, notLetter), name) {
			t.Errorf("the last line of make %s does not name %s: %s", target, name, last)
		}
	}
	if err := errors.Join(err, globErr); err != nil || len(tables) < 4 {
		t.Errorf("%d tables, %v", len(tables), err)
	}
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// The locks of make run are those of the demo.
func TestMakeRun(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if want := "\nSIX = " + strings.Join(report.DemoLocks, ",") + "\n"; err != nil || !strings.Contains(string(makefile), want) {
		t.Errorf("the Makefile has no line %q: %v", want, err)
	}
}

// Families choose locks: all of theirs, in historical order, and no others. A family comes before a lock of its name.
func TestFamilies(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	var listed []struct{ ID, Family string }
	_, out, _ := call(t, "list", "--strategies", "one-process,majority,reentrant,token", "--json")
	if err := json.Unmarshal([]byte(out), &listed); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, family := range []lock.Family{lock.OneProcess, lock.Majority, lock.Reentrant} {
		for _, e := range algorithms.All() {
			if e.Family == family {
				want = append(want, e.ID)
			}
		}
	}
	want = append(want, "token")
	var got []string
	for _, l := range listed {
		got = append(got, l.ID)
	}
	if !slices.Equal(got, want) || len(got) < 4 {
		t.Errorf("%v, want %v", got, want)
	}
}

// A README shows what the program prints, on three screens. A block that begins with a command is
// that command's output, without the commands that it names at the end.
func TestREADME(t *testing.T) {
	for _, path := range []string{"../../README.md", "../../reports/text/zh/README.md"} {
		text, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		blocks := 0
		fresh := regexp.MustCompile("(?s)```\n\\$ locklab ([^\n]*)\n(.*?)```").ReplaceAllFunc(text, func(block []byte) []byte {
			blocks++
			command, _, _ := strings.Cut(strings.TrimPrefix(string(block), "```\n$ locklab "), "\n")
			code, out, errs := call(t, strings.Fields(command)...)
			if code != 0 {
				t.Errorf("%s: %s", command, errs)
			}
			out = regexp.MustCompile(`(?s)\n(Next:|接下来：)\n.*`).ReplaceAllString(out, "")
			return []byte("```\n$ locklab " + command + "\n" + out + "```")
		})
		if n := bytes.Count(fresh, []byte("\n")); blocks == 0 || n > 120 {
			t.Errorf("%s: %d sessions, want at least 1; %d lines, want at most 120", path, blocks, n)
		}
		if !*update && !bytes.Equal(fresh, text) {
			t.Errorf("%s shows something else than the program prints; go test ./cmd/... -update writes it anew", path)
		}
		if *update && !bytes.Equal(fresh, text) {
			if err := os.WriteFile(path, fresh, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A README names commands and flags that there are.
func TestREADMECommands(t *testing.T) {
	for _, path := range []string{"../../README.md", "../../reports/text/zh/README.md"} {
		readme, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		lines := regexp.MustCompile("`locklab ([^`]+)`").FindAllSubmatch(readme, -1)
		if len(lines) < 10 {
			t.Errorf("%s: %d commands, want 10 or more", path, len(lines))
		}
		for _, m := range lines {
			words := strings.Fields(string(m[1]))
			if code, _, errs := call(t, append(words, "--help")...); code != exitOK {
				t.Errorf("%s: locklab %s: %s", path, m[1], errs)
			}
		}
	}
}

// A README says how many locks and races there are: those without a lock, and the race without a fault, are not
// counted.
func TestREADMECounts(t *testing.T) {
	locks := 0
	for _, e := range algorithms.All() {
		if e.Guard == "" {
			locks++
		}
	}
	races := len(scenarios.All()) - 1
	for path, want := range map[string]string{
		"../../README.md":                 fmt.Sprintf("%d locks in %d races", locks, races),
		"../../reports/text/zh/README.md": fmt.Sprintf("%d 把锁，%d 个竞态", locks, races),
	} {
		if readme, err := os.ReadFile(filepath.FromSlash(path)); err != nil || !strings.Contains(string(readme), want) {
			t.Errorf("%s does not say %q: %v", path, want, err)
		}
	}
}

// TestREADMELinks: what a README in any folder names by a link is there.
func TestREADMELinks(t *testing.T) {
	link, links := regexp.MustCompile(`\]\(([^)#]+)`), 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), "README.") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range link.FindAllSubmatch(text, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), target)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return err
	})
	if err != nil || links == 0 {
		t.Error(links, err)
	}
}

// No command may cost the reader's patience before the first word.
func BenchmarkDemo(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		call(b, "demo")
	}
}
