// Package bubble runs the code of one client as it is: ordinary code on the standard
// library's clock, timers, goroutines and connections. It is a host of package process
// beside the coroutines there.
//
// An execution is a bubble of testing/synctest. Its root is an agent: it waits until
// all other goroutines of the bubble are durably blocked, reports that, and blocks on a
// channel that was made outside the bubble. That is no durable block, so the bubble's
// clock stands still until the agent is given the next observation.
//
// # Time
//
// The clock of a bubble cannot be read from outside, and nor can its timers. What code
// does next by itself is found by running it: for every new history of observations
// there is a second execution, the shadow, which first repeats the history and then
// lets time pass until the code does something that can be seen. That becomes a Sleep.
// The shadow must do what the first execution did; otherwise the code is not
// deterministic.
//
// Code whose behaviour does not depend on its clock needs no time in its history. So an
// execution that is not timed lets as little time pass as possible, and the shadow a lot
// more, at another date and hour. If they differ, or if a timer runs beside something else, the code must be
// timed: [NeedsTimeError]. Whether it then uses its clock only to measure is tried like that of coroutines: see process.Process.CheckMeasures.
//
// # What it cannot carry
//
// A goroutine that is blocked, but not durably, as on a mutex that is held across I/O,
// on a channel from outside the bubble or in a system call: [StallError]. A wall clock
// that is set back. A goroutine that is woken late, because its process was paused,
// reads the instant for which its timer was set.
package bubble

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"locklab/simulator/process"
)

// A Host starts executions of one client's code.
type Host struct {
	T       *testing.T
	ID      int           // the client's number, from 1
	Program func(*Handle) // the code
	Timed   bool          // as given to process.Process.SetHost
	// Horizon is the time for which a shadow looks for what the code does by itself. What comes
	// later does not come.
	Horizon time.Duration
	// Open makes the connections of one execution; see simulator.ClientConfig.
	Open func() func(server int) process.Wire
	// Servers is the number of servers, and Port the one at which they listen; 0: a Redis's.
	Servers int
	Port    int
	// Random, if it is not nil, is called before the code runs on, to seed what is random: with the test of the
	// bubble, a number that follows from the client and the length of its history, and that of the execution, from 1.
	Random func(t *testing.T, seed uint64, execution int)
	// Watch says of a source file whether its lines are to stand in Entry.Code; nil: of
	// none.
	Watch func(file string) bool
	// Once runs every history once, and without shadows: for code that is not
	// deterministic. It must be timed. A timer that runs beside a request is late: it
	// fires when the answer comes.
	Once bool

	// OtherDates, if it is not nil, is asked when an execution of code that is not timed begins: whether at another date and hour, each
	// at one of its own, with more time between what it observes.
	OtherDates func() bool
	// Drawn, if it is not nil, gives names to the values that the code draws and sends to Redis servers.
	Drawn *Drawn
	// Turn, if it is not nil, is that of all hosts whose executions run one at a time: for code that keeps in a variable of its package
	// what an execution has made. Where another one has run in between, an execution begins anew and goes through its history. Code
	// that is run Once has no Turn.
	Turn *Turn
	// Leaks, if it is not nil, counts executions that leave goroutines behind, of all hosts that share it.
	Leaks *Leaks

	executions int
	dates      int // that shadows, and executions at other dates, have begun at
}

func (h *Host) port() int { return cmp.Or(h.Port, 6379) }

// Start implements process.Host.
func (h *Host) Start() process.Execution {
	if h.OtherDates != nil && h.OtherDates() && !h.Timed {
		return h.takingTurns(h.start(h.extra()))
	}
	return h.takingTurns(h.start(0))
}

// Leaks are the executions that have left goroutines behind. An execution is stopped where its code waits, and what
// that has started may be for the code to end. Where the first one has left something behind, the code of others that
// are stopped goes on, while all that it asks for fails: what they leave behind it does not end.
type Leaks struct {
	goesOn bool
	N      int // of those whose code went on
}

