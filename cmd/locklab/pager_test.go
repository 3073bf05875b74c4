package main

import (
	"bytes"
	"testing"
)

// A pager gets the whole text; one that cannot be started gets nothing, and the text is
// then printed. No shell reads $PAGER.
func TestPage(t *testing.T) {
	for pager, want := range map[string]bool{"cat": true, "cat -u": true, "no-such-pager-here": false, " ": false, "cat;cat": false, "$(cat)": false, "cat|cat": false} {
		var out bytes.Buffer
		e := newEnv(nil, &out, &bytes.Buffer{}, func(name string) string {
			if name == "PAGER" {
				return pager
			}
			return ""
		})
		if got := e.page([]byte("long\n"), &out); got != want || want && out.String() != "long\n" {
			t.Errorf("%q: %t, %q", pager, got, out.String())
		}
	}
}
