package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/share"
)

// env is the environment of one call: where it prints and reads, its files, and the flags that all commands have.
type env struct {
	*console
	outputs
	ctx   context.Context // ends with Ctrl-C; of the command that runs
	stdin io.Reader

	command string // as it was typed
	running *cobra.Command
	lang    string // --lang as given
	width   int    // --width as given
	cite    bool   // --cite: the command is cited, and not run
	helped  error  // what is wrong with a request for help

	whole    *whole            // of whose progress that of the work is a part; nil: each work has its own
	total    int               // of the tasks of the last work
	done     *atomic.Int64     // so many of them
	computer share.Computer    // of the tasks of the command that runs; nil: this process computes all of them
	inputs   map[string]string // the files that a share depends on, by name; nil: this is no share
	merges   bool              // inputs are those of shares: no others are read
}

func newEnv(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *env {
	out := &output{to: stdout}
	p := &text.Printer{Out: out, Lang: "en", Width: defaultWidth}
	c := &console{Printer: p, stdout: out, stderr: stderr, getenv: getenv, color: "auto"}
	return &env{console: c, ctx: context.Background(), stdin: stdin, done: new(atomic.Int64)}
}

// execute runs the command that is in args. A lock and a race without a command are run, and so is a link.
func (e *env) execute(ctx context.Context, args []string) error {
	defer e.dropAll()
	if len(args) > 0 && isLink(args[0]) || len(args) > 1 && isNamed(args[0]) && !strings.HasPrefix(args[1], "-") {
		args = append([]string{"run"}, args...)
	}
	root := newRoot(e)
	root.SetArgs(args)
	root.SetOut(e.Out)
	root.SetErr(e.stderr)
	return root.ExecuteContext(ctx)
}

// given reports whether a flag of the running command was given.
func (e *env) given(flag string) bool { return e.running.Flags().Changed(flag) }

// remake is the command that makes a page again, in its language, wherever it is typed.
func (e *env) remake() string {
	if e.Lang == "en" || strings.Contains(e.command, " --lang") {
		return e.command
	}
	return e.command + " --lang " + e.Lang
}

// showHere is show, unless the files of -o have what tell says. failed is why they have not been written:
// a size that is refused is all there is to say.
func showHere(e *env, failed error, kind string, v any, tell func()) {
	if e.json || failed != nil && !errors.As(failed, new(chart.SizeError)) || !e.given("out") {
		e.show(kind, v, tell)
	}
}

// defaultWidth is for output that does not go to a terminal, so that saved output does not depend on the place.
const defaultWidth = 120

// languages are the values of --lang.
func languages() []string { return append(text.Languages(), text.Both) }

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// sayLanguages is those that there are, for a sentence.
func sayLanguages(p *text.Printer) string {
	return text.Join(p.Langs()[0], "chart.list", text.Languages())
}

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
		return text.Errorf("error.lang", "value", e.lang, "languages", sayLanguages(e.Printer))
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

// work returns the way to compute the command's tasks, with their progress shown: as what, or as a part of the whole.
func (e *env) work(total int, what string) (w *share.Work, end func()) {
	if e.whole != nil {
		return e.whole.work(total)
	}
	show, end := e.progress(total, what)
	e.total = total
	return &share.Work{Computer: e.computer, Done: func(n int) {
		e.done.Store(int64(n))
		show(n)
	}}, end
}

// input returns the content of a file on which results depend. A share contains it, so that a merge needs no file.
func (e *env) input(name string, limit int64) (string, error) {
	if e.merges {
		content, found := e.inputs[name]
		if !found {
			return "", text.Errorf("error.share.input", "file", name)
		}
		return content, nil
	}
	content, err := readFile(name, limit)
	if err == nil && e.inputs != nil {
		e.inputs[name] = string(content)
	}
	return string(content), err
}

// untilStopped does what may wait forever, such as reading a pipe. Ctrl-C ends the waiting, not the work: what that
// sets must not be used after an error.
func (e *env) untilStopped(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-e.ctx.Done():
		return noAnswer("error.stopped")
	}
}
