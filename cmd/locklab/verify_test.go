package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// doctored is a contract with one mistake of every kind in it.
const doctored = `[gc-pause]
setnx     HOLDS
token     HOLDS                                  # it breaks
[search budget=crash=1]
token     HOLDS
watchdog  OVERLAP@1                              # gone blind
[search budget=pause=1]
token     OVERLAP@2 STALE-WRITE@1 ORPHAN@1      # par too high
getset    OVERLAP@1 STALE-WRITE@1 WRONG-DEL@1 ORPHAN@1 #  LIE too
[search budget=pause=2@5s]
token     OVERLAP@1 STALE-WRITE@2 ORPHAN@1      # par too low
[search max-states=20 budget=crash=1]
token     HOLDS                                  # cut short
`

// inDir makes the file in a directory of its own and goes there, so that what is
// printed does not depend on where that is.
func inDir(t *testing.T, contract string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("contract.txt", []byte(contract), 0o644); err != nil {
		t.Fatal(err)
	}
}

// callIn is call beside a contract.
func callIn(t *testing.T, contract string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	inDir(t, contract)
	code, stdout, stderr = call(t, args...)
	t.Chdir(home)
	return code, stdout, stderr
}

// What people see of a contract that is wrong in every way.
func TestVerifyOutput(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	code, out, errs := callIn(t, doctored, "verify", "--contract", "contract.txt", "--annotations", "github")
	if code != exitDiffers || errs != "" {
		t.Errorf("exit status %d, standard error %q", code, errs)
	}
	golden(t, "verify.txt", []byte(out))
	_, out, _ = callIn(t, doctored, "verify", "--contract", "contract.txt", "--annotations", "github", "--lang", "zh")
	golden(t, "verify.zh.txt", []byte(out))
}

// One mistake at a time: the exit status, and what is said.
func TestVerifyStatus(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	for _, c := range []struct {
		rule, contract string
		code           int
		want           string
	}{
		{"as contracted", "[gc-pause]\ntoken OVERLAP STALE-WRITE\n[search budget=pause=1]\ntoken OVERLAP@1 STALE-WRITE@1 ORPHAN@1\n", exitOK, "1 cell and 1 search as contracted."},
		{"a race differs", "[gc-pause]\ntoken HOLDS\n", exitDiffers, "contract.txt:2: token in gc-pause: it is OVERLAP STALE-WRITE, contracted HOLDS\n  locklab run token gc-pause --expect holds\n"},
		{"a verdict is missing", "[search budget=crash=1]\ntoken OVERLAP@1\n", exitDiffers, "OVERLAP does not occur any more"},
		{"a verdict too many", "[search budget=pause=1]\ntoken OVERLAP@1 ORPHAN@1\n", exitDiffers, "STALE-WRITE@1 occurs"},
		{"par too high", "[search budget=pause=1]\ntoken OVERLAP@2 STALE-WRITE@1 ORPHAN@1\n", exitDiffers, "takes only 1 fault"},
		{"par too low", "[search budget=pause=2@5s]\ntoken OVERLAP@1 STALE-WRITE@2 ORPHAN@1\n", exitDiffers, "takes 2 faults"},
		{"cut short", "[search max-states=20 budget=crash=1]\ntoken HOLDS\n", exitNoAnswer, "could not tell: the search was cut short"},
		{"cut short, and another differs", "[search max-states=20 budget=crash=1]\ntoken HOLDS\n[gc-pause]\ntoken HOLDS\n", exitDiffers, "1 of 1 cell and 1 of 1 search not as contracted."},
		{"a proof", "[gc-pause]\ntoken OVERLAP STALE-WRITE\n[prove budget=crash=any]\nsetnx DEADLOCK@1\n", exitOK, "1 cell, 0 searches and 1 proof for any number of clients as contracted."},
		{"a proof differs", "[prove budget=crash=any]\nsetnx HOLDS\n", exitDiffers, "contract.txt:2: setnx in clients=any,attempts=any,budget=crash=any: DEADLOCK@1 occurs, contracted HOLDS\n  locklab prove setnx --budget 'crash=any'\n"},
		{"no proof", "[prove budget=crash=any]\nzk-naive HOLDS\n", exitNoAnswer, "could not tell: there is no proof: the lock lives on an ensemble"},
		{"an unknown lock", "[search]\ntokn HOLDS\n", exitUsage, "contract.txt:2: there is no lock \"tokn\": did you mean token?"},
		{"a section without rows", "[gc-pause]\n[search]\ntoken HOLDS\n", exitUsage, "contract.txt:1: [gc-pause] has no line under it"},
		{"a search without rows", "[gc-pause]\ntoken HOLDS\n[search]\n", exitUsage, "contract.txt:3: [search] has no line under it"},
		{"[locks] alone", "[locks]\n", exitUsage, "contract.txt:1: [locks] has no line under it"},
		{"an empty file", "", exitUsage, "contract.txt: it contains no expectation"},
	} {
		code, out, errs := callIn(t, c.contract, "verify", "--contract", "contract.txt")
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit status %d, want %d with %q:\n%s%s", c.rule, code, c.code, c.want, out, errs)
		}
	}
}

