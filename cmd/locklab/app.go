package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"locklab/reports"
)

// app is one call of the program.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	json   bool
	lang   string
	color  string
	width  int
	failed error // an outcome that is no mistake, but changes the exit status
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *app {
	return &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: getenv}
}

// defaultWidth is for output that is not on a terminal, so that what is saved
// does not depend on where.
const defaultWidth = 120

// settle checks the common flags and fills in what the environment says.
func (a *app) settle() error {
	switch a.lang {
	case "":
		a.lang = "en"
		if strings.HasPrefix(a.getenv("LC_ALL")+a.getenv("LANG"), "zh") {
			a.lang = "zh"
		}
	case "en", "zh", "both":
	default:
		return fmt.Errorf("--lang %q: write en, zh or both", a.lang)
	}
	switch a.color {
	case "auto", "always", "never":
	default:
		return fmt.Errorf("--color %q: write auto, always or never", a.color)
	}
	switch {
	case a.width < 0 || a.width > 0 && a.width < 40:
		return fmt.Errorf("--width %d: give 40 columns or more", a.width)
	case a.width == 0:
		a.width = defaultWidth
		if f, ok := terminal(a.stdout); ok {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= 40 {
				a.width = w
			}
		}
	}
	return nil
}

func terminal(w any) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

func (a *app) options() reports.Options {
	_, tty := terminal(a.stdout)
	color := a.color == "always" || a.color == "auto" && tty && a.getenv("NO_COLOR") == ""
	return reports.Options{Width: a.width, Lang: a.lang, Color: color}
}

// say picks the language of one of the command's own sentences.
func (a *app) say(en, zh string) string {
	switch a.lang {
	case "zh":
		return zh
	case "both":
		return en + "\n" + zh
	}
	return en
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }

// next ends an output with at most three commands to try.
func (a *app) next(commands ...string) {
	a.printf("\n%s\n", a.say("Next:", "接下来："))
	for _, c := range commands[:min(3, len(commands))] {
		a.printf("  %s\n", c)
	}
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return internal(e.Encode(v))
}

// write makes a file in one move: a reader sees the old one or the new one.
func (a *app) write(name string, fill func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return internal(fmt.Errorf("%s: %w", name, err))
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	if err := maybe.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	fmt.Fprintln(a.stderr, "wrote "+name)
	return nil
}

// progress shows how far long work has come, on a terminal only.
func (a *app) progress(total int, what string) (done func(n int), end func()) {
	f, ok := terminal(a.stderr)
	if !ok {
		return nil, func() {}
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(n int) { _ = bar.Set(n) }, func() { _ = bar.Finish() }
}
