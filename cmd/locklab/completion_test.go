package main

import (
	"slices"
	"strings"
	"testing"

	"locklab/reports/lessons"
	"locklab/scenarios"
)

// A shell completes the names that a command takes at this place, and no others.
func TestCompletion(t *testing.T) {
	for _, test := range []struct {
		line string // what was typed; its last word is completed
		has  string // some of what is offered
		not  string // what is not
	}{
		{"", "demo chart completion", "token"},
		{"chart ", "par sweep", "demo"},
		{"chart par ", "", "token"},
		{"play ", "quiz token 002-C", "gc-pause"},
		{"run ", "token 002-C 003-A redlock", "gc-pause"},
		{"run 002-", "002-C", "token"},
		{"run token ", "gc-pause R18", "redlock"},
		{"run token gc-pause ", "", "gc-pause"},
		{"run token gc-pause --expect ", "OVERLAP HOLDS N/A", "token"},
		{"run token gc-pause --view ", "lanes story", "token"},
		{"run LINK --against red", "redlock", "token"},
		{"explain ", "path interview lease token R18 003-C", "LINK"},
		{"explain token ", "gc-pause R18", "token"},
		{"explain interview ", "ttl", "token"},
		{"explore ", "token", "gc-pause"},
		{"lesson ", "path debate token R18 stamps", "LINK"},
		{"lesson token ", "redlock gc-pause", "LINK"},
		{"lesson token --open ", "worksheet", "lanes"},
		{"list ", "faults", "token"},
		{"matrix --strategies ", "token 002-C", "gc-pause"},
		{"matrix --strategies token,redl", "token,redlock", "token"},
		{"matrix --scenarios R18,R2", "R18,R20 R18,R21", "R18"},
		{"play token --harm ", "DEADLOCK", "HOLDS"},
		{"chart sweep pause/ttl --verdict ", "OVERLAP", "HOLDS"},
		{"play quiz --lesson ", "10 token gc-pause", "redis"},
		{"completion ", "bash fish", "token"},
		{"demo --lang ", "zh both", "token"},
	} {
		offered := offers(t, strings.Split(test.line, " ")...)
		for _, name := range strings.Fields(test.has) {
			if !slices.Contains(offered, name) {
				t.Errorf("%q does not offer %s", test.line, name)
			}
		}
		if slices.Contains(offered, test.not) || test.has == "" && len(offered) > 0 {
			t.Errorf("%q offers %s, or too much: %v", test.line, test.not, offered)
		}
	}
}

// offers returns what a shell offers for the last word.
func offers(t *testing.T, words ...string) (names []string) {
	t.Helper()
	code, out, _ := call(t, append([]string{"__complete"}, words...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; code != exitOK || last != ":4" { // without files
		t.Errorf("%q: exit status %d, directive %s", words, code, last)
	}
	for _, line := range lines[:len(lines)-1] {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
	}
	return names
}

// Files are offered where they are taken, and beside a name stands what it is, in the reader's language.
func TestCompletionSays(t *testing.T) {
	for _, line := range []string{"merge ", "check "} {
		if _, out, _ := call(t, append([]string{"__complete"}, strings.Split(line, " ")...)...); !strings.HasSuffix(out, ":0\n") {
			t.Errorf("%q: %s", line, out)
		}
	}
	race, err := scenarios.ByName("R18")
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := call(t, "__complete", "--lang", "zh", "run", "token", "R18")
	if want := "R18\t" + lessons.Story("zh", race, "title") + "\n"; !strings.Contains(out, want) {
		t.Errorf("%q, want %q", out, want)
	}
}

// Every shell gets a script that asks locklab.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shellNames {
		if code, script, errs := call(t, "completion", shell); code != exitOK || errs != "" || !strings.Contains(script, "__complete") {
			t.Errorf("%s: exit status %d, %s%.200s", shell, code, errs, script)
		}
	}
}
