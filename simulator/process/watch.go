package process

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/routine"
)

// Code on coroutines waits by asking for operations. Code that waits otherwise, for real time or for a goroutine, keeps
// the lab waiting, and what it waits for is in no history: a watch notices that while the code runs.

// interval is the real time between two looks of a watch.
const interval = 10 * time.Millisecond

// A resort is what becomes of code that does not come back: it cannot be ended, so the program is.
type resort struct {
	after  time.Duration // of real time, in looks: one that comes late counts as one that does not
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

// A WaitError is code that waits otherwise than by an operation. Nothing is known of what it does next.
type WaitError struct {
	Client int
	State  string // of its goroutine: "sleep", "chan receive"
	Stack  string
}

func (e *WaitError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *WaitError) Message() i18n.Message {
	who := fmt.Sprintf("c%d", e.Client)
	return i18n.New("error.code.waits", "client", who, "state", e.State, "stack", i18n.Verbatim(e.Stack))
}

// stuck returns the last words of a program whose code has not come back for some real time:
// no caller is left who could put an error into words.
func (e *WaitError) stuck(after time.Duration) string {
	return fmt.Sprintf("the code of c%d has not come back for %v of real time: its goroutine is in [%s], "+
		"and nothing in the lab ends that. "+
		"A lock in the lab waits by Env.Clock and by its connections, nothing else; "+
		"code with sleeps, timers, channels or goroutines of its own is for package scenarios/locktest. %s",
		e.Client, after, e.State, e.Stack)
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
	looks int // since it was first seen
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
				*s = sight{x: x, count: count}
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

// look looks at code that has run since the last look. A goroutine that sleeps does so on purpose. One that waits for
// another goroutine may do that for a while: go-redis dials in a goroutine of its own. But if twice none of those that
// it has started runs, it waits for real time, or for nothing.
func (s *sight) look() {
	c, alone := waitingCode()
	again := c.Does() == s.state
	s.state = c.Does()
	s.looks++
	if s.state == "" {
		return
	}
	e := &WaitError{Client: s.x.p.code.id, State: s.state, Stack: c.Stack}
	if s.state == "sleep" || again && alone {
		s.x.waited.Store(e)
	}
	if r := theResort(); again && time.Duration(s.looks)*interval > r.after {
		s.looks = 0
		go r.giveUp(&WaitError{e.Client, e.State, e.Stack}, r.after)
	}
}

// waitingCode returns a coroutine whose code waits; one that waits for an operation is in the state
// coroutine. alone: no goroutine runs that it has started, or that these have started.
func waitingCode() (c routine.Routine, alone bool) {
	children := map[string][]routine.Routine{} // by who has started them
	for _, g := range routine.All() {
		if _, by, ok := strings.Cut(g.Stack, " in goroutine "); ok {
			by, _, _ = strings.Cut(by, "\n")
			children[by] = append(children[by], g)
		}
		if c.State == "" && g.Waits() && strings.Contains(g.Stack, "process.(*execution).start.func1") {
			c = g
		}
	}
	alone = !c.Locks()
	for todo := []string{c.Name}; len(todo) > 0; todo = todo[1:] {
		for _, child := range children[todo[0]] {
			alone = alone && child.Waits() && !child.Locks()
			todo = append(todo, child.Name)
		}
	}
	return c, alone
}