func TestVerifyWrongUse(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	for want, args := range map[string][]string{
		"no-such-file": {"verify", "--contract", "no-such-file"},
		"write github": {"verify", "--annotations", "gitlab"},
		"no argument":  {"verify", "token"},
	} {
		if code, out, errs := call(t, args...); code != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v: exit status %d, %s%s", args, code, out, errs)
		}
	}
}

// The line under a deviation is a command that shows it: it runs, and where it
// plays a race its exit status says the same.
func TestVerifyReproduces(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	code, out, _ := callIn(t, doctored, "verify", "--contract", "contract.txt")
	if code != exitDiffers {
		t.Fatal(code)
	}
	lines := 0
	for line := range strings.Lines(out) {
		command, ok := strings.CutPrefix(line, "  locklab ")
		if !ok {
			continue
		}
		lines++
		args := strings.Fields(strings.ReplaceAll(command, "'", ""))
		want := exitOK // explore shows what there is
		switch {
		case args[0] == "run":
			want = exitDiffers
		case strings.Contains(command, "--max-states 20"):
			want = exitNoAnswer
		}
		if code, _, errs := call(t, args...); code != want {
			t.Errorf("%v: exit status %d, want %d: %s", args, code, want, errs)
		}
	}
	if lines != 6 {
		t.Errorf("%d lines to reproduce with, want 6:\n%s", lines, out)
	}
}

// The files hold the same deviations as the output, and a witness for each.
func TestVerifyFiles(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	dir := t.TempDir()
	junit, summary := filepath.Join(dir, "verify.xml"), filepath.Join(dir, "summary.md")
	code, _, errs := callIn(t, doctored, "verify", "--contract", "contract.txt", "--junit", junit, "--summary", summary)
	if code != exitDiffers || strings.Count(errs, "wrote ") != 2 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	var suites struct {
		Suites []struct {
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Error   *string `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	text, err := os.ReadFile(junit)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	failed, seen := 0, map[string]bool{}
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			if seen[c.Name] {
				t.Errorf("%s: twice", c.Name)
			}
			seen[c.Name] = true
			body := c.Failure
			if body == nil {
				body = c.Error
			}
			if body == nil {
				continue
			}
			failed++
			if !strings.Contains(*body, "reproduce: locklab ") {
				t.Errorf("%s: no line to reproduce it:\n%s", c.Name, *body)
			}
			if strings.Contains(c.Name, "pause") && !strings.Contains(*body, "!! ") {
				t.Errorf("%s: no witness:\n%s", c.Name, *body)
			}
		}
	}
	if len(seen) != 8 || failed != 6 {
		t.Errorf("%d of %d cases failed, want 6 of 8", failed, len(seen))
	}
	page, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| scenario | setnx | token |", "| clients=2,attempts=2,budget=crash=1 | HOLDS |", "**differs** OVERLAP@1", "Proved within these bounds"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the summary lacks %q:\n%s", want, page)
		}
	}
}

func TestVerifyJSON(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	code, out, errs := callIn(t, doctored, "verify", "--contract", "contract.txt", "--json", "--annotations", "github")
	var j verifyJSON
	if err := json.Unmarshal([]byte(out), &j); err != nil || code != exitDiffers {
		t.Fatalf("exit status %d: %v %s", code, err, errs)
	}
	if j.Version != schema || j.Incomplete || j.Cells != 2 || len(j.Searches) != 6 || len(j.Deviations) != 6 {
		t.Errorf("version %d, incomplete %t, %d cells, %d searches, %d deviations", j.Version, j.Incomplete, j.Cells, len(j.Searches), len(j.Deviations))
	}
	if n := strings.Count(errs, "::error "); n != 6 {
		t.Errorf("%d annotations on standard error, want 6", n)
	}
	for _, s := range j.Searches {
		if s.Strategy == "getset" && (s.Par["LIE"] != 1 || s.AsExpected || !s.Complete || s.States == 0 || len(s.Verdicts) != 5 || len(s.Expected) != 4 || s.Trace == "") {
			t.Errorf("%+v", s)
		}
	}
}

// The witness of a deviation is a link that shows the verdict.
func TestVerifyTraceReplays(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	_, out, _ := callIn(t, "[search budget=pause=1]\ntoken OVERLAP@1\n", "verify", "--contract", "contract.txt", "--json")
	var j verifyJSON
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t, "run", j.Deviations[0].Trace, "--expect", "overlap,stale-write")
	if code != exitOK {
		t.Errorf("exit status %d: %s", code, errs)
	}
}

// Ctrl-C: what was not checked is no pass, anywhere.
func TestVerifyInterrupted(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	junit := filepath.Join(t.TempDir(), "verify.xml")
	var out, errs bytes.Buffer
	code := run(ctx, []string{"verify", "--junit", junit}, strings.NewReader(""), &out, &errs, func(string) string { return "" })
	if code != exitNoAnswer || !strings.Contains(errs.String(), "incomplete") || !strings.Contains(out.String(), fmt.Sprintf("Incomplete: 0 of %d cells", allCells())) {
		t.Errorf("exit status %d: %s%s", code, out.String(), errs.String())
	}
	text, err := os.ReadFile(junit)
	if err != nil {
		t.Fatal(err)
	}
	if tests, errors := bytes.Count(text, []byte("<testcase ")), bytes.Count(text, []byte("<error ")); tests != errors || tests < allCells() {
		t.Errorf("%d tests and %d errors", tests, errors)
	}
}