// leak notes that an execution has left goroutines behind that nothing can wake.
func (h *Host) leak() {
	if h.Leaks == nil {
		h.Leaks = &Leaks{}
	}
	if h.Leaks.goesOn {
		h.Leaks.N++
	}
	h.Leaks.goesOn = true
}

// goesOn reports whether the code of executions that are stopped goes on.
func (h *Host) goesOn() bool { return h.Leaks != nil && h.Leaks.goesOn }

// extra returns the time that passes, for a shadow, before every observation of code that is not
// timed: longer than a lease, and than most time-outs, but not so long that a
// connection pool drops what is idle.
func (h *Host) extra() time.Duration { return h.Horizon }

// otherDate returns how much later the clock of the next shadow of code that is not timed begins: process.OtherDate.
func (h *Host) otherDate() time.Duration {
	h.dates++
	return process.OtherDate(h.dates)
}

// NeedsTimeError says that what the code does depends on its clock, so that it has to be
// timed. It is a way to go on, not a failure.
type NeedsTimeError struct{ Client int }

func (e *NeedsTimeError) Error() string {
	return fmt.Sprintf("simulator: what c%d does depends on its clock", e.Client)
}

// StallError is code that neither goes on nor waits for anything that the lab could
// give it.
type StallError struct {
	Client int
	Stuck  bool          // it waits for something of its own that will never come
	After  time.Duration // otherwise: so long it did not come to rest, in real time
	Works  bool          // After is the time that processors have worked
	State  string        // of the goroutine: "sync.Mutex.Lock"; "": none was found
	Stack  string        // its stack
}

func (e *StallError) Error() string {
	if e.Stuck {
		return fmt.Sprintf("simulator: the code of c%d has not ended, and waits for no server and no time: a goroutine is in [%s], and nothing will ever end that\n%s", e.Client, e.State, e.Stack)
	}
	of := "real"
	if e.Works {
		of = "processor"
	}
	if e.State == "" {
		return fmt.Sprintf("simulator: the code of c%d did not come to rest within %v of %s time", e.Client, e.After, of)
	}
	return fmt.Sprintf("simulator: the code of c%d did not come to rest within %v of %s time: a goroutine is in [%s], which is no wait that time or a server could end\n%s", e.Client, e.After, of, e.State, e.Stack)
}

// EndlessError is code that asks again and again in a history without end.
type EndlessError struct {
	Client int
	Ended  bool // its program has ended, and a goroutine goes on; else no time passes between its requests
	Asks   int  // requests of that kind
}

func (e *EndlessError) Error() string {
	if e.Ended {
		return fmt.Sprintf("simulator: the program of c%d has ended, and its code has asked %d times since", e.Client, e.Asks)
	}
	return fmt.Sprintf("simulator: the code of c%d has asked %d times without letting time pass", e.Client, e.Asks)
}

// PanicError is code that panicked.
type PanicError struct {
	Client int
	Value  any
	Stack  string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("simulator: the code of c%d panicked: %v\n%s", e.Client, e.Value, e.Stack)
}

// A Turn is that of the one execution that is alive; see Host.Turn. Its goroutines have ended, or are such that nothing can wake, before
// the next one begins: they do not meet what that puts into the variables of packages.
type Turn struct{ of *execution }

// take gives the turn to an execution that begins, and ends the one that had it.
func (t *Turn) take(x *execution) {
	if t == nil {
		return
	}
	if t.of != nil {
		t.of.Stop()
	}
	t.of = x
}

// takingTurns is x, if need be as one that can be ended in between.
func (h *Host) takingTurns(x *execution) process.Execution {
	if h.Turn == nil {
		return x
	}
	return &interrupted{x}
}

// interrupted is an execution that goes on in another one when it has lost its turn.
type interrupted struct{ *execution }

// Observe implements process.Execution.
func (i *interrupted) Observe(s process.TimedObservation, known *process.Entry) (process.Entry, error) {
	if x := i.execution; x.lost {
		again, err := x.another(x.extra)
		if err != nil {
			return process.Entry{}, err
		}
		again.steps, again.timer, again.ops = x.steps, x.timer, x.ops
		i.execution = again
	}
	return i.execution.Observe(s, known)
}
