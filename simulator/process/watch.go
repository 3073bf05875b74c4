package process

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locklab/simulator/i18n"
)

// Code on coroutines waits by asking for operations. Code that waits otherwise, for real
// time or for a goroutine, keeps the lab waiting, and what it waits for is in no history:
// a watch notices that while the code runs.

// interval is the real time between two looks of a watch.
const interval = 10 * time.Millisecond

// A resort is what becomes of code that does not come back: it cannot be ended, so the
// program is.
type resort struct {
	after  time.Duration // of real time
	giveUp func(e *WaitError, after time.Duration)
}

// lastResort replaces the usual one in tests; nil: it does not.
var lastResort atomic.Pointer[resort]

func theResort() resort {
	if r := lastResort.Load(); r != nil {
		return *r
	}
	return resort{10 * time.Second, func(e *WaitError, after time.Duration) {
		fmt.Fprintln(os.Stderr, e.stuck(after))
		os.Exit(4)
	}}
}

// A WaitError is code that waits otherwise than by an operation. Nothing is known of what
// it does next.
type WaitError struct {
	Client int
	State  string // of its goroutine: "sleep", "chan receive"
	Stack  string
}

func (e *WaitError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *WaitError) Message() i18n.Message {
	return i18n.New("error.code.waits", "client", fmt.Sprintf("c%d", e.Client), "state", e.State, "stack", i18n.Verbatim(e.Stack))
}

// stuck returns the last words of a program whose code has not come back for some real time:
// no caller is left who could put an error into words.
func (e *WaitError) stuck(after time.Duration) string {
	return fmt.Sprintf("the code of c%d has not come back for %v of real time: its goroutine is in [%s], and nothing in the lab ends that. "+
		"A lock in the lab waits by Env.Clock and by its connections, nothing else; "+
		"code with sleeps, timers, channels or goroutines of its own is for package scenarios/locktest. %s", e.Client, after, e.State, e.Stack)
}

// A post is a place where code runs that is watched.
type post struct {
	x     atomic.Pointer[execution] // nil: nothing runs
	count atomic.Uint64             // of the stretches of code that have run here
}

// posts are as many as cores may ever run code; what finds none is not watched.
var (
	posts    [64]post
	watching atomic.Bool // a goroutine goes from post to post
)

// enter has the code of x watched until leave.
func (x *execution) enter() *post {
	for i := range posts {
		if p := &posts[i]; p.x.Load() == nil && p.x.CompareAndSwap(nil, x) {
			p.count.Add(1)
			if !watching.Load() && watching.CompareAndSwap(false, true) {
				go watch()
			}
			return p
		}
	}
	return nil
}

// leave ends what enter has begun, and enters in x how its code has waited.
func (x *execution) leave(p *post) {
	if p != nil {
		p.x.Store(nil)
	}
	if e := x.waited.Load(); e != nil && x.err == nil {
		x.err = e
	}
}

// A sight is what was seen at a post.
type sight struct {
	x     *execution
	count uint64
	since time.Time
	state string
}

// watch goes from post to post until nothing has run for a while.
func watch() {
	var seen [len(posts)]sight
	for idle := 0; ; idle++ {
		time.Sleep(interval)
		for i := range posts {
			x, count := posts[i].x.Load(), posts[i].count.Load()
			s := &seen[i]
			switch {
			case x == nil:
				*s = sight{}
				continue
			case s.x != x || s.count != count:
				*s = sight{x: x, count: count, since: time.Now()}
			default:
				s.look()
			}
			idle = 0
		}
		if idle > idleLooks {
			watching.Store(false)
			if !anyRuns() || !watching.CompareAndSwap(false, true) {
				return
			}
		}
	}
}

// idleLooks is the number of looks without a find after which a watch ends.
const idleLooks = 50

func anyRuns() bool {
	for i := range posts {
		if posts[i].x.Load() != nil {
			return true
		}
	}
	return false
}

// look looks at code that has run since the last look. A goroutine that sleeps does so on
// purpose. One that waits for another goroutine may do that for a while: go-redis dials in
// a goroutine of its own. But if twice none of those that it has started runs, it waits
// for real time, or for nothing.
func (s *sight) look() {
	c := waitingCode()
	again := c.state == s.state
	s.state = c.state
	if c.state == "" {
		return
	}
	e := &WaitError{Client: s.x.p.code.id, State: c.state, Stack: c.stack}
	if c.state == "sleep" || again && c.alone {
		s.x.waited.Store(e)
	}
	if r := theResort(); again && time.Since(s.since) > r.after {
		s.since = time.Now()
		go r.giveUp(&WaitError{e.Client, e.State, e.Stack}, r.after)
	}
}

// waiting are the states of goroutines that wait for time, or for other goroutines.
var waiting = []string{"sleep", "chan receive", "chan send", "select", "select (no cases)", "chan receive (nil chan)", "chan send (nil chan)",
	"sync.Cond.Wait", "sync.WaitGroup.Wait", "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "IO wait"}

// locking are those of them in which goroutines wait for others that run: for moments,
// or as long as a machine is busy.
var locking = []string{"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}

// A waiter is a coroutine whose code waits.
type waiter struct {
	name  string // of its goroutine
	state string // "": there is none
	stack string
	alone bool // no goroutine runs that it has started, or that these have started
}

// waitingCode is a coroutine whose code waits. One that waits for an operation is in the
// state coroutine.
func waitingCode() (c waiter) {
	b := make([]byte, 1<<20)
	all := strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n")
	children := map[string][]waiter{} // by who has started them
	for _, g := range all {
		head, stack, _ := strings.Cut(g, "\n")
		name, state, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
		state, _, _ = strings.Cut(state, "]")
		state, _, _ = strings.Cut(state, ",")
		one := waiter{name: name, state: state, stack: stack}
		if _, by, ok := strings.Cut(stack, " in goroutine "); ok {
			by, _, _ = strings.Cut(by, "\n")
			children[by] = append(children[by], one)
		}
		if c.state == "" && slices.Contains(waiting, state) && strings.Contains(stack, "process.(*execution).start.func1") {
			c = one
		}
	}
	c.alone = !slices.Contains(locking, c.state)
	for todo := []string{c.name}; len(todo) > 0; todo = todo[1:] {
		for _, child := range children[todo[0]] {
			if !slices.Contains(waiting, child.state) || slices.Contains(locking, child.state) {
				c.alone = false
			}
			todo = append(todo, child.name)
		}
	}
	return c
}
