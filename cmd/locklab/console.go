package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

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

	json  bool     // --json
	color string   // --color
	pages *os.File // the terminal, while output is collected for its pager
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
	tty = tty || c.pages != nil
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

// paged prints what tell prints. If that is longer than the terminal, it goes through a
// pager: $PAGER, or else less, with colours and without clearing the screen. If none can
// be started, it is printed directly. The pager ends with ctx.
func (c *console) paged(ctx context.Context, tell func() error) error {
	out, tty := terminal(c.Out)
	if !tty || c.json {
		return tell()
	}
	var text bytes.Buffer
	c.pages, c.Out = out, &text
	err := tell()
	c.pages, c.Out = nil, out
	if _, rows, sizeErr := term.GetSize(int(out.Fd())); err == nil && sizeErr == nil &&
		bytes.Count(text.Bytes(), []byte("\n")) >= rows {
		if c.page(ctx, text.Bytes(), out) {
			return nil
		}
	}
	c.Printf("%s", text.Bytes())
	return err
}

// pagerEnds is the time that a pager has to end in when the program is stopped.
const pagerEnds = 2 * time.Second

// page shows a text in the pager, until its reader ends it or the program is stopped, and reports whether the pager
// could be started.
func (c *console) page(ctx context.Context, text []byte, out io.Writer) bool {
	pager := c.getenv("PAGER")
	if pager == "" {
		pager = "less"
	}
	words := strings.Fields(pager)
	if len(words) == 0 {
		return false
	}
	p := exec.CommandContext(ctx, words[0], words[1:]...)
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) } // so that it can restore the terminal
	p.WaitDelay = pagerEnds
	p.Stdin, p.Stdout, p.Stderr = bytes.NewReader(text), out, c.stderr
	if c.getenv("LESS") == "" {
		p.Env = append(os.Environ(), "LESS=FRX")
	}
	if err := p.Start(); err != nil {
		return false
	}
	_ = p.Wait() // the status does not matter
	return true
}

// report prints what went wrong and returns the exit status. An error that is no
// exitError is wrong use.
func (c *console) report(err error) int {
	if err == nil {
		return exitOK
	}
	if message := strings.TrimSpace(c.Error(err)); message != "" {
		fmt.Fprintln(c.stderr, "locklab: "+presentable(message))
	}
	return statusOfError(err)
}
