package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/scenarios/search"
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

// callIn is call in a folder with a contract.txt, so that what is printed does not depend on where that is.
func callIn(t *testing.T, contract string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(fileWith(t, contract, t.TempDir(), "contract.txt")))
	code, stdout, stderr = call(t, args...)
	t.Chdir(home)
	return code, stdout, stderr
}

// What people see of a contract that is wrong in every way, as text, as files and as JSON. The line under a deviation
// is a command that shows it: it runs, and where it plays a race its exit status says the same.
func TestVerify(t *testing.T) {
	effort.Unwatched(t, "TestVerify of package contract searches on all cores")
	dir := t.TempDir()
	junit, summary := filepath.Join(dir, "verify.xml"), filepath.Join(dir, "summary.md")
	verify := []string{"verify", "--contract", "contract.txt", "--annotations", "github"}
	code, out, errs := callIn(t, doctored, append(verify, "--junit", junit, "--summary", summary)...)
	if code != exitDiffers || strings.Count(errs, "wrote ") != 2 {
		t.Errorf("exit status %d, standard error %q", code, errs)
	}
	golden(t, "verify.txt", out)
	_, chinese, _ := callIn(t, doctored, append(verify, "--lang", "zh")...)
	golden(t, "verify.zh.txt", chinese)

	lines := 0
	for _, m := range regexp.MustCompile(`(?m)^  locklab (.*)$`).FindAllStringSubmatch(out, -1) {
		lines++
		want := exitOK // explore shows what there is
		switch {
		case strings.HasPrefix(m[1], "run "):
			want = exitDiffers
		case strings.Contains(m[1], "--max-states 20"):
			want = exitNoAnswer
		}
		if code, _, errs := call(t, strings.Fields(strings.ReplaceAll(m[1], "'", ""))...); code != want {
			t.Errorf("%s: exit status %d, want %d: %s", m[1], code, want, errs)
		}
	}
	failed := 0
	cases := strings.Split(contentOf(t, junit), "<testcase ")[1:]
	for _, c := range cases {
		name, body, _ := strings.Cut(c, ">")
		if strings.Contains(body, "<failure") || strings.Contains(body, "<error") {
			failed++
			if !strings.Contains(body, "reproduce: locklab ") || strings.Contains(name, "pause") &&
				!strings.Contains(body, "!! ") {
				t.Errorf("no line to reproduce it, or no witness: %s", c)
			}
		}
	}
	if lines != 6 || len(cases) != 8 || failed != 6 {
		t.Errorf("%d lines to reproduce with, %d of %d cases failed, want 6 of 8", lines, failed, len(cases))
	}
	for _, want := range []string{"| clients=2,attempts=2,budget=crash=1 | HOLDS |", "**differs** OVERLAP@1",
		"Not proved, but searched in lockstep only, where messages take no time: within these bounds"} {
		if page := contentOf(t, summary); !strings.Contains(page, want) {
			t.Errorf("the summary lacks %q:\n%s", want, page)
		}
	}

	_, out, errs = callIn(t, doctored, append(verify, "--json")...)
	j := dataOf[struct {
		verifyJSON
		Searches []struct {
			Lock, Trace     string
			Expected, Found []string
			AsExpected      bool `json:"as_expected"`
			Search          search.Search
		} `json:"searches"`
	}](t, out, "verify")
	if j.Incomplete || j.Cells != 2 || len(j.Searches) != 6 || len(j.Deviations) != 6 ||
		strings.Count(errs, "::error ") != 6 {
		t.Errorf("%s%s", out, errs)
	}
	for _, s := range j.Searches {
		whole := slices.Contains(s.Found, "LIE@1") && !s.AsExpected && s.Search.Complete && s.Search.States > 0 &&
			len(s.Found) == 5 && len(s.Expected) == 4 && s.Trace != ""
		if s.Lock == "getset" && !whole {
			t.Errorf("%+v", s)
		}
	}
	// its witness
	if code, _, errs := call(t, "run", j.Deviations[0].Trace, "--expect", "overlap,stale-write"); code != exitOK {
		t.Errorf("exit status %d: %s", code, errs)
	}
}

// The exit status, and what is said: one mistake at a time.
func TestVerifyStatus(t *testing.T) {
	const short, proof = "[search max-states=20 budget=crash=1]\ntoken HOLDS\n", "[prove budget=crash=any]\n"
	for _, c := range []struct {
		contract string
		code     int
		want     string
	}{
		{"[gc-pause]\ntoken OVERLAP STALE-WRITE\n[search budget=pause=1]\ntoken OVERLAP@1 STALE-WRITE@1 ORPHAN@1\n",
			exitOK, "1 cell and 1 search as contracted."},
		{short, exitNoAnswer, "could not tell: the search was cut short"},
		{short + "[gc-pause]\ntoken HOLDS\n", exitDiffers, "1 of 1 cell and 1 of 1 search not as contracted."},
		{proof + "setnx DEADLOCK@1\n", exitOK, "1 proof for any number of clients as contracted."},
		{proof + "setnx HOLDS\n", exitDiffers, "contract.txt:2: setnx in clients=any,attempts=any,budget=crash=any: " +
			"DEADLOCK@1 occurs, contracted HOLDS\n  locklab prove setnx --budget 'crash=any'\n"},
		{proof + "zk-naive HOLDS\n", exitNoAnswer,
			"could not tell: there is no proof: the lock lives on a ZooKeeper ensemble"},
		{"[gc-pause]\ntoken HOLDS\n[search]\n", exitUsage, "contract.txt:3: [search] has no line under it"},
		{"[locks]\n", exitUsage, "contract.txt:1: [locks] has no line under it"},
	} {
		code, out, errs := callIn(t, c.contract, "verify", "--contract", "contract.txt")
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: exit status %d, want %d with %q:\n%s%s", c.contract, code, c.code, c.want, out, errs)
		}
	}
}

// Ctrl-C: what was not checked is no pass, anywhere.
func TestVerifyInterrupted(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "verify.xml")
	code, out, errs := stopped(t, "verify", "--junit", junit)
	if code != exitNoAnswer || !strings.Contains(errs, "incomplete") ||
		!strings.Contains(out, fmt.Sprintf("Incomplete: 0 of %d cells", allCells())) {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
	text := contentOf(t, junit)
	if tests, errors := strings.Count(text, "<testcase "), strings.Count(text, "<error "); tests != errors ||
		tests < allCells() {
		t.Errorf("%d tests and %d errors", tests, errors)
	}
}
