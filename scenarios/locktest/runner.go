package locktest

import (
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/process"
)

// A runner executes the code of a lock in bubbles: as clients of a search, of a race, alone, or in its own process.
type runner struct {
	t       *testing.T
	bounds  *Bounds
	code    func(*Client)
	folder  string   // of the client's function
	folders sync.Map // of all code that is shown
	known
	called
	random *random
	watch  bool         // the lines of the code are noted
	once   bool         // nothing is compared: see bubble.Host.Once
	date   int          // at which executions begin; 0: at none but the lab's. See bubble.Host.OtherDate
	dates  int          // number of those
	leaks  bubble.Leaks // the executions that have left goroutines behind
	turn   bubble.Turn  // see known
}

// called marks the calls that the code has made.
type called struct {
	numbered, says, dialed atomic.Bool            // ID, Says, Dial
	unread                 atomic.Bool            // Write without Read
	wanted                 atomic.Int32           // the highest server that it asked for and that there is not
	missed                 atomic.Pointer[string] // an address that was dialed, of no server
}

// untilKnown calls f, and again if the code turns out to need the time, to draw values, or to go on in several ways.
func (r *runner) untilKnown(f func() error) error {
	for {
		err := f()
		needs := (*bubble.NeedsTimeError)(nil)
		switch {
		case r.draws(err), r.Branches.Learn(err), r.drawsMore(err):
		case errors.As(err, &needs) && !r.Timed:
			r.Timed = true
		case errors.Is(err, explore.ErrReadsClock) && !r.Dated:
			r.Dated = true
		default:
			return err
		}
	}
}

// draws reports whether the code has turned out to draw random numbers, or values, since the last call.
func (r *runner) draws(err error) bool {
	return r.random.begins() || errors.As(err, new(*bubble.DrawnError))
}

// drawsMore reports whether the code has turned out to draw more than values by chance, so that it has to draw the
// same each time: as where that has shown.
func (r *runner) drawsMore(err error) bool {
	more := r.Drawing == 0 && (r.Crypto || r.Math) &&
		(isDrawn(err) || errors.As(err, new(*process.NondeterministicError)))
	if more {
		r.Drawing, r.Drawn, r.Branches = r.random.last, bubble.NewDrawn(), process.Branches{}
	}
	return more
}

// client is the config of a client with a program.
func (r *runner) client(program func(*bubble.Handle)) simulator.ClientConfig {
	config := simulator.ClientConfig{
		Timed: r.Timed,
		Host: func(id int, open func() func(int) process.Wire) process.Host {
			h := &bubble.Host{
				T: r.t, ID: id, Program: program, Timed: r.Timed, Horizon: 3 * r.bounds.TTL,
				Open: open, Servers: r.bounds.Servers, Random: r.random.seed, Once: r.once,
				OtherDate: func() int { return r.date }, Leaks: &r.leaks,
			}
			if r.Turns {
				h.Turn = &r.turn
			}
			if !r.Ensemble && r.bounds.Database == nil {
				h.Drawn = r.Drawn
			}
			if r.watch {
				h.Watch = r.shows
			}
			return h
		},
	}
	if !r.once { // one execution goes on in one way
		config.Branches = r.Branches
	}
	return config
}

// shows reports whether lines of a function in a file are the user's: they are in the folder of the client's function,
// and not in this package; or in any other folder that is not Go's, the lab's, vendored or of the cache of modules.
func (r *runner) shows(function, file string) bool {
	_, lab, _, _ := runtime.Caller(0)
	folder := filepath.Dir(file)
	own := !strings.HasPrefix(function, "locklab/") && filepath.IsAbs(file) && !strings.HasPrefix(file, goRoot()) &&
		!strings.Contains(file, "@v") && !strings.Contains(file, "/vendor/")
	if folder == r.folder {
		own = folder != filepath.Dir(lab) || strings.HasSuffix(file, "_test.go")
	}
	if own {
		r.folders.Store(folder, nil)
	}
	return own
}

// goRoot is the folder of Go's own packages, of which this program was compiled.
var goRoot = sync.OnceValue(func() string {
	at := reflect.ValueOf(runtime.GC).Pointer()
	file, _ := runtime.FuncForPC(at).FileLine(at)
	return filepath.Dir(filepath.Dir(file)) + "/"
})

// contender is the program of a client; see explore.Model.
func (r *runner) contender(b *explore.Model) func(*bubble.Handle) {
	return func(c *bubble.Handle) {
		for i := range b.Attempts {
			if b.Timing != nil {
				c.AskBetween(process.Op{Kind: process.Idle, D: b.Timing.Idle})
				r.attempt(&Client{process: c, section: section{work: b.Timing.Work, idle: true}})
				continue
			}
			if i > 0 {
				c.AskBetween(process.Op{Kind: process.Sleep, D: b.Between()})
			}
			for n, entered := 0, false; !entered && n <= len(b.Retries); n++ {
				if n > 0 {
					c.AskBetween(process.Op{Kind: process.Sleep, D: b.Retries[n-1]})
				}
				entered = r.attempt(&Client{process: c, section: section{work: b.Work()}})
			}
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// attempt calls the code once for a client, records how it ends, and reports whether it has entered. An exception of
// its section goes through the code and ends here, as it ends in the handler of a request: the process lives on.
func (r *runner) attempt(one *Client) bool {
	one.runner, one.failures = r, one.process.Failures()
	one.process.Record(history.Event{Kind: history.Acquire})
	func() {
		defer func() {
			if one.thrown {
				recover()
			}
		}()
		r.code(one)
	}()
	if !one.thrown {
		one.ends()
	}
	return one.entered
}

// ends records how an attempt has ended. Whether the lock was refused, or the outcome is
// not known, shows in whether all requests of the attempt had answers.
func (c *Client) ends() {
	if c.entered {
		if !c.said {
			c.process.Record(history.Event{Kind: history.Released, OK: true})
		}
		return
	}
	note := c.note
	if c.probe && !c.answered() {
		note = "no answer"
	}
	c.process.Record(history.Event{Kind: history.Refuse, Claims: c.answered(), Note: note})
}

// answered reports whether all requests of the attempt had answers so far.
func (c *Client) answered() bool { return c.process.Failures() == c.failures }

// probe is the program of the probe; see explore.Model.
func (r *runner) probe(b *explore.Model) func(*bubble.Handle) {
	return func(c *bubble.Handle) {
		if r.attempt(&Client{process: c, probe: true}) {
			return
		}
		for {
			c.AskBetween(process.Op{Kind: process.Sleep, D: 2*b.Between() + b.ClockJumps})
			one := &Client{process: c, probe: true, note: explore.ProbeRefused}
			if r.attempt(one) || one.answered() {
				return
			}
		}
	}
}
