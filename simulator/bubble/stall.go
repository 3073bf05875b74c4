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

// firstLook is how long, in real time, code may run before somebody looks at what it does,
// and nextLook how long after that again; then twice as long each time.
const (
	firstLook = 30 * time.Millisecond
	nextLook  = 20 * time.Millisecond
)

// stalled says what keeps code from coming to rest: a goroutine of a bubble that runs,
// or that is blocked otherwise than durably. blocked is one of the latter, if nothing of
// the bubble runs that could wake it; "": there is none.
func (x *execution) stalled() (e *StallError, blocked string) {
	e = &StallError{Client: x.h.ID}
	runs := false
	for _, g := range goroutines() {
		head, stack, _ := strings.Cut(g, "\n")
		name, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, "]")
		if !strings.HasSuffix(state, x.bubble) || strings.Contains(state, "durable") || strings.Contains(stack, "bubble.(*execution).agent") {
			continue
		}
		state, _, _ = strings.Cut(state, ",")
		switch {
		case !slices.Contains(blocking, state):
			runs = true
			if blocked != "" {
				continue
			}
		case blocked != "":
			continue
		default:
			blocked = name
		}
		e.State, e.Stack = state, stack
	}
	if runs {
		blocked = ""
	}
	return e, blocked
}

// blocking are the states of goroutines that only something else can wake.
var blocking = []string{"chan receive", "chan send", "select", "select (no cases)", "chan receive (nil chan)", "chan send (nil chan)",
	"sync.Cond.Wait", "sync.WaitGroup.Wait", "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "IO wait", "sleep"}

// stuck says where code stands that waits for nothing that could come.
func (x *execution) stuck() *StallError {
	e := &StallError{Client: x.h.ID, Stuck: true}
	for _, g := range goroutines() {
		head, stack, _ := strings.Cut(g, "\n")
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, "]")
		if strings.HasSuffix(state, x.bubble) && strings.Contains(stack, "bubble.(*execution).begin") {
			state, _, _ = strings.Cut(state, " (")
			e.State, e.Stack = state, stack
			if strings.Contains(stack, "begin.func1()") {
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

// goroutines are the stacks of all goroutines.
func goroutines() []string {
	stacks.Lock()
	defer stacks.Unlock()
	for {
		if n := runtime.Stack(stacks.room, true); n < len(stacks.room) {
			return strings.Split(string(stacks.room[:n]), "\n\n")
		}
		stacks.room = make([]byte, 2*len(stacks.room)+1<<20)
	}
}

// bubble is the name of the bubble in which it runs: "synctest bubble 7".
func bubble() string {
	var b [128]byte
	head, _, _ := strings.Cut(string(b[:runtime.Stack(b[:], false)]), "]")
	return head[strings.LastIndex(head, ",")+1:]
}

// lineOf is a place of a source file as it is shown: folder/file.go:12.
func lineOf(file string, line int) string {
	return path.Join(path.Base(path.Dir(file)), path.Base(file)) + ":" + strconv.Itoa(line)
}

// goroutine is the name of the goroutine that runs.
func goroutine() string {
	var b [32]byte
	return strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1]
}

// mainLines are the watched lines at which the program's own goroutine stands: for what
// a goroutine does that a library has started.
func (x *execution) mainLines() (lines []string) {
	for _, g := range goroutines() {
		if !strings.HasPrefix(g, "goroutine "+x.main+" ") {
			continue
		}
		for _, l := range strings.Split(g, "\n") {
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
