package process

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
)

// execution is one run of a process's code: its coroutines, parked at the operations that they wait for.
type execution struct {
	p       *Process
	number  uint32 // of this execution
	threads [MaxThreads]thread
	ops     [MaxThreads]Op
	fresh   uint8
	notes   []history.Event
	code    [MaxThreads][]string      // see Entry
	current int                       // the thread that runs
	tokens  uint64                    // handed out
	born    uint64                    // of these, before it was started; see Process.Restarted
	uses    int                       // see Uses
	stage   int                       // at which the program began
	lease   uint8                     // of the latest attempt, as in history.Event; 0: there was none
	inside  bool                      // it has the lock
	kept    Memory                    // while it rests; see Rest
	dead    bool                      // being unwound: no operation is possible any more
	running atomic.Bool               // a coroutine runs, until it waits for an operation
	err     error                     // why it could not go on
	waited  atomic.Pointer[WaitError] // how its code has waited otherwise than by an operation; nil: it has not
	begun   []int                     // threads of tasks that start when the running one waits
}

// thread is one coroutine, or a timer that has not fired yet.
type thread struct {
	timer *timer      // not nil: not started yet
	on    *coroutine  // on which it runs
	given Observation // the answer to its last operation
	lease uint8       // the attempt to which it belongs
	join  *join       // not nil: the task that it runs is one of several
	// deadline is that of the context for which it acts; nil: none. See WithDeadline.
	deadline *deadline
}

// stopped unwinds the code of a process that is no longer needed.
type stopped struct{}

// newExecution is a process whose program has not begun, at an entry without a parent:
// its main thread is a timer that was never armed, so the first observation starts it.
func newExecution(p *Process, from *Entry) *execution {
	p.code.lib.Start(from.Memory)
	x := &execution{p: p, number: uint32(p.starts), ops: from.Ops, stage: int(from.Ops[0].Arg)}
	x.tokens, x.born, x.lease = from.Tokens, from.Born, from.Lease
	x.threads[0].timer = &timer{p: &p.code, f: p.program}
	return x
}

// notBegun are the operations of the threads of a process before its program begins.
var notBegun = [MaxThreads]Op{{Kind: Begin}}

// start has a thread run f on a coroutine that is idle, or on a new one.
func (x *execution) start(slot int, f func()) {
	var on *coroutine
	if n := len(x.p.idle); n > 0 {
		on, x.p.idle = x.p.idle[n-1], x.p.idle[:n-1]
	} else {
		on = newCoroutine()
	}
	on.code = func() {
		defer x.unwound()
		f()
	}
	x.threads[slot].timer, x.threads[slot].on = nil, on
}

// ended has the coroutine of a thread that has come to its end wait for other code.
func (x *execution) ended(slot int) {
	x.p.idle = append(x.p.idle, x.threads[slot].on)
	x.threads[slot] = thread{}
}

// A coroutine runs threads, one after the other: to make one takes as long as some commands.
type coroutine struct {
	next  func() (Op, bool) // runs the code up to its next operation, or to its end
	stop  func()
	yield func(Op) bool
	code  func() // nil: it has ended
}

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(Op) bool) {
		c.yield = yield
		debug.SetPanicOnFault(true)
		for goesOn := true; goesOn; goesOn = yield(Op{}) {
			growStack()
			c.code()
			c.code = nil
		}
	})
	return c
}

// growStack gives the goroutine at once the stack that a command of a client library takes. A quarter of
// a search's time would go into stacks that grow in the midst of calls, each of whose frames is then moved.
//
//go:noinline
func growStack() {
	var room [stackSize]byte
	runtime.KeepAlive(&room)
}

// stackSize is so much of a stack of 16 KB that a smaller one does not do.
const stackSize = 12 << 10

// limit is a panic of client code that needs more than the simulator has room for.
type limit struct{ what i18n.Message }

// Exceed ends the running code, which is called by the program, with a *intern.LimitError.
func Exceed(key string, pairs ...any) { panic(limit{i18n.New(key, pairs...)}) }

// unwound ends a coroutine: quietly if stopped, with an error that names the place if the client's code panicked.
func (x *execution) unwound() {
	switch r := recover().(type) {
	case nil, stopped:
	case limit:
		x.err = intern.Limit("limit.code", "client", x.p.code.id, "what", r.what)
	default:
		x.err = fmt.Errorf("simulator: the code of c%d panicked: %v\n%s", x.p.code.id, r, debug.Stack())
	}
}

