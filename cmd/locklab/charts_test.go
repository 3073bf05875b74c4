package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// TestFormat: a picture is 16:9, with notes below it if they are asked for, and --title names it.
func TestFormat(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	file := filepath.Join(t.TempDir(), "x.png")
	var before []byte
	for _, flags := range []string{"", " --title Mine", " --notes"} {
		if code, _, errs := call(t, strings.Fields("chart waiting --clients 2 --policies fixed,line -o "+file+flags)...); code != exitOK {
			t.Fatal(errs)
		}
		drawn, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.DecodeConfig(bytes.NewReader(drawn))
		if err != nil || picture.Width != 1600 || (picture.Height == 900) == (flags == " --notes") || bytes.Equal(drawn, before) {
			t.Errorf("%q: %d x %d, the same as before: %t; %v", flags, picture.Width, picture.Height, bytes.Equal(drawn, before), err)
		}
		before = drawn
	}
}
