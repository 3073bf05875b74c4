//go:build !js

package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/reports/page"
)

// TestPolicies: a page loads nothing but what it says, and asks nobody but its own server, if it
// has one. Its scripts stand in it, so that is what a policy has to allow.
func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		write   func(w io.Writer) error
		connect []string // "'none'": nobody
		more    []string // sources beside what stands in the page
	}{
		"one file": {func(w io.Writer) error { return page.WriteBoard(w, page.Board{Engine: []byte("x")}) },
			[]string{"'none'"}, []string{"blob:", "'wasm-unsafe-eval'"}},
		"a folder": {func(w io.Writer) error { return page.WriteBoard(w, page.Board{EngineFile: "x"}) },
			[]string{"'self'"}, []string{"blob:", "'wasm-unsafe-eval'"}},
		"a server": {func(w io.Writer) error { return page.WriteBoard(w, page.Board{}) }, []string{"'self'"},
			[]string{"blob:", "'wasm-unsafe-eval'"}},
		"a report": {func(w io.Writer) error { return page.Write(w, page.Report{}) }, []string{"'none'"}, nil},
		"of a run": {func(w io.Writer) error { return page.WriteRuns(w, page.Runs{}) }, []string{"'none'"}, nil},
		"in a tongue": {func(w io.Writer) error { return page.Write(w, page.Report{Lang: "zh"}) },
			[]string{"'none'"}, nil},
	} {
		var content bytes.Buffer
		if err := c.write(&content); err != nil {
			t.Fatal(err)
		}
		policy := policyOf(t, name, content.String())
		sources := func(directive string) []string {
			if s, ok := policy[directive]; ok || !strings.HasSuffix(directive, "-src") {
				return s
			}
			return policy["default-src"]
		}
		for directive, want := range map[string][]string{"default-src": {"'none'"}, "base-uri": {"'none'"},
			"form-action": {"'none'"}, "connect-src": c.connect} {
			if got := sources(directive); !slices.Equal(got, want) {
				t.Errorf("%s: %s %q, want %q", name, directive, got, want)
			}
		}
		for directive, all := range policy {
			for _, source := range all {
				if directive != "connect-src" &&
					!slices.Contains(append(c.more, "'none'", "'unsafe-inline'", "data:"), source) {
					t.Errorf("%s: %s allows %s", name, directive, source)
				}
			}
		}
	}
}

// policyOf returns the sources of each directive of a page's policy, which stands before anything
// that it is about.
func policyOf(t *testing.T, name, content string) map[string][]string {
	t.Helper()
	before, after, _ := strings.Cut(content, `<meta http-equiv="Content-Security-Policy" content="`)
	if strings.Contains(before, "<s") { // <script, <style, <svg
		t.Errorf("%s: there is something before the policy", name)
	}
	said, _, found := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("%s has no policy", name)
	}
	policy := map[string][]string{}
	for _, d := range regexp.MustCompile(`\s*;\s*`).Split(said, -1) {
		words := strings.Fields(d)
		if len(words) < 2 {
			t.Fatalf("%s: the directive %q names no source", name, d)
		}
		if _, twice := policy[words[0]]; !twice { // the first counts
			policy[words[0]] = words[1:]
		}
	}
	return policy
}
