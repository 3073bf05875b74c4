package process

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locklab/reports/text"
)

// Code on coroutines waits by asking for operations. Code that waits otherwise, for real
// time or for a goroutine, keeps the lab waiting, and what it waits for is in no history:
// a watch notices that while the code runs.

// interval is how often a watch looks, of real time.
const interval = 10 * time.Millisecond

// A resort is what becomes of code that does not come back: it cannot be ended, so the
// program is.
type resort struct {
	after  time.Duration // of real time
	giveUp func(e *WaitError)
}

// lastResort replaces the usual one in tests; nil: it does not.
var lastResort atomic.Pointer[resort]

func theResort() resort {
	if r := lastResort.Load(); r != nil {
		return *r
	}
	return resort{10 * time.Second, func(e *WaitError) {
		fmt.Fprintln(os.Stderr, e.Error())
		os.Exit(4)
	}}
}

// A WaitError is code that waits otherwise than by an operation. Nothing is known of what
// it does next.
type WaitError struct {
	Client int
	State  string // of its goroutine: "sleep", "chan receive"
	Stack  string
	// Never is for how long it had not come back when it was given up; 0: it has.
	Never time.Duration
}

func (e *WaitError) Error() string { return e.Say("en") }

// Say says it to a user.
func (e *WaitError) Say(lang string) string {
	key := "error.code.waits"
	if e.Never > 0 {
		key = "error.code.stuck"
	}
	return text.Say(lang, key, "client", fmt.Sprintf("c%d", e.Client), "state", e.State, "after", e.Never.String(), "stack", e.Stack)
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

// idleLooks is how often a watch finds nothing before it ends.
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
// a goroutine of its own.
func (s *sight) look() {
	state, stack := waitingCode()
	again := state == s.state
	s.state = state
	if state == "" {
		return
	}
	e := &WaitError{Client: s.x.p.id, State: state, Stack: stack}
	if state == "sleep" {
		s.x.waited.Store(e)
	}
	if r := theResort(); again && time.Since(s.since) > r.after {
		s.since = time.Now()
		go r.giveUp(&WaitError{e.Client, e.State, e.Stack, r.after})
	}
}

// waiting are the states of goroutines that wait for time, or for other goroutines.
var waiting = []string{"sleep", "chan receive", "chan send", "select", "select (no cases)", "chan receive (nil chan)", "chan send (nil chan)",
	"sync.Cond.Wait", "sync.WaitGroup.Wait", "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "IO wait"}

// waitingCode is the state of a coroutine whose code waits, and its stack; "": there is
// none. A coroutine that waits for an operation is in the state coroutine.
func waitingCode() (state, stack string) {
	b := make([]byte, 1<<20)
	for _, g := range strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n") {
		head, stack, _ := strings.Cut(g, "\n")
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, "]")
		state, _, _ = strings.Cut(state, ",")
		if slices.Contains(waiting, state) && strings.Contains(stack, "process.(*execution).start.func1") {
			return state, stack
		}
	}
	return "", ""
}
