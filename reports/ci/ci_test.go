package ci

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"locklab/reports/internal/samples"
	"locklab/scenarios/contract"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// nasty is what file formats stumble over: control characters, bytes that are no
// text, the ends of what encloses it, and what commands are made of.
const nasty = "50 % of <x> & \"y\"\r\nESC \x1b[31m NUL \x00 bad \xff end ]]> fence ``` pipe | \uffff :,:"

// of is what became of a lock in a race, of a search by so many clients, or of a proof.
func of(lockID, subject string, status contract.Status, got ...contract.ExpectedVerdict) contract.Result {
	r := contract.Result{Status: status, Got: got}
	r.Lock.ID, r.File, r.Line, r.Expected = lockID, "a:b,c%.txt", 3, holds
	if clients, err := strconv.Atoi(subject); err == nil {
		r.Bounds = contract.UsualBounds()
		r.Bounds.Clients = clients
	} else if subject == "proof" {
		r.Attempts = "any"
	} else {
		r.Race.ID = subject
	}
	return r
}

var holds = []contract.ExpectedVerdict{{Verdict: verdict.Holds, Par: -1}}

// verification has the same certificate for each search.
func verification(certificate string, results ...contract.Result) *Verification {
	return &Verification{Results: results, Certificate: func(r *contract.Result) string {
		if r.IsSearch() {
			return certificate
		}
		return ""
	}}
}

func nastyVerification(t *testing.T) *Verification {
	differs := of("token", "gc-pause", contract.Differs, contract.ExpectedVerdict{Verdict: verdict.Overlap, Par: -1})
	differs.Reasons = []i18n.Message{i18n.New("unmet.limit", "limit", nasty)}
	differs.Outcome = samples.Played(t, "token", "gc-pause")
	return verification(nasty, differs, of("token", "2", contract.Inconclusive),
		of("setnx", "2", contract.Met, holds...), of("setnx", "gc-pause", contract.NotRun))
}

// What a reader decodes is what was written, but for what XML cannot hold.
func TestJUnit(t *testing.T) {
	text := samples.Written(t, nastyVerification(t).JUnit)
	var got junitSuites
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got.Tests != 4 || got.Failures != 1 || got.Errors != 2 || len(got.Suites) != 3 {
		t.Errorf("%d tests, %d failures, %d errors in %d suites", got.Tests, got.Failures, got.Errors, len(got.Suites))
	}
	first := got.Suites[0].Cases[0]
	if first.Name != "token/gc-pause" || first.Failure == nil {
		t.Fatalf("%+v", first)
	}
	for _, want := range []string{`50 % of <x> & "y"`, `ESC \x1b[31m NUL`,
		"contract: a:b,c%.txt:3: HOLDS", "replay: locklab run locklab2-"} {
		if !strings.Contains(first.Failure.Text, want) {
			t.Errorf("the body lacks %q:\n%s", want, first.Failure.Text)
		}
	}
	const certificate = "ESC �[31m NUL � bad � end ]]> fence"
	if cut := got.Suites[1].Cases[0].Error; cut == nil || !strings.Contains(cut.Text, certificate) {
		t.Errorf("the certificate is %+v", cut)
	}
	if last := got.Suites[0].Cases[1]; last.Error == nil || !strings.Contains(last.Error.Message, "not checked") {
		t.Errorf("what was not checked looks like a pass: %+v", last)
	}
	if strings.Contains(text, "time=") {
		t.Error("there are times in it")
	}
}

// A workflow command is one line, and ends where it should.
func TestAnnotations(t *testing.T) {
	text := samples.Written(t, nastyVerification(t).Annotations)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 2 || strings.Contains(text, "\r") {
		t.Fatalf("%d lines, want one for each deviation:\n%q", len(lines), text)
	}
	const first = "::error file=a%3Ab%2Cc%25.txt,line=3,title=token/gc-pause::the run does not come to its end: " +
		`50 %25 of <x> & "y"\r%0AESC \x1b[31m`
	const last = "%0Alocklab run token gc-pause --expect holds"
	if !strings.HasPrefix(lines[0], first) || !strings.HasSuffix(lines[0], last) {
		t.Errorf("%q", lines[0])
	}
}

