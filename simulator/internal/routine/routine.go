// Package routine reads where goroutines stand, as package runtime writes it.
package routine

import (
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Routine is one goroutine.
type Routine struct {
	Name  string // "12"
	State string // "chan receive, synctest bubble 7"
	Stack string
}

// stacks is room for the stacks of all goroutines, which the searches of a program use in turn.
var stacks struct {
	sync.Mutex
	room []byte
}

// All returns all goroutines.
func All() (all []Routine) {
	stacks.Lock()
	defer stacks.Unlock()
	for {
		if n := runtime.Stack(stacks.room, true); n < len(stacks.room) {
			for one := range strings.SplitSeq(string(stacks.room[:n]), "\n\n") {
				all = append(all, read(one))
			}
			return all
		}
		stacks.room = make([]byte, 2*len(stacks.room)+1<<20)
	}
}

// Current returns the goroutine that runs, without its stack.
func Current() Routine {
	var b [128]byte
	return read(string(b[:runtime.Stack(b[:], false)]))
}

// read reads a goroutine as runtime.Stack writes it.
func read(written string) Routine {
	head, stack, _ := strings.Cut(written, "\n")
	name, state, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
	state, _, _ = strings.Cut(state, "]")
	return Routine{name, state, stack}
}

// Does returns the first part of the state: "chan receive".
func (r Routine) Does() string {
	does, _, _ := strings.Cut(r.State, ",")
	return does
}

// Bubble returns the goroutine's bubble of testing/synctest, "synctest bubble 7"; "": it is in none.
func (r Routine) Bubble() string {
	if at := strings.Index(r.State, "synctest bubble "); at >= 0 {
		return r.State[at:]
	}
	return ""
}

// Durable reports whether the goroutine is durably blocked: only its own bubble ends that.
func (r Routine) Durable() bool { return strings.Contains(r.State, "(durable)") }

// locks are the states of goroutines that wait for others that run: for moments, or as long as a
// machine is busy. waits are all in which only time or another goroutine ends what they wait for.
var (
	locks = []string{"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}
	waits = append([]string{"sleep", "chan receive", "chan send", "select", "select (no cases)",
		"chan receive (nil chan)", "chan send (nil chan)", "sync.Cond.Wait", "sync.WaitGroup.Wait",
		"IO wait"}, locks...)
)

// Waits reports whether the goroutine waits for time, or for other goroutines, and Locks whether it waits for a lock.
func (r Routine) Waits() bool { return slices.Contains(waits, r.Does()) }
func (r Routine) Locks() bool { return slices.Contains(locks, r.Does()) }

// Runs reports whether the goroutine runs, or waits for a processor only.
func (r Routine) Runs() bool {
	return slices.Contains([]string{"running", "runnable", "preempted"}, r.Does())
}

// Lines returns the lines at which the running code is, innermost call first, in functions and files that of selects.
func Lines(of func(function, file string) bool) (lines []string) {
	var pcs [96]uintptr // a client library, the simulator and a lock together take about thirty
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if of(f.Function, f.File) {
			lines = append(lines, Line(f.File, f.Line))
		}
		if !more {
			return lines
		}
	}
}

// Line returns a place of a source file as it is shown: folder/file.go:12.
func Line(file string, line int) string {
	return path.Join(path.Base(path.Dir(file)), path.Base(file)) + ":" + strconv.Itoa(line)
}
