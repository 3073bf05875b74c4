package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

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
	if _, rows, sizeErr := term.GetSize(int(out.Fd())); err == nil && sizeErr == nil && bytes.Count(text.Bytes(), []byte("\n")) >= rows {
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
