package locktest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/database"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/process"
	"locklab/simulator/schedule"
)

// plan is a test of one lock: its bounds and its code.
type plan struct {
	t        *testing.T
	reportTo testing.TB // t, but in tests of this package
	bounds   Bounds
	code     func(*Client)
	entry    lock.Entry
	study    search.Bounds
	any      *anyNumber  // Bounds.Clients is Any: bounds and study are for single runs; nil: it is a number
	numbered atomic.Bool // the code has asked for its client's number
	random   *random
	drawn    *bubble.Drawn          // what the code draws and sends to Redis servers
	branches process.Branches       // where the code goes on in several ways
	folder   string                 // of the code
	timed    bool                   // the code gets the time with every observation
	dated    bool                   // at any timing: and the time of day is part of the state
	watch    bool                   // the lines of the code are noted
	once     bool                   // nothing is compared: see bubble.Host.Once
	late     bool                   // Bounds.MaxTime has ended the search
	leaks    bubble.Leaks           // the executions that have left goroutines behind
	dates    bool                   // executions begin at other dates: see bubble.Host.OtherDates
	wanted   atomic.Int32           // the highest server that the code asked for and that there is not
	env      atomic.Bool            // the code has called Env
	says     atomic.Bool            // the code has called Says
	lease    time.Duration          // that one client alone has got; 0: one without an end
	fences   bool                   // it came with a fencing token
	ensemble bool                   // the server is a ZooKeeper: the code speaks its protocol
	contents any                    // what one client alone has left on it
	dialed   atomic.Bool            // the code has called Dial
	missed   atomic.Pointer[string] // an address that was dialed, of no server
	turn     *bubble.Turn           // the code keeps in a variable of its package what an execution has made; nil: it does not
	apart    apart
	orders   int   // histories whose orders were tried in one way
	aside    error // why there is no search at any timing beside the one in lockstep; nil: there is one, or none was to be made
}

