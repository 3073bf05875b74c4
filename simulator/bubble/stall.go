package bubble

import (
	"strconv"
	"strings"
	"time"

	"locklab/simulator/internal/routine"
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
	for _, g := range routine.All() {
		if !strings.HasSuffix(g.State, x.bubble) || strings.Contains(g.State, "durable") || strings.Contains(g.Stack, "bubble.(*execution).agent") {
			continue
		}
		switch {
		case !g.Waits():
			runs = true
			if blocked != "" {
				continue
			}
		case blocked != "":
			continue
		default:
			blocked = g.Name
		}
		e.State, e.Stack = g.Does(), g.Stack
	}
	if runs {
		blocked = ""
	}
	return e, blocked
}

// stuck returns where code stands that waits for nothing that could come.
func (x *execution) stuck() *StallError {
	e := &StallError{Client: x.h.ID, Stuck: true}
	for _, g := range routine.All() {
		if strings.HasSuffix(g.State, x.bubble) && strings.Contains(g.Stack, "bubble.(*execution).begin") {
			e.Stack = g.Stack
			if e.State, _, _ = strings.Cut(g.State, " ("); strings.Contains(g.Stack, "begin.func1()") {
				break // the program's own
			}
		}
	}
	return e
}

// bubble returns the name of the bubble in which it runs: "synctest bubble 7".
func bubble() string {
	state := routine.Current().State
	return state[strings.LastIndex(state, ",")+1:]
}

// mainLines are the watched lines at which the program's own goroutine stands: for what
// a goroutine does that a library has started.
func (x *execution) mainLines() (lines []string) {
	for _, g := range routine.All() {
		if g.Name != x.main {
			continue
		}
		for l := range strings.Lines(g.Stack) {
			place, _, _ := strings.Cut(strings.TrimSpace(l), " ")
			file, line, ok := strings.Cut(place, ".go:")
			n, err := strconv.Atoi(line)
			if ok && err == nil && x.h.Watch(file+".go") {
				lines = append(lines, routine.Line(file+".go", n))
			}
		}
	}
	return lines
}
