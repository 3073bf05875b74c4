package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/text"
)

// app is one call of the program. Its printer writes to standard output.
type app struct {
	*text.Printer
	ctx    context.Context // ends with Ctrl-C
	stdin  io.Reader
	stdout *output
	stderr io.Writer
	getenv func(string) string

	command string // as it was typed
	json    bool
	timed   bool   // --time: how long searches took is shown, which differs from call to call
	lang    string // --lang as given
	width   int    // --width as given
	color   string
	memory  int64       // --max-memory as given, in MB
	helped  error       // what is wrong with a request for help
	doom    *chart.Doom // of the run that is shown; nil: not requested
	// drawsRuns: a picture is of the run, and not of its doom
	drawsRuns bool
	pages     *os.File // the terminal, while output is collected for its pager

	elsewhere *elsewhere // nil: this process computes everything and reads its files
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *app {
	out := &output{to: stdout}
	p := &text.Printer{Out: out, Lang: "en", Width: defaultWidth}
	return &app{Printer: p, ctx: context.Background(), stdin: stdin, stdout: out, stderr: stderr, getenv: getenv, color: "auto"}
}

// defaultWidth is for output that does not go to a terminal, so that saved output does
// not depend on the place.
const defaultWidth = 120

// languages are the values of --lang.
func languages() []string { return append(text.Languages(), text.Both) }

// sayLanguages is those that there are, for a sentence.
func (a *app) sayLanguages() string { return text.Join(a.Langs()[0], "chart.list", text.Languages()) }

// guessLanguage chooses language and width before the flags are parsed, for help texts
// and errors: by --lang, or else by the environment, and by the terminal.
func (a *app) guessLanguage(args []string) {
	a.Lang = cmp.Or(text.OfLocale(a.getenv), a.Lang)
	for i, arg := range args {
		lang, given := strings.CutPrefix(arg, "--lang=")
		if arg == "--lang" && i+1 < len(args) {
			lang, given = args[i+1], true
		}
		if given && slices.Contains(languages(), lang) {
			a.Lang = lang
		}
	}
	if f, ok := terminal(a.Out); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= minWidth {
			a.Width = w
		}
	}
}

const minWidth = 40

// checkCommonFlags checks the flags that all commands have.
func (a *app) checkCommonFlags() error {
	if a.lang != "" && !slices.Contains(languages(), a.lang) {
		return text.Errorf("error.lang", "value", a.lang, "languages", a.sayLanguages())
	}
	if !slices.Contains([]string{"auto", "always", "never"}, a.color) {
		return text.Errorf("error.color", "value", a.color)
	}
	switch {
	case a.width < 0 || a.width > 0 && a.width < minWidth:
		return text.Errorf("error.width", "value", a.width, "least", minWidth)
	case a.width > 0:
		a.Width = a.width
	}
	return nil
}

func terminal(w any) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

func (a *app) options() reports.Options {
	_, tty := terminal(a.Out)
	tty = tty || a.pages != nil
	color := a.color == "always" || a.color == "auto" && tty && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
	o := reports.Options{Width: a.Width, Lang: a.Lang, Color: color}
	if a.doom != nil {
		o.NoReturn = a.doom.NoReturnEvent()
	}
	return o
}

func (a *app) printJSON(v any) error { return internal(encode(a.Out, v)) }

// encode writes JSON as all commands do.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// inform prints a sentence to standard error.
func (a *app) inform(key string, pairs ...string) {
	fmt.Fprintln(a.stderr, presentable(a.Say(key, pairs...)))
}

// progress shows the progress of long work: a bar on a terminal, a line now and then where
// standard error is another file or a pipe. what is a key.
func (a *app) progress(total int, what string) (done func(n int), end func()) {
	f, ok := terminal(a.stderr)
	if f == nil {
		return nil, func() {}
	}
	began := time.Now()
	if !ok {
		tick := time.NewTicker(betweenLines)
		lines, last := a.progressLines(f, total, what, began, tick.C)
		return lines, func() { tick.Stop(); last() }
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(a.Say(what)),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	_ = bar.RenderBlank() // before the first task is done, which may be long
	return func(n int) {
		bar.Describe(a.Say(what) + a.left(n, total, time.Since(began)))
		_ = bar.Set(n)
	}, func() { _ = bar.Finish() }
}

// betweenLines is the time between two lines of progress.
const betweenLines = 10 * time.Second

// progressLines prints a line at each tick, if more is done than at the one before.
func (a *app) progressLines(w io.Writer, total int, what string, began time.Time, ticks <-chan time.Time) (done func(n int), end func()) {
	var finished atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		last := 0
		for {
			select {
			case <-stop:
				return
			case <-ticks:
				if n := int(finished.Load()); n > last {
					last = n
					fmt.Fprintf(w, "%s %d/%d%s\n", a.Say(what), n, total, a.left(n, total, time.Since(began)))
				}
			}
		}
	}()
	return func(n int) { finished.Store(int64(n)) }, sync.OnceFunc(func() { close(stop); <-stopped })
}

// left is how much time is left, in words; "" as long as too little is done to tell: long
// tasks come first.
func (a *app) left(n, total int, elapsed time.Duration) string {
	if n*20 < total || n == 0 || n >= total {
		return ""
	}
	rest := time.Duration(float64(elapsed) * float64(total-n) / float64(n))
	return a.First("progress.left", "time", rest.Round(time.Second).String())
}
