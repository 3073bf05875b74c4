// Package bubble runs the code of one client as it is: ordinary code on the standard library's clock, timers,
// goroutines and connections. It is a host of package process beside the coroutines there.
//
// An execution is a bubble of testing/synctest. Its root is an agent: it waits until all other goroutines of the bubble
// are durably blocked, reports that, and blocks on a channel that was made outside the bubble. That is no durable
// block, so the bubble's clock stands still until the agent is given the next observation.
//
// # Time
//
// The clock of a bubble cannot be read from outside, and nor can its timers. What code does next by itself is found by
// running it: for every new history of observations there is a second execution, the shadow, which first repeats the
// history and then lets time pass until the code does something that can be seen. That becomes a Sleep. The shadow must
// do what the first execution did; otherwise the code is not deterministic.
//
// Code whose behaviour does not depend on its clock needs no time in its history. So an execution that is not timed
// lets as little time pass as possible, and the shadow a lot more, at another date and hour. If they differ, or if a
// timer runs beside something else, the code must be timed: [NeedsTimeError]. Whether it then uses its clock only to
// measure is tried like that of coroutines: see process.Process.CheckMeasures.
//
// # What it cannot carry
//
// A goroutine that is blocked, but not durably, as on a mutex that is held across I/O, on a channel from outside the
// bubble or in a system call: [StallError]. A wall clock that is set back. A goroutine that is woken late, because its
// process was paused, reads the instant for which its timer was set.
package bubble

import (
	"net"
	"testing"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
)

// A Host starts executions of one client's code.
type Host struct {
	T       *testing.T
	ID      int           // the client's number, from 1
	Program func(*Handle) // the code
	Timed   bool          // as given to process.Process.SetHost
	// Horizon is the time for which a shadow looks for what the code does by itself. What comes later does not come.
	Horizon time.Duration
	// Open makes the connections of one execution; see simulator.ClientConfig.
	Open    func() func(server int) process.Wire
	Servers int
	// Random, if it is not nil, is called before the code runs on, to seed what is random: with the test of the bubble,
	// a number that follows from the client and the length of its history, and that of the execution, from 1.
	Random func(t *testing.T, seed uint64, execution int)
	// Watch reports whether the lines of a function in a file are to stand in Entry.Code; nil: those of none are.
	Watch func(function, file string) bool
	// Once runs every history once, and without shadows: for code that is not deterministic. It must be timed. A timer
	// that runs beside a request is late: it fires when the answer comes.
	Once bool

	// OtherDate, if it is not nil, is called when an execution of code that is not timed begins. Above 0 that is at
	// another date and hour, as of process.OtherDate, with more time between what it observes.
	OtherDate func() int
	// Drawn, if it is not nil, gives names to the values that the code draws and sends to Redis servers.
	Drawn *Drawn
	// Turn, if it is not nil, is that of all hosts whose executions run one at a time: for code that keeps in a
	// variable of its package what an execution has made. Where another one has run in between, an execution is
	// restarted and goes through its history. Code that is run Once has no Turn.
	Turn *Turn
	// Leaks, if it is not nil, counts executions that leave goroutines behind, of all hosts that share it.
	Leaks *Leaks

	executions int
	dates      int // number of other dates at which shadows have begun
}

// Start implements process.Host.
func (h *Host) Start() process.Execution {
	if h.OtherDate != nil && !h.Timed {
		if date := h.OtherDate(); date > 0 {
			return h.start(h.Horizon, date)
		}
	}
	return h.start(0, 0)
}

// start begins an execution of which each observation takes so much more time, at another date if that is above 0.
func (h *Host) start(extra time.Duration, date int) *execution {
	open := h.Open()
	h.executions++
	if h.Drawn != nil {
		open = h.Drawn.execution(executionID{h.ID, h.executions}, open)
	}
	at := clock.Epoch // so that the code and the servers are of the same date
	if h.Timed {
		at = at.Add(-early)
	}
	if date > 0 {
		at = at.Add(process.OtherDate(date))
	}
	x := &execution{h: h, number: h.executions, extra: extra, client: &Handle{h: h, open: open}}
	h.Turn.take(x)
	x.agent = newAgent(h.T, h.ID, at)
	return x
}

// early is by how much the bubble's clock begins before the epoch of the lab's, so that a client's clock may be behind:
// package synctest has them begin in 2000.
var early = clock.Epoch.Sub(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))

// addr returns the address of a server, from 1. No server can listen at port 0: code that forgets Dial reaches none.
func (h *Host) addr(server int) *net.TCPAddr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(server))}
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

// A Turn is that of the one execution that is alive; see Host.Turn. Its goroutines have ended, or are such that nothing
// can wake, before the next one begins: they do not meet what that puts into the variables of packages.
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
