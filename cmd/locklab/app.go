package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	command string          // as it was typed
	ctx     context.Context // ends with Ctrl-C; for what waits for a reader
	json    bool
	lang    string
	color   string
	width   int
	doom    *reports.Doom // of the run that is shown; nil: nobody asked
	stage   *stage        // what explain has played
	pages   *os.File      // the terminal, while what is printed is gathered for its pager
	failed  error         // output that could not be written
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
	tty = tty || a.pages != nil
	color := a.color == "always" || a.color == "auto" && tty && a.getenv("NO_COLOR") == ""
	o := reports.Options{Width: a.width, Lang: a.lang, Color: color}
	if a.doom != nil {
		o.NoReturn = a.doom.NoReturnEvent()
	}
	return o
}

// sentence prints one of the command's own sentences, wrapped, in each language.
func (a *app) sentence(en, zh string) {
	for _, lang := range a.langs() {
		a.wrap("", map[string]string{"en": en, "zh": zh}[lang])
	}
}

// say picks the language of a few words.
func (a *app) say(en, zh string) string {
	switch a.lang {
	case "zh":
		return zh
	case "both":
		return en + " / " + zh
	}
	return en
}

// printf writes to standard output. What could not be written ends the program
// with the first such error.
func (a *app) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(a.stdout, format, args...); err != nil && a.failed == nil {
		a.failed = internal(fmt.Errorf("cannot write the output: %w", err))
	}
}

// next ends an output with at most three commands to try.
func (a *app) next(commands ...string) {
	a.printf("\n%s\n", a.say("Next:", "接下来："))
	for _, c := range commands[:min(3, len(commands))] {
		a.printf("  %s\n", c)
	}
}

func (a *app) printJSON(v any) error { return internal(encode(a.stdout, v)) }

// encode writes JSON as all commands do.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
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

// writable says what keeps files from being written into dir, or into a dir that
// is yet to be made: to be asked before minutes of work, not after them.
func writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			dir = filepath.Dir(dir)
			continue
		case err != nil:
			return fmt.Errorf("cannot write there: %w", err)
		case !info.IsDir():
			return fmt.Errorf("cannot write there: %s is a file", dir)
		}
		probe, err := os.CreateTemp(dir, ".locklab-")
		if err != nil {
			return fmt.Errorf("cannot write there: %w", err)
		}
		return errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
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