// Observe implements Execution. A coroutine that is started again needs nothing of what is known.
func (x *execution) Observe(s TimedObservation, _ *Entry) (Entry, error) {
	err := x.observe(s.Observation)
	return x.entry(), err
}

// observe gives s to the thread that waits for it and lets it run to its next operation.
func (x *execution) observe(s Observation) error {
	x.fresh, x.notes = 0, nil
	slot := int(s.Thread)
	if t := &x.threads[slot]; t.timer != nil {
		x.start(slot, t.timer.f)
	}
	x.resume(slot, s)
	if x.p.code.foreign.Load() {
		return &NondeterministicError{Client: x.p.code.id, Was: "what its own goroutine asked for",
			Is: "it a moment sooner or later: the lab cannot tell a goroutine of the code's own when to run"}
	}
	return x.err
}

func (x *execution) resume(slot int, s Observation) {
	t := &x.threads[slot]
	t.given = s
	x.current = slot
	x.running.Store(true)
	watched := x.enter()
	o, _ := t.on.next()
	x.leave(watched)
	x.running.Store(false)
	if x.p.resumed++; x.p.resumed < 1000 {
		runtime.Gosched() // a goroutine that the code has started shows itself now
	}
	var ended *join
	if t.on.code == nil {
		ended = t.join
		x.ended(slot)
	}
	x.ops[slot] = o
	x.fresh |= 1 << slot
	if ended != nil || len(x.begun) > 0 {
		x.runTasks(ended)
	}
}

// entry returns the entry of the present state of the execution.
func (x *execution) entry() Entry {
	e := Entry{Ops: x.ops, Fresh: x.fresh, Notes: x.notes, Outcome: Outcome{Memory: x.p.code.lib.Memory()}}
	switch main := &x.ops[0]; {
	case main.Kind == None && x.alone():
		e.Resting = true
	default:
		e.Tokens, e.Lease = x.tokens, x.lease
		rests := main.Kind == Begin || main.Kind == Sleep && main.Arg > 0
		e.Resting = x.alone() && rests && x.kept != Unreadable && x.p.code.lib.Idle()
		if e.Resting {
			e.Kept = x.kept
		}
	}
	if x.p.Unfenced {
		for t := range e.Ops {
			e.Ops[t].Token = 0
		}
		for i := range e.Notes {
			e.Notes[i].Token = 0
		}
	}
	if x.p.code.watched != "" {
		e.Code = slices.Clone(x.code[:])
	}
	return e
}

// Stop implements Execution.
func (x *execution) Stop() {
	x.dead = true
	for i := range x.threads {
		if on := x.threads[i].on; on != nil {
			x.current = i
			x.running.Store(true)
			on.next()
			x.running.Store(false)
			x.ended(i)
		}
	}
}

// Ask waits for o on behalf of the running thread. ok is false when the process
// is being unwound; a second operation then ends the coroutine.
func (p *Code) Ask(o Op) (s Observation, ok bool) {
	p.Own()
	x := p.live
	if x == nil || x.dead {
		p.unwind()
	}
	x.uses++
	t := &x.threads[x.current]
	x.code[x.current] = p.callers()
	x.running.Store(false)
	switch o.Kind {
	case Request, Read, Write:
		o.Lease = t.lease
	}
	o.Open = t.hastens(&o)
	if !t.on.yield(o) || x.dead {
		return Observation{}, false
	}
	t.expire(&o)
	return t.given, true
}

// MustAsk is Ask for operations that cannot fail: unwinding passes through.
func (p *Code) MustAsk(o Op) Observation {
	s, ok := p.Ask(o)
	if !ok {
		p.unwind()
	}
	return s
}

// Own ends a goroutine that uses the process and is none of its coroutines: the code has started it by itself.
func (p *Code) Own() {
	if x := p.live; x == nil || !x.running.Load() || !onCoroutine() {
		p.foreign.Store(true)
		runtime.Goexit()
	}
}

// Running reports whether the code runs and is not being unwound.
func (p *Code) Running() bool { return p.live != nil && !p.live.dead }

// Stage is the stage at which the program began: 0, or that of a Rest.
func (p *Code) Stage() int { return p.live.stage }

// A Memory is all that the variables of a program hold while it rests, as a digest of their contents.
type Memory [16]byte

