package main

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"locklab/algorithms"
	"locklab/reports/report"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

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
	if unfinished := (*exitError)(nil); !errors.As(writeAll(e, dir, files), &unfinished) || unfinished.code != exitNoAnswer || drawn != 2 {
		t.Errorf("%v, %d of 4 are drawn", unfinished, drawn)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestStoppedGrid: what is printed after Ctrl-C makes no link for each cell, which took seconds.
func TestStoppedGrid(t *testing.T) {
	locks, races := algorithms.Milestones()[:1], scenarios.All()[:1]
	cells, err := study.Matrix(t.Context(), locks, races, 0, nil, nil)
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
