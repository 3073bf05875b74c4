package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// TestFormat: a picture has the shape that is asked for; a panel or a shape that there is
// not is named with those that there are, and no file is written.
func TestFormat(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	file := filepath.Join(t.TempDir(), "x.png")
	const waiting = "waiting --clients 2 --policies fixed,line -o FILE"
	for _, c := range []struct {
		command       string
		width, height int // of the picture; 0: there is none
		says          string
	}{
		{waiting, 1600, 900, ""},
		{waiting + " --size 4:3 --panel entry", 1600, 1200, ""},
		{waiting + " --size square --title Mine", 1600, 1600, ""},
		{waiting + " --panel nope", 0, 0, `no panel "nope"; its panels: handover; commands; `},
		{"rate --strategies setnx -o FILE --panel nope", 0, 0, `no panel "nope"; its panels: setnx; crash`},
		{waiting + " --size 3:1", 0, 0, `"3:1" is no size of a picture: write one of 16:9, 4:3, square`},
	} {
		os.Remove(file)
		code, _, errs := call(t, strings.Fields(strings.ReplaceAll(c.command, "FILE", file))...)
		if want := map[bool]int{true: exitOK, false: exitUsage}[c.width > 0]; code != want || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit status %d, want %d: %s", c.command, code, want, errs)
		}
		drawn, err := os.Open(file)
		if (err == nil) != (c.width > 0) {
			t.Errorf("%s: %v", c.command, err)
		}
		if err != nil {
			continue
		}
		picture, err := png.DecodeConfig(drawn)
		drawn.Close()
		if err != nil || picture.Width != c.width || picture.Height != c.height {
			t.Errorf("%s: %d x %d, want %d x %d: %v", c.command, picture.Width, picture.Height, c.width, c.height, err)
		}
	}
}
