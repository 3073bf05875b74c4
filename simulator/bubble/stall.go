package bubble

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"locklab/simulator/internal/routine"
)

// The code of a client has this long to come to rest, of what the machine gives it: on a busy machine it takes longer
// on the wall.
const (
	patience = 3 * time.Second
	// manyTimes longer until what runs, and is not the code, has come to rest.
	manyTimes = 10
	// onTime is by how much a look may be late on a machine that has a processor for this process whenever it asks for
	// one.
	onTime = 10 * time.Millisecond
)

// firstLook is the time, on the machine's clock, that code may run before the first look at what it does,
// and nextLook the time until the next look; then twice as long each time.
const (
	firstLook = 30 * time.Millisecond
	nextLook  = 20 * time.Millisecond
)

// A chance is what code has had of the machine, at the looks at it so far.
type chance struct {
	worked time.Duration // for how long processors have worked for this process
	idle   time.Duration // between looks that were on time: what waits, and not for a processor, could have gone on
	calm   bool          // the last look was on time
}

// look notes a look that was to come after a time, and came after another one, and for how long processors have worked
// until then.
func (c *chance) look(due, came, worked time.Duration) {
	if c.worked, c.calm = worked, came-due <= onTime; c.calm {
		c.idle += came
	}
}

// over reports whether code whose goroutine is in a state has had its chance, and what it was. "": what runs is not
// the code.
func (c *chance) over(state string) (after time.Duration, works, is bool) {
	most := patience
	if state == "" {
		most *= manyTimes
	}
	switch {
	case c.worked > most:
		return c.worked, true, true
	case !routine.Runs(state):
		return c.idle, false, c.idle > most
	}
	return 0, false, false
}

// Worked returns for how long processors have worked for this process: other work on the machine does not count.
func Worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rest waits until the code has come to rest, as reports has it, or the bubble has ended. The error is a *StallError.
func (x *execution) rest(reports <-chan struct{}) (ended bool, err error) {
	look := time.NewTimer(firstLook)
	defer look.Stop()
	var (
		had     chance
		began   = time.Now()
		worked  = Worked()
		last    = began
		due     = firstLook
		next    = nextLook
		blocked string
	)
	for {
		select {
		case <-reports:
			return false, nil
		case <-x.ended:
			return true, nil
		case <-look.C:
		}
		had.look(due, time.Since(last), Worked()-worked)
		e, name := x.stalled()
		after, works, over := had.over(e.State)
		if name != "" && name == blocked && had.calm && !over {
			after, over = time.Since(began), true
		}
		if over {
			x.lost, e.After, e.Works = true, after.Round(time.Millisecond), works
			return false, e
		}
		blocked, last, due = name, time.Now(), next
		look.Reset(next)
		next *= 2 // to look stops all goroutines, of which thousands may be parked
	}
}

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