func newPlan(t *testing.T, b Bounds, code func(*Client)) (*plan, error) {
	p := &plan{t: t, reportTo: t, code: code, drawn: bubble.NewDrawn(), branches: process.Branches{}}
	if b.Clients == Any {
		var err error
		if p.any, err = newAnyNumber(p, &b); err != nil {
			return nil, err
		}
	}
	b = b.filled()
	p.bounds = b
	p.entry = lock.Entry{ID: t.Name(), Family: lock.OneStep, Nodes: b.Servers, TTL: b.TTL, Unit: time.Nanosecond, Expiry: lock.ExpiryServer}
	p.study = search.Bounds{Scope: explore.Scope{Clients: b.Clients, Attempts: b.Attempts, Nodes: b.Servers, TTL: b.TTL, Fenced: b.Fenced, Slow: b.Slow, Noisy: b.Noisy, Limits: explore.Limits{MaxStates: b.MaxStates}}, Budget: faults.Budget(b.Budget)}
	if b.AnyTiming {
		p.study.Timing = search.AnyTiming
	}
	if b.Database != nil {
		if err := onDatabase(p); err != nil {
			return nil, err
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.folder = folderOf(code)
	p.random = newRandom(t)
	return p, nil
}

// placeOf returns the file and the line in which a client's function begins.
func placeOf(code func(*Client)) (file string, line int) {
	at := reflect.ValueOf(code).Pointer()
	return runtime.FuncForPC(at).FileLine(at)
}

func folderOf(code func(*Client)) string {
	file, _ := placeOf(code)
	return filepath.Dir(file)
}

// onZooKeeper makes the server a ZooKeeper. A lease is then the time-out of a session.
func (p *plan) onZooKeeper() error {
	p.ensemble = true
	p.entry.Family, p.entry.Nodes, p.entry.Expiry = lock.Line, 0, lock.ExpirySession
	p.entry.Line = func(string) string { return "" } // the code makes its znodes itself
	if p.bounds.Servers > 1 {
		return text.Errorf("locktest.zookeeper.servers", "n", p.bounds.Servers)
	}
	return p.check()
}

// onDatabase makes the server the database of the bounds.
func onDatabase(p *plan) error {
	d := p.bounds.Database
	if p.bounds.Servers > 1 || p.any != nil {
		return text.Errorf("locktest.bounds.database.beside")
	}
	if err := d.Check(); err != nil {
		return text.Errorf("locktest.bounds.database", "cause", err)
	}
	p.entry.Family, p.entry.Database, p.entry.Fencing = lock.Rows, lock.MySQL, true // the code has its tokens itself
	if d.Dialect == database.PostgreSQL {
		p.entry.Database = lock.PostgreSQL
	}
	p.contents = *d
	return nil
}

// check returns what is wrong with the bounds.
func (p *plan) check() error {
	b := &p.bounds
	switch {
	case p.code == nil:
		return text.Errorf("locktest.bounds.nil")
	case b.Clients == 0:
		return text.Errorf("locktest.bounds.clients")
	case b.MaxStates < 0:
		return text.Errorf("locktest.bounds.states", "n", b.MaxStates)
	case b.Schedules < 0:
		return text.Errorf("locktest.bounds.schedules", "n", b.Schedules)
	case b.TTL <= 0:
		return text.Errorf("locktest.bounds.ttl", "ttl", b.TTL)
	case b.TTL%(10*time.Millisecond) != 0:
		return text.Errorf("locktest.bounds.ttl.grain", "ttl", b.TTL)
	}
	if err := checkBudget(faults.Budget(b.Budget)); err != nil {
		return text.Errorf("locktest.bounds.budget", "cause", err)
	}
	if b.Servers > 1 && b.Servers < 3 {
		return text.Errorf("locktest.bounds.servers", "n", b.Servers)
	}
	return p.study.Check(p.entry)
}

// checkBudget refuses faults that cannot befall code in a bubble.
func checkBudget(written faults.Budget) error {
	for _, rate := range []string{"client-rate", "node-rate"} {
		if strings.Contains(string(written), rate+"=") {
			return text.Errorf("locktest.bounds.rate", "budget", written, "fault", rate)
		}
	}
	budget, err := written.Parse()
	for _, a := range budget {
		if a.Fault == faults.ClientClock {
			return text.Errorf("locktest.bounds.clock", "budget", written, "fault", a.Fault.Name)
		}
	}
	return err
}

// lockstep returns the bounds of the plan in lockstep, in which single runs are played.
func (p *plan) lockstep() search.Bounds {
	b := p.study
	b.Timing = search.Lockstep
	return b
}

// settled returns bounds as they are searched. At any timing the timers of code that is timed are exact, since a bubble
// that is woken late shows the instant of its timer; and code that has the time of day in the state may not wait without end.
func settled(bounds search.Bounds, timed, dated bool) search.Bounds {
	if bounds.Timing == search.AnyTiming && timed {
		bounds.Idle, bounds.Lateness = bounds.Idle || dated, search.AtOnce
	}
	return bounds
}

// isOwn reports whether a trace is of the plan's bounds, or of these in lockstep.
func (p *plan) isOwn(trace simulator.Trace) bool {
	if p.any != nil {
		return p.any.isOfFew(trace)
	}
	is, err := search.ParseBounds(trace.Settings)
	is.Epoch = 0 // whenever it was found
	return slices.ContainsFunc([]search.Bounds{p.study, settled(p.study, true, false), settled(p.study, true, true), p.lockstep(), besides(p, 1), besides(p, p.study.Attempts)}, func(b search.Bounds) bool { return err == nil && b.String() == is.String() })
}

// within is a search of the code within bounds.
func (p *plan) within(bounds search.Bounds) (*explore.Model, error) {
	b, err := bounds.Model(p.entry)
	if err != nil {
		return nil, err
	}
	p.putInto(b)
	b.Afterwards = func(sim *simulator.Simulator) error { return repeatHistories(p, bounds, sim) }
	return b, nil
}

// putInto puts the code in place of the lock of a search.
func (p *plan) putInto(b *explore.Model) {
	b.Key, b.Contents = p.bounds.Key, p.contents
	if !p.ensemble && len(p.drawn.Arguments) > 0 {
		b.Drawn = p.drawn.Value
	}
	b.Code = func(probe bool) simulator.ClientConfig {
		if probe {
			config := p.client(p.probe(b))
			config.Near = true // as in package explore
			return config
		}
		config := p.client(p.contender(b))
		config.Rests = b.Timing != nil
		return config
	}
}

// client is the config of a client with a program.
func (p *plan) client(program func(*bubble.Handle)) simulator.ClientConfig {
	port := 6379
	if p.ensemble {
		port = 2181
	}
	branches := p.branches
	if p.once {
		branches = nil // one execution, one way
	}
	return simulator.ClientConfig{
		Timed: p.timed, Branches: branches,
		Host: func(id int, open func() func(int) process.Wire) process.Host {
			h := &bubble.Host{
				T: p.t, ID: id, Program: program, Timed: p.timed, Horizon: 3 * p.bounds.TTL,
				Open: open, Servers: p.bounds.Servers, Port: port, Random: p.random.seed, Once: p.once,
				OtherDates: func() bool { return p.dates }, Leaks: &p.leaks, Turn: p.turn,
			}
			if !p.ensemble && p.bounds.Database == nil {
				h.Drawn = p.drawn
			}
			if p.watch {
				h.Watch = p.shows
			}
			return h
		},
	}
}

// shows reports whether lines of a source file are the user's: they are in the folder of
// the client's function, and not in this package.
func (p *plan) shows(file string) bool {
	_, own, _, _ := runtime.Caller(0)
	return filepath.Dir(file) == p.folder && (p.folder != filepath.Dir(own) || strings.HasSuffix(file, "_test.go"))
}

// contender is the program of a client; see explore.Model.
func (p *plan) contender(b *explore.Model) func(*bubble.Handle) {
	if b.Timing != nil {
		return func(c *bubble.Handle) {
			for range b.Attempts {
				c.AskBetween(process.Op{Kind: process.Idle, D: b.Timing.Idle})
				p.attempt(&Client{process: c, section: section{work: b.Timing.Work, idle: true}})
			}
			c.Record(history.Event{Kind: history.Done})
		}
	}
	return func(c *bubble.Handle) {
		for i := range b.Attempts {
			if i > 0 {
				c.AskBetween(process.Op{Kind: process.Sleep, D: b.Between()})
			}
			entered := p.attempt(&Client{process: c, section: section{work: b.Work()}})
			for _, sleep := range b.Retries {
				if entered {
					break
				}
				c.AskBetween(process.Op{Kind: process.Sleep, D: sleep})
				entered = p.attempt(&Client{process: c, section: section{work: b.Work()}})
			}
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// attempt calls the code once for a client, records how it ends, and reports whether it has entered. An
// exception of its section goes through the code and ends here, as it ends in the handler of a request: the
// process lives on.
func (p *plan) attempt(one *Client) bool {
	one.plan, one.failures = p, one.process.Failures()
	one.process.Record(history.Event{Kind: history.Acquire})
	func() {
		defer func() {
			if one.thrown {
				recover()
			}
		}()
		p.code(one)
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
func (p *plan) probe(b *explore.Model) func(*bubble.Handle) {
	return func(c *bubble.Handle) {
		if p.attempt(&Client{process: c, probe: true}) {
			return
		}
		for {
			c.AskBetween(process.Op{Kind: process.Sleep, D: 2*b.Between() + b.ClockJumps})
			one := &Client{process: c, probe: true, note: explore.ProbeRefused}
			if p.attempt(one) || one.answered() {
				return
			}
		}
	}
}

// untilTimed calls f, and once more if the code turns out to need the time, to draw
// random numbers or values, or to go on in several ways.
func (p *plan) untilTimed(f func() error) error {
	for {
		err := f()
		needs := (*bubble.NeedsTimeError)(nil)
		switch {
		case draws(p, err), p.branches.Learn(err), drawsMore(p, err):
		case errors.As(err, &needs) && !p.timed:
			p.timed = true
		case errors.Is(err, explore.ErrReadsClock) && !p.dated:
			p.dated = true
		default:
			return err
		}
	}
}

// draws reports whether the code has turned out to draw random numbers, or values, since the last call.
func draws(p *plan, err error) bool {
	return p.random.begins() || errors.As(err, new(*bubble.DrawnError))
}

// isDrawn reports whether servers do something else with values as code draws them.
func isDrawn(err error) bool {
	r := (*hypothesis.Refuted)(nil)
	return errors.As(err, &r) && r.Of == hypothesis.Drawn
}

// drawsMore reports whether the code has turned out to draw more than values by chance, so that it has to draw the same each time.
func drawsMore(p *plan, err error) bool {
	more := !p.random.same && (p.random.crypto || p.random.math) &&
		(errors.As(err, new(*process.NondeterministicError)) || isDrawn(err))
	if more {
		p.random.same, p.drawn, p.branches = true, bubble.NewDrawn(), process.Branches{}
	}
	return more
}

// search makes the search of the plan. One that ctx or Bounds.MaxTime ends has what was found by then.
func (p *plan) search(ctx context.Context) (*search.Search, error) {
	ctx, cancel := within(ctx, p.bounds.MaxTime)
	defer cancel()
	s, err := p.searchWithin(ctx, p.study)
	ended := ctx.Err() != nil && errors.Is(err, ctx.Err())
	p.late = ended && context.Cause(ctx) == context.DeadlineExceeded
	switch {
	case ended && s != nil:
		return s, nil
	case p.late:
		return nil, text.Errorf("locktest.late.time", "time", p.bounds.MaxTime)
	}
	return s, err
}

// searchWithin makes a search of the code; it comes with the error of ctx, too.
func (p *plan) searchWithin(ctx context.Context, bounds search.Bounds) (s *search.Search, err error) {
	err = p.untilTimed(func() error {
		if bounds.Timing == search.AnyTiming && p.timed && bounds.Lateness > 0 {
			return text.Errorf("locktest.late", "lateness", bounds.Lateness)
		}
		bounds := settled(bounds, p.timed, p.dated)
		b, err := p.within(bounds)
		if err != nil {
			return err
		}
		result, err := explore.Search(ctx, b)
		if result == nil {
			return p.withRun(bounds, err)
		}
		s = &search.Search{Lock: p.entry, Bounds: bounds.Settled(p.entry), Result: result, NoClaims: !p.says.Load()}
		for _, w := range result.Found {
			s.Witnesses = append(s.Witnesses, search.Witness{Witness: w, Trace: p.traceWithin(s.Bounds, w.Choices)})
		}
		return p.withRun(bounds, err)
	})
	return s, err
}

// A runError is an error about the code, with the run that has led to it.
type runError struct {
	error
	run  *race.Outcome
	next string // the choice that could not be made
}

func (e *runError) Unwrap() error { return e.error }

// withRun returns an error of a search with the run that has led to it, if it can be played.
func (p *plan) withRun(bounds search.Bounds, err error) error {
	where := (*explore.ScheduleError)(nil)
	if p.random.look(); p.random.noticed || !errors.As(err, &where) || errors.As(err, new(*bubble.NeedsTimeError)) || errors.As(err, new(*bubble.DrawnError)) {
		return err // but for the second: the search begins anew
	}
	last := len(where.Choices) - 1
	o, failed := p.playWithin(bounds, where.Choices[:last])
	if failed != nil {
		return err
	}
	return &runError{err, o, where.Choices[last].String()}
}

// checkLease compares the lease that the code has got with the one of the bounds.
func (p *plan) checkLease() error {
	if p.ensemble && p.lease != p.bounds.TTL {
		return text.Errorf("locktest.bounds.ttl.session", "ttl", p.bounds.TTL, "session", p.lease)
	}
	if p.lease > 0 && p.lease != p.bounds.TTL {
		return text.Errorf("locktest.bounds.ttl.lease", "ttl", p.bounds.TTL, "key", fmt.Sprintf("%q", p.bounds.Key), "lease", p.lease)
	}
	return nil
}

func (p *plan) traceWithin(b search.Bounds, choices []simulator.Choice) simulator.Trace {
	return simulator.Trace{Lock: p.entry.ID, Race: search.SearchID, Settings: b.String(), Choices: choices}
}

// play plays a trace of a search, and notes the lines of the code.
func (p *plan) play(trace simulator.Trace) (*race.Outcome, error) {
	b, err := search.ParseBounds(trace.Settings)
	if err != nil {
		return nil, err
	}
	p.timed, p.dated = p.timed || b.Lateness == search.AtOnce, p.dated || b.Idle
	o, err := p.playWithin(b, trace.Choices)
	if errors.As(err, new(*simulator.NotEnabledError)) { // it may be of code that goes on in several ways
		p.branches.Everywhere()
		if again, err := p.playWithin(b, trace.Choices); err == nil {
			return again, nil
		}
	}
	return o, err
}

func (p *plan) playWithin(bounds search.Bounds, choices []simulator.Choice) (o *race.Outcome, err error) {
	p.watch = true
	defer func() { p.watch = false }()
	err = p.untilTimed(func() error {
		b, err := p.within(bounds)
		if err != nil {
			return err
		}
		sim, err := b.Simulator()
		if err != nil {
			return err
		}
		defer sim.Close()
		run, err := schedule.Replay(sim, choices)
		if err != nil {
			return err
		}
		o = search.OutcomeOf(b, run)
		o.Race, o.Trace = bounds.Race(), p.traceWithin(bounds, choices)
		return nil
	})
	return o, err
}
