package bubble

import (
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience is how long, in real time, code may run before it must have come to rest.
const patience = 3 * time.Second

// firstLook is the time, on the machine's clock, that code may run before the first look at what it does,
// and nextLook the time until the next look; then twice as long each time.
const (
	firstLook = 30 * time.Millisecond
	nextLook  = 20 * time.Millisecond
)

// stalled returns what keeps code from coming to rest: a goroutine of a bubble that runs,
// or that is blocked otherwise than durably. blocked is one of the latter, if nothing of
// the bubble runs that could wake it; "": there is none.
func (x *execution) stalled() (e *StallError, blocked string) {
	e = &StallError{Client: x.h.ID}
	runs := false
	for _, g := range goroutines() {
		if !strings.HasSuffix(g.state, x.bubble) || strings.Contains(g.state, "durable") || strings.Contains(g.stack, "bubble.(*execution).agent") {
			continue
		}
		state, _, _ := strings.Cut(g.state, ",")
		switch {
		case !slices.Contains(blocking, state):
			runs = true
			if blocked != "" {
				continue
			}
		case blocked != "":
			continue
		default:
			blocked = g.name
		}
		e.State, e.Stack = state, g.stack
	}
	if runs {
		blocked = ""
	}
	return e, blocked
}

// blocking are the states of goroutines that only something else can wake.
var blocking = []string{"chan receive", "chan send", "select", "select (no cases)", "chan receive (nil chan)", "chan send (nil chan)",
	"sync.Cond.Wait", "sync.WaitGroup.Wait", "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "IO wait", "sleep"}

// stuck returns where code stands that waits for nothing that could come.
func (x *execution) stuck() *StallError {
	e := &StallError{Client: x.h.ID, Stuck: true}
	for _, g := range goroutines() {
		if strings.HasSuffix(g.state, x.bubble) && strings.Contains(g.stack, "bubble.(*execution).begin") {
			e.Stack = g.stack
			if e.State, _, _ = strings.Cut(g.state, " ("); strings.Contains(g.stack, "begin.func1()") {
				break // the program's own
			}
		}
	}
	return e
}

// stacks is room for the stacks of all goroutines, which the searches of a program use in turn.
var stacks struct {
	sync.Mutex
	room []byte
}

// A routine is one goroutine.
type routine struct {
	name  string // "12"
	state string // "chan receive, synctest bubble 7"
	stack string
}

// goroutines returns all of them.
func goroutines() (all []routine) {
	stacks.Lock()
	defer stacks.Unlock()
	for {
		if n := runtime.Stack(stacks.room, true); n < len(stacks.room) {
			for one := range strings.SplitSeq(string(stacks.room[:n]), "\n\n") {
				all = append(all, routineOf(one))
			}
			return all
		}
		stacks.room = make([]byte, 2*len(stacks.room)+1<<20)
	}
}

// running returns the goroutine that runs, without its stack.
func running() routine {
	var b [128]byte
	return routineOf(string(b[:runtime.Stack(b[:], false)]))
}

// routineOf reads a goroutine as runtime.Stack writes it.
func routineOf(written string) routine {
	head, stack, _ := strings.Cut(written, "\n")
	name, state, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
	state, _, _ = strings.Cut(state, "]")
	return routine{name, state, stack}
}

// bubble returns the name of the bubble in which it runs: "synctest bubble 7".
func bubble() string {
	state := running().state
	return state[strings.LastIndex(state, ",")+1:]
}

// lineOf returns a place of a source file as it is shown: folder/file.go:12.
func lineOf(file string, line int) string {
	return path.Join(path.Base(path.Dir(file)), path.Base(file)) + ":" + strconv.Itoa(line)
}

// mainLines are the watched lines at which the program's own goroutine stands: for what
// a goroutine does that a library has started.
func (x *execution) mainLines() (lines []string) {
	for _, g := range goroutines() {
		if g.name != x.main {
			continue
		}
		for l := range strings.Lines(g.stack) {
			place, _, _ := strings.Cut(strings.TrimSpace(l), " ")
			file, line, ok := strings.Cut(place, ".go:")
			n, err := strconv.Atoi(line)
			if ok && err == nil && x.h.Watch(file+".go") {
				lines = append(lines, lineOf(file+".go", n))
			}
		}
	}
	return lines
}
