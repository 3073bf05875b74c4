package process

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/jonboulle/clockwork"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/routine"
)

// Clock is a client's own clock as its code sees it: wall-clock time that may be wrong, and timers that run at the
// clock's rate. It has the methods of a clockwork clock that locks use.
type Clock struct{ p *Code }

// Clock is the process's clock.
func (p *Code) Clock() Clock { return Clock{p} }

// Now reads the clock, in UTC.
func (c Clock) Now() time.Time {
	s := c.p.MustAsk(Op{Kind: Clocked})
	return clock.Epoch.Add(time.Duration(s.Val))
}

// Sleep blocks the calling thread for d of this clock.
func (c Clock) Sleep(d time.Duration) { c.p.MustAsk(Op{Kind: Sleep, D: d}) }

// Idle blocks the calling thread for as long as the scheduler likes, at most d of this clock; simulator.Never: without
// end. The scheduler also says in which way the thread goes on: 0, or one of so many others, from 1. Without a Timing
// of the simulator it sleeps for d.
func (c Clock) Idle(d time.Duration, others int) (way int) {
	return int(c.p.MustAsk(Op{Kind: Idle, D: d, Arg: uint32(others)}).Val)
}

// AfterFunc runs f in a new thread of the process after d of this clock.
func (c Clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &timer{p: c.p, f: f}
	t.arm(d)
	return t
}

// timer is a thread that has not begun. It implements clockwork.Timer for AfterFunc timers, which have no channel.
type timer struct {
	p         *Code
	slot      int
	execution uint32 // in which it was armed: a slot is used again
	f         func()
}

func (t *timer) Chan() <-chan time.Time { return nil }

// Stop prevents the timer from firing; false: it has fired or was stopped.
func (t *timer) Stop() bool {
	x := t.p.live
	if x == nil || x.number != t.execution || x.threads[t.slot].timer != t {
		return false
	}
	x.threads[t.slot] = thread{}
	x.ops[t.slot] = Op{}
	x.fresh |= 1 << t.slot
	return true
}

// Reset stops the timer and arms it anew.
func (t *timer) Reset(d time.Duration) bool {
	active := t.Stop()
	t.arm(d)
	return active
}

// arm has the timer fire after d.
func (t *timer) arm(d time.Duration) {
	x := t.p.live
	if x.dead {
		return
	}
	i := x.vacant()
	if i == 0 {
		Exceed("limit.timers", "most", MaxThreads-1)
	}
	t.slot, t.execution = i, x.number
	x.uses++
	x.threads[i].timer, x.threads[i].lease = t, x.threads[x.current].lease
	x.ops[i] = Op{Kind: Sleep, D: d}
	x.code[i] = t.p.callers()
	x.fresh |= 1 << i
}

// A deadline is a context whose deadline comes when the scheduler likes, but only while
// the thread waits: the first wait that ends for nothing ends the context.
type deadline struct {
	context.Context
	over   bool
	cancel context.CancelFunc
}

// Err implements context.Context.
func (d *deadline) Err() error {
	if d.over {
		return context.DeadlineExceeded
	}
	return nil
}

// WithDeadline returns a context whose deadline comes when the scheduler likes. Until stop
// is called, the calling thread, and tasks that it runs side by side, may at any moment
// stop waiting for a server, unless what they ask is none of the context's (see Heed).
func (p *Code) WithDeadline() (ctx context.Context, stop func()) {
	inner, cancel := context.WithCancel(context.Background())
	d := &deadline{Context: inner, cancel: cancel}
	t := &p.live.threads[p.live.current]
	t.deadline = d
	return d, func() {
		t.deadline = nil
		cancel()
	}
}

// Heed says that the calling thread now acts for ctx, until restore is called: a context
// without end, as of context.WithoutCancel, bears no deadline.
func (p *Code) Heed(ctx context.Context) (restore func()) {
	if p.live == nil || ctx.Done() != nil {
		return func() {}
	}
	t := &p.live.threads[p.live.current]
	d := t.deadline
	t.deadline = nil
	return func() { t.deadline = d }
}

// hastens reports whether the deadline may come while the thread waits for o.
func (t *thread) hastens(o *Op) bool {
	if t.deadline == nil || t.deadline.over {
		return false
	}
	return o.Kind == Request || o.Kind == Listen || o.Kind == Watch
}

// expire ends the deadline of a thread that has waited for o for nothing.
func (t *thread) expire(o *Op) {
	if o.Open && t.deadline != nil && (t.given.Kind == TimedOut || t.given.Kind == Slept) {
		t.deadline.over = true
		t.deadline.cancel()
	}
}

// ShowCode has every entry say by which lines of the packages below path pkg its operations were asked for: Entry.Code.
// A client's code is real code with a call stack, so nothing is declared and nothing can drift. To be called before the
// first observation; it costs about a microsecond wherever code runs, and nothing where the table answers.
func (p *Code) ShowCode(pkg string) { p.watched = pkg }

// callers returns the lines of the watched package at which the running code is, innermost first; nil: none is watched.
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

// An Observation is what a thread learns when its operation ends.
type Observation struct {
	Thread uint8
	Kind   ObservationKind
	// Val is, Replied and Notified: the number of the answer; TimedOut: the message
	// that comes when the time is over, 0: none; Slept, after Idle or Branch: the way in which the
	// thread goes on; ClockRead: the reading; ListRead: the servers, bit n-1 for server n; of the resource: its answer.
	Val int64
}

// ObservationKind is a kind of observation.
type ObservationKind uint8

const (
	Started   ObservationKind = iota + 1 // the program begins
	Replied                              // the server answered
	TimedOut                             // no answer came in time
	Broken                               // the connection is gone
	Slept                                // the sleep is over
	ClockRead                            // the clock was read
	Notified                             // a watch has fired
	ListRead                             // the list of servers was read
)

// Err is how an observation that is no answer looks to code that reads or writes a
// socket: a *net.OpError; nil for any other observation. op is "read" or "write".
func (s Observation) Err(op string) error {
	switch s.Kind {
	case TimedOut:
		return &net.OpError{Op: op, Net: "tcp", Err: os.ErrDeadlineExceeded}
	case Broken:
		return &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNRESET}
	}
	return nil
}
