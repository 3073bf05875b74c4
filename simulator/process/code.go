package process

import (
	"strings"

	"locklab/simulator/internal/routine"
)

// ShowCode has every entry say by which lines of the packages below path pkg its
// operations were asked for: Entry.Code. A client's code is real code with a call
// stack, so nothing is declared and nothing can drift. To be called before the
// first observation; it costs about a microsecond wherever code runs, and nothing
// where the table answers.
func (p *Code) ShowCode(pkg string) { p.watched = pkg }

// callers returns the lines of the watched package at which the running code is, the innermost
// call first; nil: none is watched.
func (p *Code) callers() (lines []string) {
	if p.watched == "" {
		return nil
	}
	return routine.Lines(func(function, file string) bool {
		return strings.HasPrefix(function, p.watched+"/") && strings.HasSuffix(file, ".go")
	})
}

// CodeOf returns the lines at which thread t asked for the operation that it waits for at the entry.
func (e *Entry) CodeOf(t int) []string {
	if e.Code == nil {
		return nil
	}
	return e.Code[t]
}
