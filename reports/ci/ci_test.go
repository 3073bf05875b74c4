package ci

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"locklab/reports/internal/samples"
	"locklab/scenarios/contract"
)

// nasty is what file formats stumble over: control characters, bytes that are no
// text, the ends of what encloses it, and what commands are made of.
const nasty = "50 % of <x> & \"y\"\r\nESC \x1b[31m NUL \x00 bad \xff end ]]> fence ``` pipe | \uffff :,:"

func nastyVerification() *Verification {
	return &Verification{Checks: []Check{
		{Lock: "token", Subject: "gc-pause", File: "a:b,c%.txt", Line: 3, Want: "HOLDS", Got: "OVERLAP",
			Status: contract.Differs,
			Why:    nasty, Reproduce: "locklab run token gc-pause --expect holds", Trace: "locklab2-x"},
		{Lock: "token", Subject: "clients=2", Kind: Search, File: "f", Line: 4, Want: "HOLDS", Status: contract.Inconclusive,
			Why: "cut short", Reproduce: "locklab explore token", Certificate: nasty},
		{Lock: "setnx", Subject: "clients=2", Kind: Search, File: "f", Line: 5, Want: "HOLDS", Got: "HOLDS",
			Status: contract.Met, Certificate: "proved"},
		{Lock: "setnx", Subject: "gc-pause", File: "f", Line: 6, Want: "HOLDS"},
	}}
}

// What a reader decodes is what was written, but for what XML cannot hold.
func TestJUnit(t *testing.T) {
	text := samples.Written(t, nastyVerification().JUnit)
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
	for _, want := range []string{"50 % of <x> & \"y\"", "ESC �[31m NUL � bad � end ]]> fence",
		"contract: a:b,c%.txt:3: HOLDS", "replay: locklab run locklab2-x"} {
		if !strings.Contains(first.Failure.Text, want) {
			t.Errorf("the body lacks %q:\n%s", want, first.Failure.Text)
		}
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
	text := samples.Written(t, nastyVerification().Annotations)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 2 || strings.Contains(text, "\r") {
		t.Fatalf("%d lines, want one for each deviation:\n%q", len(lines), text)
	}
	const first = "::error file=a%3Ab%2Cc%25.txt,line=3,title=token/gc-pause::50 %25 of <x> & \"y\"%0D%0AESC "
	if !strings.HasPrefix(lines[0], first) || !strings.HasSuffix(lines[0],
		"%0Alocklab run token gc-pause --expect holds") {
		t.Errorf("%q", lines[0])
	}
}

// GitHub shows ten of a step and drops the rest silently.
func TestAnnotationsAreFew(t *testing.T) {
	for n, want := range map[int]int{8: 8, 9: 9, 10: 9, 200: 9} {
		v := &Verification{}
		for i := range n {
			v.Checks = append(v.Checks, Check{Lock: "token", Subject: fmt.Sprint(i), Status: contract.Differs})
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
	text := samples.Written(t, nastyVerification().Summary)
	for _, want := range []string{
		"Incomplete: 1 of 2 cells and 2 of 2 searches done, 2 not as contracted.",
		"### token/gc-pause", "| race | token | setnx |", "| gc-pause | **differs** OVERLAP | not checked |",
		"| search | token | setnx |", "| clients=2 | **could not tell**  | HOLDS |",
		"<details><summary>setnx/clients=2: HOLDS</summary>",
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
	v := &Verification{}
	for i := range 3000 {
		v.Checks = append(v.Checks, Check{Lock: "token", Subject: fmt.Sprint("s", i), Kind: Search, Got: "HOLDS",
			Status: contract.Met, Certificate: strings.Repeat("long ", 200)})
	}
	text := samples.Written(t, v.Summary)
	if len(text) > MaxSummary || len(text) < MaxSummary/2 {
		t.Errorf("%d bytes, at most %d", len(text), MaxSummary)
	}
	for _, want := range []string{"3000 searches as contracted", "| s2999 | HOLDS |", "parts are left out"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if fences := strings.Count(text, "```"); fences%2 != 0 {
		t.Errorf("%d fences: one is open", fences)
	}
}

func TestCounts(t *testing.T) {
	ok, bad := Check{Status: contract.Met}, Check{Status: contract.Differs}
	search, none := Check{Kind: Search, Status: contract.Met}, Check{Kind: Search}
	proof := Check{Kind: Proof, Status: contract.Met}
	for want, checks := range map[string][]Check{
		"1 cell and 1 search as contracted.":    {ok, search},
		"2 cells and 0 searches as contracted.": {ok, ok},
		"1 of 2 cells and 0 of 2 searches not as contracted.": {ok, bad, search,
			search},
		"Incomplete: 1 of 1 cell and 1 of 2 searches done, 1 not as contracted.": {bad, search, none},
		"1 cell, 1 search and 1 proof for any number of clients as contracted.":  {ok, search, proof},
		"0 of 0 cells, 0 of 0 searches and 1 of 2 proofs for any number of clients not as contracted.": {proof,
			{Kind: Proof, Status: contract.Differs}},
		"Incomplete: 0 of 0 cells and 0 of 1 search done, 0 not as contracted.": {none},
	} {
		v := &Verification{Checks: slices.Clone(checks)}
		if got := v.Counts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is not covered is named, and is neither a pass nor a failure.
func TestUncovered(t *testing.T) {
	v := &Verification{
		Checks:    []Check{{Lock: "token", Subject: "gc-pause", Status: contract.Met}},
		Uncovered: []Uncovered{{Lock: "whole"}, {Lock: "part", Races: []string{"calm", "restart"}}},
	}
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
