package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// strangerSource is a lock that the contract does not cover: token under another name.
const strangerSource = `package redis

var stranger = tokenLock.Variant("stranger", 2026, tokenLock.New)
`

// buildWithStranger builds the program with one more lock in the list. The list is part
// of the program, so the compiler gets another version of its file.
func buildWithStranger(t *testing.T) (program string) {
	t.Helper()
	where, err := exec.Command("go", "list", "-f", "{{.Dir}}", "locklab/algorithms/redis").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, tmp := strings.TrimSpace(string(where)), t.TempDir()
	list, err := os.ReadFile(filepath.Join(dir, "redis.go"))
	if err != nil {
		t.Fatal(err)
	}
	longer := bytes.Replace(list, []byte("\t\tsetIfEq,\n"), []byte("\t\tsetIfEq,\n\t\tstranger,\n"), 1)
	if bytes.Equal(longer, list) {
		t.Fatal("the list of locks looks different now: tell this test where its end is")
	}
	replace := map[string]string{}
	for name, text := range map[string][]byte{"redis.go": longer, "stranger.go": []byte(strangerSource)} {
		file := filepath.Join(tmp, name)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(dir, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tmp, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(tmp, "locklab")
	build := exec.Command("go", "build", "-buildvcs=false", "-overlay", filepath.Join(tmp, "overlay.json"), "-o", program, "locklab/cmd/locklab")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// A lock that the contract does not cover runs in every command, and each says so: its
// results are neither expected nor unexpected.
func TestLockWithoutContract(t *testing.T) {
	program := buildWithStranger(t)
	dir := t.TempDir()
	call := func(args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		c := exec.CommandContext(t.Context(), program, args...)
		c.Stdout, c.Stderr, c.Dir = &out, &errs, dir
		c.Env = append(os.Environ(), "LANG=C", "LC_ALL=")
		exit := (*exec.ExitError)(nil)
		if err := c.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), out.String(), errs.String()
	}
	trace := func() string {
		_, out, _ := call("run", "stranger", "gc-pause", "--json")
		var j runJSON
		if err := json.Unmarshal([]byte(out), &j); err != nil {
			t.Fatal(err)
		}
		return j.Trace
	}()
	for _, c := range []struct {
		args      string
		want, not []string
	}{
		{"demo", []string{"Every cell came out as expected."}, []string{"stranger"}},
		{"list", []string{"stranger (not covered by the contract)"}, nil},
		{"list --lang zh", []string{"stranger（契约没有覆盖）"}, nil},
		{"list strategies --json", []string{"\"title_zh\": \"stranger\",\n    \"contracted\": false"}, nil},
		{"run token gc-pause", []string{"Verdict: OVERLAP STALE-WRITE"}, []string{"contract"}},
		{"run stranger gc-pause", []string{"Verdict: OVERLAP STALE-WRITE", "The contract does not cover stranger in gc-pause."}, []string{"Differs", "own settings"}},
		{"run stranger gc-pause --lang zh", []string{"契约没有覆盖 stranger 在 gc-pause 里的结果。"}, nil},
		{"run stranger getset-nil", []string{"N/A", "The contract does not cover stranger in getset-nil."}, nil},
		{"run stranger gc-pause --json", []string{`"contracted": false`, `"expected": null`, `"as_expected": null`}, nil},
		{"replay " + trace, []string{"The contract does not cover stranger in gc-pause."}, nil},
		{"explain stranger", []string{"stranger\nThe contract does not cover stranger.", "locklab run stranger gc-pause"}, nil},
		{"explain stranger --json", []string{`"contracted": false`, `"expected": null`}, nil},
		{"explain R18", []string{"  not covered by the contract:\n    stranger\n"}, nil},
		{"explain stranger R18", []string{"The contract does not cover stranger in gc-pause."}, nil},
		{"explain path 5", nil, []string{"stranger"}},
		{"matrix --strategies token,stranger --scenarios R18,calm --width 200", []string{
			"# OVERLAP+1 (# OVERLAP+1)", "(...)       no contract speaks of it",
			"Every cell that a contract speaks of came out as expected. No contract speaks of 2 of 4 cells.",
		}, []string{"[...]"}},
		{"matrix --strategies stranger --scenarios R18 --lang zh", []string{"契约没有提到", "1 格中有 1 格契约没有提到。"}, []string{"相符", "不同"}},
		{"matrix --strategies token,stranger --scenarios R18 --json", []string{"\"contracted\": false,\n      \"expected\": null,\n      \"as_expected\": null", `"as_expected": true`}, nil},
		{"matrix --strategies stranger --scenarios R18 -o report", []string{"(# OVERLAP+1)"}, nil},
		{"matrix --scenarios R18 --width 200", []string{"stranger            (#", "(             no contract speaks of it", "No contract speaks of 1 of "}, []string{"differ"}},
		{"sweep pause/ttl=1:1:1 --runs 9 --strategies stranger", []string{"stranger"}, nil},
		{"explore stranger --budget pause=1 -o witness.json", []string{"OVERLAP"}, nil},
		{"replay witness.json", []string{"The contract does not cover stranger."}, []string{"own settings"}},
		{"par --strategies stranger", []string{"stranger"}, nil},
		{"tolerance --strategies stranger", []string{"stranger"}, nil},
		{"verify --families one-step --junit junit.xml", []string{"as contracted. Not covered, since no contract speaks of it: stranger."}, nil},
	} {
		code, out, errs := call(strings.Fields(c.args)...)
		if code != exitOK {
			t.Errorf("%s: exit status %d: %.2000s", c.args, code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q:\n%.3000s", c.args, want, out)
			}
		}
		for _, not := range c.not {
			if strings.Contains(out, not) {
				t.Errorf("%s says %q:\n%.3000s", c.args, not, out)
			}
		}
	}
	if page, err := os.ReadFile(filepath.Join(dir, "report", "report.html")); err != nil || !strings.Contains(string(page), "no contract</span> / ") {
		t.Errorf("the report does not say that there is no contract: %v", err)
	}
	junit, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
	if err != nil || !strings.Contains(string(junit), `<testcase name="stranger" classname="locklab.scenarios">`) || !strings.Contains(string(junit), `skipped="1"`) {
		t.Errorf("JUnit does not skip the lock: %v\n%.1000s", err, junit)
	}
}
