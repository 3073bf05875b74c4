package main

import (
	"bytes"
	"context"
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

// stopAtOutput is output that stops the program.
type stopAtOutput struct{ stop func() }

func (o stopAtOutput) Write(b []byte) (int, error) {
	o.stop()
	return len(b), nil
}

// A signal that stops the program ends the pager too: nobody may be there to close it.
func TestPagerStopped(t *testing.T) {
	shown := fileWith(t, "shown\n", t.TempDir(), "shown.txt")
	e := newEnv(nil, &bytes.Buffer{}, &bytes.Buffer{}, func(string) string { return "tail -f " + shown })
	ctx, stop := context.WithCancel(t.Context())
	e.ctx = ctx
	if !e.page([]byte("long\n"), stopAtOutput{stop}) || ctx.Err() == nil {
		t.Error("the pager did not start")
	}
}