var (
	NoMemory   Memory                                              // as at the very first start of the program
	Unreadable = Memory(bytes.Repeat([]byte{0xff}, len(NoMemory))) // cannot be read: it may hold anything
)

// MemoryOf returns the Memory with these contents.
func MemoryOf(contents string) (m Memory) {
	sum := sha256.Sum256([]byte(contents))
	copy(m[:], sum[:])
	return m
}

// Rest blocks the calling thread, the main one, for as long as the scheduler likes, at most d of the process's clock.
// If meanwhile nothing else of the process goes on, the process forgets all that has left nothing in its memory, kept:
// histories that come to the same stage, above 0, with the same memory are one. With NoMemory the program begins anew
// at that stage, and all that is left of what it has observed is how many tokens it has drawn. Otherwise Rest returns.
func (p *Code) Rest(stage int, d time.Duration, kept Memory) {
	p.live.kept = kept
	p.MustAsk(Op{Kind: Begin, Arg: uint32(stage), D: d})
}

// RestFor is Rest for d of the process's clock.
func (p *Code) RestFor(stage int, d time.Duration, kept Memory) {
	p.live.kept = kept
	p.MustAsk(Op{Kind: Sleep, Arg: uint32(stage), D: d})
}

// Shards reads the client's list of servers: their places among all servers, from 0, in ascending
// order; none, if it has no list. The list may change while the code runs.
func (p *Code) Shards() (list []int) {
	for rest := uint64(p.MustAsk(Op{Kind: Listed}).Val); rest != 0; rest &= rest - 1 {
		list = append(list, bits.TrailingZeros64(rest))
	}
	return list
}

// Uses returns the number of operations and timers of the code since it was started.
func (p *Code) Uses() int { return p.live.uses }

// Born tells the process from others that its client has had, of which each ended in a
// crash: 0 for the first, and none of the numbers of the tokens. See Restarted.
func (p *Code) Born() uint64 {
	if p.live == nil {
		return 0
	}
	return p.live.born
}

// Anew runs f, which draws the tokens that are drawn first after the first start of the program, wherever it has begun.
func (p *Code) Anew(f func()) {
	drawn := p.live.tokens
	p.live.tokens = p.live.born
	f()
	p.live.tokens = max(p.live.tokens, drawn)
}

// used reports whether there is a thread, or a timer.
func (t thread) used() bool { return t.timer != nil || t.on != nil }

// alone reports whether the main thread is the only one.
func (x *execution) alone() bool { return !slices.ContainsFunc(x.threads[1:], thread.used) }

// vacant is a place for another thread; 0: there is none.
func (x *execution) vacant() int {
	return 1 + slices.IndexFunc(x.threads[1:], func(t thread) bool { return !t.used() })
}

// OthersWait reports whether a thread other than the running one waits for what o asks for.
func (p *Code) OthersWait(o Op) bool {
	for i, other := range p.live.ops {
		if i != p.live.current && other.Kind == o.Kind && other.Node == o.Node && other.Arg == o.Arg {
			return true
		}
	}
	return false
}

// Record adds e to what the program does with the present observation.
func (p *Code) Record(e history.Event) {
	x := p.live
	if x.dead {
		return
	}
	t := &x.threads[x.current]
	switch e.Kind {
	case history.Acquire:
		if e.Note == "" && !x.inside {
			x.lease = x.lease%255 + 1
			t.lease = x.lease
		}
	case history.Enter:
		x.inside = true
	case history.Leave:
		x.inside = false
	}
	e.Client, e.Thread, e.Lease = p.id, x.current, int(t.lease)
	x.notes = append(x.notes, e)
}

// Token returns a value that no process of the run returns again: "c2.1" is the first one of client 2.
func (p *Code) Token() string {
	p.live.tokens++
	return "c" + strconv.Itoa(p.id) + "." + strconv.FormatUint(p.live.tokens, 10)
}

// onCoroutine reports whether the goroutine that runs is a coroutine of a process. What SetPanicOnFault says holds for
// one goroutine, not for those that it starts, which tells them apart; a goroutine's name would need its stack.
func onCoroutine() bool {
	set := debug.SetPanicOnFault(true)
	debug.SetPanicOnFault(set)
	return set
}

// unwind ends the coroutine that runs, or a foreign goroutine in its place.
func (p *Code) unwind() {
	if p.live != nil && !onCoroutine() {
		p.foreign.Store(true)
		runtime.Goexit()
	}
	panic(stopped{})
}
