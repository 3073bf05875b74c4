package simulator

import (
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/table"
)

// incarnation is a running incarnation of a process: its coroutines, parked at the
// operations they wait for.
type execution struct {
	p       *process
	number  uint32 // of this incarnation
	at      uint32 // entry of the process's table at which it stands
	threads [MaxThreads]thread
	ops     [MaxThreads]op
	fresh   uint8
	notes   []history.Event
	code    [MaxThreads][]string // see procNode
	current int                  // the thread that runs
	tokens  uint64               // handed out
	dead    bool                 // being unwound: nothing may be asked for any more
	running atomic.Bool          // a coroutine runs, until it asks for something
	err     error                // why it could not go on
	// watchers says of each number whether a connection that watches keys has it.
	watchers []bool
	begun    []int         // threads of tasks that are to start when the one that runs waits
	session  clientSession // with the ensemble
}

// thread is one coroutine, or a timer that has not fired yet.
type thread struct {
	timer *timer // not nil: not started yet
	next  func() (op, bool)
	stop  func()
	yield func(op) bool
	given observation // the answer to what it last asked for
	goid  string      // its goroutine; "": not looked at
	joint *join       // not nil: the task that it runs is one of several
}

// stopped unwinds the code of a process that is no longer needed.
type stopped struct{}

// newIncarnation is a process whose program has not begun: its main thread is a
// timer that nobody has armed, so the first observation starts it.
func newExecution(p *process) *execution {
	l := &execution{p: p, number: uint32(p.runs), ops: notBegun}
	l.threads[0].timer = &timer{p: p, f: func() { p.program(&Client{p: p}) }}
	return l
}

// notBegun is what the threads of a process wait for before its program begins.
var notBegun = [MaxThreads]op{{kind: opStart}}

func (l *execution) start(slot int, f func()) {
	t := &l.threads[slot]
	t.timer = nil
	t.next, t.stop = iter.Pull(func(yield func(op) bool) {
		t.yield = yield
		if l.p.runs < namedRuns {
			t.goid = goroutine()
		}
		defer l.unwound()
		f()
	})
}

// A limit is what the client's code panics with that asks for more than the lab has
// room for.
type limit string

// unwound ends a coroutine: quietly if it was stopped, with an error that
// names the place if the client's code panicked.
func (l *execution) unwound() {
	switch r := recover().(type) {
	case nil, stopped:
	case limit:
		l.err = table.Limit("the code of c%d asks for too much: %s", l.p.id, string(r))
	default:
		l.err = fmt.Errorf("simulator: the code of c%d panicked: %v\n%s", l.p.id, r, debug.Stack())
	}
}

// observe hands s to the thread that waits for it and lets it run to its next
// operation.
func (l *execution) observe(s observation) error {
	l.fresh, l.notes = 0, nil
	slot := int(s.thread)
	if t := &l.threads[slot]; t.timer != nil {
		l.start(slot, t.timer.f)
	}
	l.resume(slot, s)
	if l.p.strayed.Load() {
		return &NondeterministicError{Client: l.p.id, Was: "what its own goroutine asked for", Is: "it a moment sooner or later: the lab cannot tell a goroutine of the code's own when to run"}
	}
	return l.err
}

func (l *execution) resume(slot int, s observation) {
	t := &l.threads[slot]
	t.given = s
	l.current = slot
	l.running.Store(true)
	o, ok := t.next() // runs the code up to its next question
	l.running.Store(false)
	if l.p.resumed++; l.p.resumed < 1000 {
		runtime.Gosched() // a goroutine that the code has started shows itself now
	}
	var ended *join
	if !ok {
		o, ended = op{}, t.joint
		*t = thread{}
	}
	l.ops[slot] = o
	l.fresh |= 1 << slot
	if ended != nil || len(l.begun) > 0 {
		l.settle(ended)
	}
}

