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

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"locklab/reports"
	"locklab/reports/chart"
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
	return &env{Printer: p, ctx: context.Background(), stdin: stdin, stdout: out, stderr: stderr, getenv: getenv, color: "auto"}
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
func (e *env) chart(c chart.Table) { e.Keep(chart.Text(e.Out, c, e.look())) }

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
