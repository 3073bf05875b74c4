package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"testing"
	"time"
)

// TestProgressLines: off a terminal a line is printed when more is done, not again and again.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := newTestEnv(io.Discard, io.Discard)
	ticks := make(chan time.Time)
	done, end := e.progressLines(&out, 2, "progress.runs", time.Now(), ticks)
	for _, n := range []int{0, 0, 1, 1, 2, 2} {
		done(n)
		ticks <- time.Time{} // taken when the line before is printed
		ticks <- time.Time{}
	}
	end()
	if got := regexp.MustCompile(`runs \d/\d`).FindAllString(out.String(), -1); !slices.Equal(got, []string{"runs 1/2", "runs 2/2"}) {
		t.Errorf("%q", out.String())
	}
}

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