// entry is what the table keeps of where the process now stands.
func (l *execution) entry(parent uint32, s observation) procNode {
	n := procNode{parent: parent, seen: s, ops: l.ops, fresh: l.fresh, notes: l.notes}
	if l.p.sim.watched != "" {
		n.code = slices.Clone(l.code[:])
	}
	if zoo := l.p.sim.zoo; zoo != nil {
		n.memory = zoo.internMemory(l.session.memory())
	}
	return n
}

// did says whether the code has just done what entry n says.
func (l *execution) did(n *procNode) bool {
	same := func(a, b history.Event) bool { return reflect.DeepEqual(a, b) }
	return l.ops == n.ops && l.fresh == n.fresh && slices.EqualFunc(l.notes, n.notes, same)
}

func (l *execution) stop() {
	l.dead = true
	for i := range l.threads {
		if stop := l.threads[i].stop; stop != nil {
			l.current = i
			l.running.Store(true)
			stop()
			l.running.Store(false)
		}
	}
}

// ask waits for o on behalf of the running thread. ok is false when the
// process is being unwound; a second question then ends the coroutine.
func (p *process) ask(o op) (s observation, ok bool) {
	p.own()
	l := p.live
	if l == nil || l.dead {
		p.unwind()
	}
	t := &l.threads[l.current]
	l.code[l.current] = p.sim.whence()
	l.running.Store(false)
	if !t.yield(o) {
		return observation{}, false
	}
	return t.given, true
}

// own ends a goroutine that asks the lab for something and is no coroutine of
// the lab's: the code has started it by itself. Who is asked for their name is
// certain, but that takes too long to do always: after the first questions only
// a goroutine that asks while no coroutine runs gives itself away.
func (p *process) own() {
	l := p.live
	stray := l == nil || !l.running.Load()
	if !stray && l.threads[l.current].goid != "" && p.questions < 32 {
		p.questions++
		stray = l.threads[l.current].goid != goroutine()
	}
	if stray {
		p.strayed.Store(true)
		runtime.Goexit()
	}
}

// namedRuns is how often a process is started before the names of its coroutines
// are not looked up any more.
const namedRuns = 200

// unwind ends the coroutine that runs, or a stray goroutine in its place.
func (p *process) unwind() {
	if l := p.live; l != nil && l.threads[l.current].goid != "" && l.threads[l.current].goid != goroutine() {
		p.strayed.Store(true)
		runtime.Goexit()
	}
	panic(stopped{})
}

// goroutine is the name of the goroutine that runs.
func goroutine() string {
	var b [32]byte
	return strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1]
}

// mustAsk is ask for operations that cannot fail: unwinding passes through.
func (p *process) mustAsk(o op) observation {
	s, ok := p.ask(o)
	if !ok {
		p.unwind()
	}
	return s
}

func (p *process) startTimer(d time.Duration, f func()) *timer {
	t := &timer{p: p, f: f}
	p.armTimer(t, d)
	return t
}

func (p *process) armTimer(t *timer, d time.Duration) {
	l := p.live
	if l.dead {
		return
	}
	i := l.vacant()
	if i < 0 {
		panic(limit(fmt.Sprintf("more than %d timers at once: let it run fewer", MaxThreads-1)))
	}
	t.slot, t.life = i, l.number
	l.threads[i].timer = t
	l.ops[i] = op{kind: opSleep, d: d}
	l.code[i] = p.sim.whence()
	l.fresh |= 1 << i
}

func (p *process) stopTimer(t *timer) bool {
	l := p.live
	if l == nil || l.number != t.life || l.threads[t.slot].timer != t {
		return false
	}
	l.threads[t.slot] = thread{}
	l.ops[t.slot] = op{}
	l.fresh |= 1 << t.slot
	return true
}

func (p *process) nextToken() string {
	p.live.tokens++
	return "c" + strconv.Itoa(p.id) + "." + strconv.FormatUint(p.live.tokens, 10)
}
