package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
)

// env is the environment of one call of the program: its streams, its language, and the flags
// that all commands have. Its printer writes to standard output.
type env struct {
	*text.Printer
	ctx    context.Context // ends with Ctrl-C; of the command that runs
	stdin  io.Reader
	stdout *output
	stderr io.Writer
	getenv func(string) string

	command string // as it was typed
	running *cobra.Command
	json    bool
	lang    string // --lang as given
	width   int    // --width as given
	color   string
	helped  error    // what is wrong with a request for help
	pages   *os.File // the terminal, while output is collected for its pager

	computer share.Computer    // of the tasks of the command that runs; nil: this process computes all of them
	inputs   map[string]string // the files that a share depends on, by name; nil: this is no share
	merges   bool              // inputs are those of shares: no others are read
}

func newEnv(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *env {
	out := &output{to: stdout}
	p := &text.Printer{Out: out, Lang: "en", Width: defaultWidth}
	return &env{Printer: p, ctx: context.Background(), stdin: stdin, stdout: out, stderr: stderr, getenv: getenv,
		color: "auto"}
}

// execute runs the command that is in args.
func (e *env) execute(ctx context.Context, args []string) error {
	root := newRoot(e)
	completeFlags(e, root, args)
	root.SetArgs(args)
	root.SetOut(e.Out)
	root.SetErr(e.stderr)
	return root.ExecuteContext(ctx)
}

// given reports whether a flag of the running command was given.
func (e *env) given(flag string) bool { return e.running.Flags().Changed(flag) }

// defaultWidth is for output that does not go to a terminal, so that saved output does
// not depend on the place.
const defaultWidth = 120

// languages are the values of --lang.
func languages() []string { return append(text.Languages(), text.Both) }

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// sayLanguages is those that there are, for a sentence.
func sayLanguages(e *env) string { return text.Join(e.Langs()[0], "chart.list", text.Languages()) }

// guessLanguage chooses language and width before the flags are parsed, for help texts
// and errors: by --lang, or else by the environment, and by the terminal.
func (e *env) guessLanguage(args []string) {
	e.Lang = cmp.Or(text.OfLocale(e.getenv), e.Lang)
	for i, arg := range args {
		lang, given := strings.CutPrefix(arg, "--lang=")
		if arg == "--lang" && i+1 < len(args) {
			lang, given = args[i+1], true
		}
		if given && slices.Contains(languages(), lang) {
			e.Lang = lang
		}
	}
	if f, ok := terminal(e.Out); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= minWidth {
			e.Width = w
		}
	}
}

const minWidth = 40

