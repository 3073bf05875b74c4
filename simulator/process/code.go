package process

import (
	"path"
	"runtime"
	"strconv"
	"strings"
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
	var pcs [64]uintptr // go-redis, the simulator and the lock together take about thirty
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, p.watched+"/") && strings.HasSuffix(f.File, ".go") {
			lines = append(lines, path.Join(path.Base(path.Dir(f.File)), path.Base(f.File))+":"+strconv.Itoa(f.Line))
		}
		if !more {
			return lines
		}
	}
}

// CodeOf returns the lines at which thread t asked for the operation that it waits for at the entry.
func (e *Entry) CodeOf(t int) []string {
	if e.Code == nil {
		return nil
	}
	return e.Code[t]
}
