package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// paged prints what tell prints. On a terminal that is too low for it the text goes
// through a pager: $PAGER, or else less, with colours and without clearing the
// screen; where neither can be started it is printed as it is.
func (a *app) paged(tell func() error) error {
	out, tty := terminal(a.Out)
	if !tty || a.json {
		return tell()
	}
	var text bytes.Buffer
	a.pages, a.Out = out, &text
	err := tell()
	a.pages, a.Out = nil, out
	if _, rows, sizeErr := term.GetSize(int(out.Fd())); err == nil && sizeErr == nil && bytes.Count(text.Bytes(), []byte("\n")) >= rows {
		if a.page(text.Bytes(), out) {
			return nil
		}
	}
	a.Printf("%s", text.Bytes())
	return err
}

// page hands a text to the pager; false: it could not be started.
func (a *app) page(text []byte, out io.Writer) bool {
	pager := a.getenv("PAGER")
	if pager == "" {
		pager = "less"
	}
	words := strings.Fields(pager)
	if len(words) == 0 {
		return false
	}
	c := exec.Command(words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), out, a.stderr
	if a.getenv("LESS") == "" {
		c.Env = append(os.Environ(), "LESS=FRX")
	}
	if err := c.Start(); err != nil {
		return false
	}
	_ = c.Wait() // its status says how the reader left
	return true
}
