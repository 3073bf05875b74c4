package main

import (
	"bytes"
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