// GitHub shows ten of a step and drops the rest silently.
func TestAnnotationsAreFew(t *testing.T) {
	for n, want := range map[int]int{8: 8, 9: 9, 10: 9, 200: 9} {
		v := &Verification{}
		for i := range n {
			v.Results = append(v.Results, of("token", fmt.Sprint("r", i), contract.Differs))
		}
		text := samples.Written(t, v.Annotations)
		if got := strings.Count(text, "::error "); got != want {
			t.Errorf("%d annotations of %d deviations, want %d", got, n, want)
		}
		if says := fmt.Sprintf("and %d more", n-8); strings.Contains(text, says) != (n > 9) {
			t.Errorf("%d deviations: %q is there: %t", n, says, n <= 9)
		}
	}
}

func TestSummary(t *testing.T) {
	text := samples.Written(t, nastyVerification(t).Summary)
	for _, want := range []string{
		"Incomplete: 1 of 2 cells and 2 of 2 searches done, 2 not as contracted.",
		"### token/gc-pause", "| race | token | setnx |", "| gc-pause | **differs** OVERLAP | not checked |",
		"| search | token | setnx |", "| clients=2,attempts=2,budget=none | **could not tell**  | HOLDS |",
		"<details><summary>setnx/clients=2,attempts=2,budget=none: HOLDS</summary>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !utf8.ValidString(text) {
		t.Error("it is no text")
	}
}

// A summary that is too long loses its end, says so, and keeps its tables.
func TestSummaryIsShort(t *testing.T) {
	v := verification(strings.Repeat("long ", 200))
	for i := range 3000 {
		v.Results = append(v.Results, of("token", fmt.Sprint(i), contract.Met, holds...))
	}
	text := samples.Written(t, v.Summary)
	if len(text) > MaxSummary || len(text) < MaxSummary/2 {
		t.Errorf("%d bytes, at most %d", len(text), MaxSummary)
	}
	for _, want := range []string{"3000 searches as contracted",
		"| clients=2999,attempts=2,budget=none | HOLDS |", "parts are left out"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if fences := strings.Count(text, "```"); fences%2 != 0 {
		t.Errorf("%d fences: one is open", fences)
	}
}

func TestCounts(t *testing.T) {
	ok, bad := of("token", "calm", contract.Met), of("token", "calm", contract.Differs)
	search, none := of("token", "2", contract.Met), of("token", "2", contract.NotRun)
	proof, unproved := of("token", "proof", contract.Met), of("token", "proof", contract.Differs)
	for want, results := range map[string][]contract.Result{
		"1 cell and 1 search as contracted.":                                     {ok, search},
		"2 cells and 0 searches as contracted.":                                  {ok, ok},
		"1 of 2 cells and 0 of 2 searches not as contracted.":                    {ok, bad, search, search},
		"Incomplete: 1 of 1 cell and 1 of 2 searches done, 1 not as contracted.": {bad, search, none},
		"1 cell, 1 search and 1 proof for any number of clients as contracted.":  {ok, search, proof},
		"0 of 0 cells, 0 of 0 searches and 1 of 2 proofs for any number of clients not as contracted.": {
			proof, unproved},
		"Incomplete: 0 of 0 cells and 0 of 1 search done, 0 not as contracted.": {none},
	} {
		if got := verification("", results...).Counts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is not covered is named, and is neither a pass nor a failure.
func TestUncovered(t *testing.T) {
	v := verification("", of("token", "gc-pause", contract.Met))
	v.Uncovered = []Uncovered{{Lock: "whole"}, {Lock: "part", Races: []string{"calm", "restart"}}}
	want := "1 cell and 0 searches as contracted. Not covered by the contract: whole; part (in calm, restart)."
	if got := v.Counts(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if text := samples.Written(t, v.Summary); !strings.Contains(text, want) {
		t.Errorf("the summary does not say it:\n%s", text)
	}
	junit := samples.Written(t, v.JUnit)
	for _, want := range []string{
		`<testsuites name="locklab verify" tests="3" failures="0" errors="0" skipped="2">`,
		`<skipped message="not covered by the contract"></skipped>`, `name="part (in calm, restart)"`,
	} {
		if !strings.Contains(junit, want) {
			t.Errorf("JUnit has no %s:\n%s", want, junit)
		}
	}
	if v.Deviations() != nil || samples.Written(t, v.Text) != "" {
		t.Error("it passes for a deviation")
	}
}
