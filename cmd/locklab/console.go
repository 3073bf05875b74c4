package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/race"
)

// A console is where a command prints: its printer writes to standard output.
type console struct {
	*text.Printer
	stdout *output
	stderr io.Writer
	getenv func(string) string

	json  bool   // --json
	color string // --color
}

// output is standard output. It keeps the first error and accepts everything after that,
// so that a full disk there does not keep files from being written.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.to.Write(b)
	}
	return len(b), nil
}

// terminal returns the terminal that a stream is; false: it is a file or a pipe.
func terminal(w any) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

func (c *console) look() reports.Look {
	_, tty := terminal(c.Out)
	color := c.color == "always" || c.color == "auto" && tty && c.getenv("NO_COLOR") == "" && c.getenv("TERM") != "dumb"
	return reports.Look{Width: c.Width, Lang: c.Lang, Color: color}
}

// show prints a result: v as a document of a kind, or the sentences of tell. Printing has no error for the
// command that prints: the first one is kept, and reported when the command has ended.
func (c *console) show(kind string, v any, tell func()) {
	if c.json {
		c.Keep(reports.WriteJSON(c.Out, kind, v))
	} else {
		tell()
	}
}

// into returns a console whose text goes elsewhere.
func (c *console) into(w io.Writer) *console {
	to := *c
	to.Printer, to.json, to.color = c.To(w, c.Width), false, "never"
	return &to
}

// lanes prints a run.
func (c *console) lanes(o *race.Outcome) {
	c.Keep(reports.Lanes(c.Out, o.History, o.Judgement, c.look()))
}

// chart prints a table.
func (c *console) chart(r chart.Result) { c.Keep(chart.Text(c.Out, r, c.look())) }

// inform prints a sentence to standard error.
func (c *console) inform(key string, pairs ...string) {
	fmt.Fprintln(c.stderr, presentable(c.Say(key, pairs...)))
}

// onPage prints the address of what was shown on the page that LOCKLAB_PAGE names, if any: a view and words, or a link.
func (c *console) onPage(words ...string) {
	if page := c.getenv("LOCKLAB_PAGE"); page != "" {
		c.Printf("  %s#%s\n", page, strings.Join(words, "."))
	}
}

// report prints what went wrong and returns the exit status. An error that is no exitError is wrong use.
func (c *console) report(err error) int {
	if err == nil {
		return exitOK
	}
	if message := strings.TrimSpace(c.Error(err)); message != "" {
		fmt.Fprintln(c.stderr, "locklab: "+presentable(message))
	}
	if ended := (*exitError)(nil); errors.As(err, &ended) {
		return ended.code
	}
	return exitUsage
}
