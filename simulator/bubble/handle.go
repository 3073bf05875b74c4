package bubble

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/routine"
	"locklab/simulator/process"
)

// A Handle is what the code in one bubble has of the lab. Its goroutines may share it. The lab uses it while all of the
// code waits, without mu; each order begins by locking it once, so that the code sees what the lab has written.
type Handle struct {
	h      *Host
	open   func(server int) process.Wire
	ctx    context.Context // made in the bubble, as are the next two
	cancel context.CancelFunc
	signal chan struct{} // has an element when the code has acted
	main   string        // the program's goroutine, if its lines are watched

	mu         sync.Mutex // held for moments only, never while a goroutine waits
	over       bool       // the program has ended
	err        error      // how it has failed
	dead       bool       // the execution is being stopped: all that the code asks for fails
	asks       []*wait    // of Ask, that have not ended, in their order
	conns      []*conn
	notes      []history.Event // since the last observation
	acted      bool            // the code has done something that can be seen since the lab last looked
	actAt      time.Time       // when that was, on the bubble's clock
	tokens     int             // drawn by Token
	lease      uint8           // of the latest attempt, as in history.Event
	inside     bool            // the critical section
	unanswered int             // requests
	failures   int             // uses of the lab since the execution is being stopped
}

// A wait is an operation for which the code waits.
type wait struct {
	op   process.Op
	code []string                 // where in the code that is, if it is watched
	conn *conn                    // which waits for its server; nil: the code waits in Ask, or for a timer
	done chan process.Observation // of Ask
}

// ID is the client's number, from 1.
func (c *Handle) ID() int { return c.h.ID }

// Context is cancelled when the process ends.
func (c *Handle) Context() context.Context { return c.ctx }

// Token returns a value that no process of the run returns again: "c2.1" is the first one of client 2.
func (c *Handle) Token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	return "c" + strconv.Itoa(c.h.ID) + "." + strconv.Itoa(c.tokens)
}

// Failures returns the number of requests of the code that have had no answer so far.
func (c *Handle) Failures() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unanswered
}

// Record adds e to what the code does.
func (c *Handle) Record(e history.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return
	}
	switch e.Kind {
	case history.Acquire:
		if e.Note == "" && !c.inside {
			c.lease = c.lease%255 + 1
		}
	case history.Enter:
		c.inside = true
	case history.Leave:
		c.inside = false
	}
	e.Client, e.Lease = c.h.ID, int(c.lease)
	c.notes = append(c.notes, e)
	c.act()
}

// Ask waits for an operation that is no request to a server.
func (c *Handle) Ask(o process.Op) process.Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		if o.Kind != process.Sleep {
			o.Lease = c.lease
		}
		w := &wait{op: o, code: c.callers(), done: make(chan process.Observation, 1)}
		c.asks = append(c.asks, w)
		c.act()
		c.mu.Unlock()
		s, ok := <-w.done
		c.mu.Lock()
		if ok {
			return s
		}
	}
	if c.fail(); !c.h.goesOn() {
		runtime.Goexit() // what is deferred unlocks mu
	}
	return process.Observation{Kind: process.Slept}
}

// AskBetween is Ask of a program between two attempts: it ends where the execution is being stopped.
func (c *Handle) AskBetween(o process.Op) {
	if c.Ask(o); c.stopping() {
		runtime.Goexit()
	}
}

// Addr is the address of server n, from 1, for Dial.
func (c *Handle) Addr(n int) string {
	if n < 1 || n > c.h.Servers {
		panic(fmt.Sprintf("there is no server %d: the setup has %d", n, c.h.Servers))
	}
	return c.h.addr(n).String()
}

// Dial opens a connection to one of the addresses of Addr.
func (c *Handle) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil && !c.stopping() {
		return nil, err
	}
	for n := 1; n <= c.h.Servers; n++ {
		if c.Addr(n) == addr {
			return c.dial(n), nil
		}
	}
	err := fmt.Errorf("there is no server at %s: dial the Addr of a server, %s is the first", addr, c.Addr(1))
	return nil, &net.OpError{Op: "dial", Net: network, Err: err}
}

// begin starts the program. It runs in the agent.
func (c *Handle) begin() {
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.signal = make(chan struct{}, 1)
	go func() {
		if c.h.Watch != nil {
			c.main = routine.Current().Name
		}
		returned := false
		defer func() {
			r := recover()
			c.mu.Lock()
			defer c.mu.Unlock()
			c.over = true
			switch {
			case c.dead:
			case r != nil:
				c.err = &PanicError{c.h.ID, r, string(debug.Stack())}
			case !returned:
				c.err = fmt.Errorf("simulator: the code of c%d ended its goroutine (t.FailNow, or runtime.Goexit): "+
					"return instead, and look at what happened afterwards", c.h.ID)
			}
			c.act()
		}()
		c.h.Program(c)
		returned = true
	}()
}

// act notes that the code has done something that can be seen. mu is held.
func (c *Handle) act() {
	if !c.acted {
		c.acted, c.actAt = true, time.Now()
	}
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// stopping reports whether the execution is being stopped. Connections can then still be made: libraries log that they
// cannot dial, and dial again without end.
func (c *Handle) stopping() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// expect begins an observation, which ends w; nil: no wait.
func (c *Handle) expect(w *wait) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acted = false
	c.asks = slices.DeleteFunc(c.asks, func(ask *wait) bool { return ask == w })
}

// pending returns what the code waits for. now is the bubble's clock.
func (c *Handle) pending(now time.Time) (all []*wait, err error) {
	all = slices.Clone(c.asks)
	for _, one := range c.conns {
		if err := one.ask(now); err != nil {
			return nil, err
		}
		if one.wait != nil {
			all = append(all, one.wait)
		}
	}
	// Requests on different connections commute, so the order in which goroutines made them does not count.
	slices.SortStableFunc(all[len(c.asks):], func(a, b *wait) int {
		return cmp.Or(cmp.Compare(a.op.Node, b.op.Node), cmp.Compare(a.op.Arg, b.op.Arg))
	})
	return all, nil
}

// fail notes a use of the lab by code that is being stopped, and ends a goroutine of code that does not give up. mu is
// held, and unlocked by what is deferred.
func (c *Handle) fail() {
	if c.failures++; c.failures > maxFailures {
		runtime.Goexit()
	}
}

// maxFailures is the number of times that code that is being stopped may use the lab.
const maxFailures = 200

// callers are the watched lines of the code that runs, the innermost first; nil: none are watched.
func (c *Handle) callers() (lines []string) {
	if c.h.Watch == nil {
		return nil
	}
	return slices.Compact(routine.Lines(c.h.Watch))
}

// mainLines are the watched lines at which the program's own goroutine stands: for what a library's goroutine does.
func (c *Handle) mainLines() (lines []string) {
	for _, g := range routine.All() {
		if g.Name != c.main {
			continue
		}
		function := ""
		for l := range strings.Lines(g.Stack) {
			at, _, _ := strings.Cut(strings.TrimSpace(l), " ")
			file, line, ok := strings.Cut(at, ".go:")
			n, err := strconv.Atoi(line)
			if ok && err == nil && c.h.Watch(function, file+".go") {
				lines = append(lines, routine.Line(file+".go", n))
			}
			function = strings.TrimPrefix(l, "created by ")
		}
	}
	return lines
}
