package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/reports/report"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// TestProgressLines: off a terminal a line is printed when more is done, not again and again.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := &meter{newTestEnv(io.Discard, io.Discard).console, "progress.runs", 2, time.Now()}
	done, soon := paced(&out, 0, m.line), paced(&out, time.Hour, m.line)
	for _, n := range []int{0, 0, 1, 1, 2, 1, 2} {
		done(n)
		soon(n) // too soon after it began
	}
	if got := regexp.MustCompile(`runs \d/\d`).FindAllString(out.String(), -1); !slices.Equal(got,
		[]string{"runs 1/2", "runs 2/2"}) {
		t.Errorf("%q", out.String())
	}
}

// TestStages: the progress of a whole only grows, to the end of its last stage.
func TestStages(t *testing.T) {
	var shown []int
	all := &whole{seconds: 4, done: func(percent int) { shown = append(shown, percent) }}
	for _, seconds := range []float64{1, 1, 2} {
		all.begin(seconds)
		w, end := all.work(2)
		w.Done(1)
		end()
	}
	if want := []int{12, 25, 37, 50, 75, 100}; !slices.Equal(shown, want) {
		t.Errorf("%d, want %d", shown, want)
	}
}

// TestBar: a bar says how much is done, from the start.
func TestBar(t *testing.T) {
	m := &meter{newTestEnv(io.Discard, io.Discard).console, "progress.runs", 4, time.Now()}
	for n, full := range map[int]int{0: 0, 1: 7, 4: 30} {
		bar := "\rruns " + strings.Repeat("█", full) + strings.Repeat("░", 30-full) + fmt.Sprintf(" %d/4", n)
		if got := m.bar(n); !strings.HasPrefix(got, bar) || !strings.HasSuffix(got, "\x1b[K") {
			t.Errorf("%q, want %q", got, bar)
		}
	}
}

// TestStopped: Ctrl-C ends with status 3. What was not reached is neither a pass nor an answer, and of a part no file
// is written; a share keeps what it has, and says that it was stopped.
func TestStopped(t *testing.T) {
	none := fmt.Sprintf("incomplete, 0 of %d cells", allCells())
	for _, c := range []struct{ args, prints, says string }{
		{"matrix -o DIR", none, "incomplete"},
		{"chart tolerance --locks token --json -o DIR/x.csv", `"incomplete": true`, "incomplete"},
		{"chart par --locks token --json -o DIR/x.csv", `"incomplete": true`, "incomplete"},
		{"chart rate --locks token -o DIR/x.csv", "", "stopped"},
		{"chart rate --locks token -o DIR/x.csv --json", "", "stopped"},
		{"chart sweep ttl=5s:10s:1s --shard 1/2", `"stopped":true`, ""},
	} {
		dir := t.TempDir()
		code, out, errs := stopped(t, strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))...)
		said := strings.Contains(out, c.prints) && strings.Contains(errs, c.says) && (c.prints != "" || out == "")
		if code != exitNoAnswer || !said {
			t.Errorf("%s: exit status %d: %s%s", c.args, code, errs, out)
		}
		if strings.Contains(out, "came out as expected") || strings.Contains(out, "no meaning") {
			t.Errorf("%s: what was not played is told as if it had been: %s", c.args, out)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", c.args, left, err)
		}
	}
}

// impatient is a context that ends when it was looked at so many times.
type impatient struct {
	context.Context
	stop  context.CancelFunc
	looks int
}

func (i *impatient) Err() error {
	if i.looks--; i.looks == 0 {
		i.stop()
	}
	return i.Context.Err()
}

// A search that is stopped says that it was cut short and, with the shortest way to it, what it has found by then.
func TestExploreStopped(t *testing.T) {
	args := strings.Fields("explore token --timing any --attempts 1 --uses none --budget pause=1")
	for looks := 8; looks < 1<<10; looks += looks / 4 {
		ctx, stop := context.WithCancel(t.Context())
		code, out, errs := callWith(&impatient{ctx, stop, looks}, "", args...)
		stop()
		if code != exitNoAnswer || !strings.Contains(out, "cut short") {
			t.Fatalf("after %d looks: exit status %d: %s\n%s", looks, code, errs, out)
		}
		if strings.Contains(out, "The shortest way to OVERLAP:") {
			return
		}
	}
	t.Error("nothing was found")
}

// TestStoppedPictures: after Ctrl-C no further picture is drawn, and no file is written.
func TestStoppedPictures(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	e := newTestEnv(io.Discard, io.Discard)
	e.ctx = ctx
	drawn, dir := 0, t.TempDir()
	var files []report.File
	for _, name := range []string{"a.png", "b.svg", "c.csv", "report.html"} {
		files = append(files, report.File{Name: name, Fill: func(io.Writer) error {
			if drawn++; drawn == 2 {
				stop()
			}
			return nil
		}})
	}
	if unfinished := (*exitError)(nil); !errors.As(writeAll(e, dir, files), &unfinished) ||
		unfinished.code != exitNoAnswer || drawn != 2 {
		t.Errorf("%v, %d of 4 are drawn", unfinished, drawn)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestStoppedGrid: what is printed after Ctrl-C makes no link for each cell, which took seconds.
func TestStoppedGrid(t *testing.T) {
	locks, races := algorithms.Milestones()[:1], scenarios.All()[:1]
	cells, err := study.Matrix(t.Context(), locks, races, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	grid := report.Grid(locks, races, cells)
	if c := grid.Cells[0][0]; c.Trace != "" {
		t.Errorf("the link %.30s was made", c.Trace)
	}
	report.AddLinks(grid, []*race.Outcome{cells[0][0]})
	if c := grid.Cells[0][0]; c.Trace != cells[0][0].Trace.Link() {
		t.Errorf("the link is %q", c.Trace)
	}
}
