package simulator

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// ShowCode has the lab note, for every Send and every Sleep, the lines of the
// packages below path pkg by which the client's code asked for it: Event.Code. A client's
// code is real code with a call stack, so nothing is declared and nothing can
// drift. To be called before the first world; it costs about a microsecond
// wherever code runs, and nothing where a table answers.
func (l *Simulator) ShowCode(pkg string) { l.watched = pkg }

// whence is where the running code is within the watched package, the innermost
// call first; nil: nobody looks.
func (l *Simulator) whence() (lines []string) {
	if l.watched == "" {
		return nil
	}
	var pcs [64]uintptr // go-redis, the lab and the lock together take about thirty
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, l.watched+"/") && strings.HasSuffix(f.File, ".go") {
			lines = append(lines, path.Join(path.Base(path.Dir(f.File)), path.Base(f.File))+":"+strconv.Itoa(f.Line))
		}
		if !more {
			return lines
		}
	}
}

// whence is where thread t asked for what it waits for at entry n.
func (n *procNode) whence(t int) []string {
	if n.code == nil {
		return nil
	}
	return n.code[t]
}