// checkCommonFlags checks the flags that all commands have.
func (e *env) checkCommonFlags() error {
	if e.lang != "" && !slices.Contains(languages(), e.lang) {
		return text.Errorf("error.lang", "value", e.lang, "languages", sayLanguages(e))
	}
	if !slices.Contains(colors, e.color) {
		return text.Errorf("error.color", "value", e.color)
	}
	switch {
	case e.width < 0 || e.width > 0 && e.width < minWidth:
		return text.Errorf("error.width", "value", e.width, "least", minWidth)
	case e.width > 0:
		e.Width = e.width
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

func (e *env) look() reports.Look {
	_, tty := terminal(e.Out)
	tty = tty || e.pages != nil
	color := e.color == "always" || e.color == "auto" && tty && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
	return reports.Look{Width: e.Width, Lang: e.Lang, Color: color}
}

// show prints a result: v as JSON, or the sentences of tell. Printing has no error for the command that prints: the
// first one is kept, and reported when the command has ended.
func (e *env) show(v any, tell func()) {
	if e.json {
		e.printJSON(v)
	} else {
		tell()
	}
}

func (e *env) printJSON(v any) { e.Keep(encode(e.Out, v)) }

// lanes prints a run.
func (e *env) lanes(o *race.Outcome) { e.Keep(reports.Lanes(e.Out, o.History, o.Judgement, e.look())) }

// chart prints a table.
func (e *env) chart(c chart.Result) { e.Keep(chart.Text(e.Out, c, e.look())) }

// encode writes JSON as all commands do.
func encode(w io.Writer, v any) error {
	entry := json.NewEncoder(w)
	entry.SetIndent("", "  ")
	entry.SetEscapeHTML(false)
	return entry.Encode(v)
}

// inform prints a sentence to standard error.
func (e *env) inform(key string, pairs ...string) {
	fmt.Fprintln(e.stderr, presentable(e.Say(key, pairs...)))
}

// paged prints what tell prints. If that is longer than the terminal, it goes through a
// pager: $PAGER, or else less, with colours and without clearing the screen. If none can
// be started, it is printed directly.
func (e *env) paged(tell func() error) error {
	out, tty := terminal(e.Out)
	if !tty || e.json {
		return tell()
	}
	var text bytes.Buffer
	e.pages, e.Out = out, &text
	err := tell()
	e.pages, e.Out = nil, out
	if _, rows, sizeErr := term.GetSize(int(out.Fd())); err == nil && sizeErr == nil &&
		bytes.Count(text.Bytes(), []byte("\n")) >= rows {
		if e.page(text.Bytes(), out) {
			return nil
		}
	}
	e.Printf("%s", text.Bytes())
	return err
}

// pagerEnds is the time that a pager has to end in when the program is stopped.
const pagerEnds = 2 * time.Second

// page shows a text in the pager, until its reader ends it or the program is stopped, and reports whether the pager
// could be started.
func (e *env) page(text []byte, out io.Writer) bool {
	pager := e.getenv("PAGER")
	if pager == "" {
		pager = "less"
	}
	words := strings.Fields(pager)
	if len(words) == 0 {
		return false
	}
	c := exec.CommandContext(e.ctx, words[0], words[1:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // so that it can restore the terminal
	c.WaitDelay = pagerEnds
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), out, e.stderr
	if e.getenv("LESS") == "" {
		c.Env = append(os.Environ(), "LESS=FRX")
	}
	if err := c.Start(); err != nil {
		return false
	}
	_ = c.Wait() // the status does not matter
	return true
}

// progress shows the progress of long work: a bar on a terminal, a line now and then where
// standard error is another file or a pipe. what is a key.
func (e *env) progress(total int, what string) (done func(n int), end func()) {
	f, ok := terminal(e.stderr)
	if f == nil {
		return func(int) {}, func() {}
	}
	began := time.Now()
	if !ok {
		tick := time.NewTicker(betweenLines)
		lines, last := e.progressLines(f, total, what, began, tick.C)
		return lines, func() { tick.Stop(); last() }
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(e.Say(what)),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	_ = bar.RenderBlank() // before the first task is done, which may be long
	return func(n int) {
		bar.Describe(e.Say(what) + e.left(n, total, time.Since(began)))
		_ = bar.Set(n)
	}, func() { _ = bar.Finish() }
}

// work returns the way to compute the tasks of the command, with their progress shown.
func (e *env) work(total int, what string) (w *share.Work, end func()) {
	done, end := e.progress(total, what)
	return &share.Work{Computer: e.computer, Done: done}, end
}

// inStages returns work that shows one progress for all of its stages, in their order, and what ends that.
func inStages(e *env, stages []report.Stage) (work report.Worker, end func()) {
	total := 0.0
	for _, s := range stages {
		total += s.Seconds
	}
	const steps = 100
	done, end := e.progress(steps, "progress.whole")
	next, before := 0, 0.0
	return func(tasks int, what string) (*share.Work, func()) {
		for next < len(stages) && stages[next].What != what { // it was left out
			before += stages[next].Seconds
			next++
		}
		from, seconds := before, 0.0
		if next < len(stages) {
			seconds = stages[next].Seconds
		}
		to := func(share float64) { done(int(steps * (from + seconds*share) / total)) }
		return &share.Work{Done: func(n int) { to(float64(n) / float64(tasks)) }}, func() { to(1) }
	}, end
}

// betweenLines is the time between two lines of progress.
const betweenLines = 10 * time.Second

// progressLines prints a line at each tick, if more is done than at the one before.
func (e *env) progressLines(w io.Writer, total int, what string, began time.Time,
	ticks <-chan time.Time) (done func(n int), end func()) {
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
					fmt.Fprintf(w, "%s %d/%d%s\n", e.Say(what), n, total, e.left(n, total, time.Since(began)))
				}
			}
		}
	}()
	return func(n int) { finished.Store(int64(n)) }, sync.OnceFunc(func() { close(stop); <-stopped })
}

// left returns an estimate of the time left, in words; "": too little is done for one, since
// long tasks come first.
func (e *env) left(n, total int, elapsed time.Duration) string {
	if n*20 < total || n == 0 || n >= total {
		return ""
	}
	rest := time.Duration(float64(elapsed) * float64(total-n) / float64(n))
	return e.First("progress.left", "time", rest.Round(time.Second).String())
}
