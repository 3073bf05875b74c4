package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/database"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/process"
	"locklab/simulator/schedule"
)

// plan is a test of one lock: its bounds and its code.
type plan struct {
	t        *testing.T
	bounds   Bounds
	entry    lock.Entry
	study    search.Bounds
	run      *runner
	*known                 // of the runner
	*called                // likewise
	any      bool          // Bounds.Clients is Any: bounds and study are for single runs
	endless  bool          // likewise: no fault of the budget is used up
	lease    time.Duration // that one client alone has got; 0: one without an end
	fences   bool          // it came with a fencing token
	contents any           // what one client alone has left on its server
	apart    apart
	orders   int   // histories whose orders were tried in one way
	aside    error // why there is no search at any timing beside the one in lockstep; nil: there is one, or none is due
}

func newPlan(t *testing.T, b Bounds, code func(*Client)) (*plan, error) {
	p := &plan{t: t}
	p.run = &runner{t: t, bounds: &p.bounds, code: code,
		known: known{Drawing: *drawingFlag, Drawn: bubble.NewDrawn(), Branches: process.Branches{}}}
	p.known, p.called = &p.run.known, &p.run.called
	if b.Clients == Any {
		if err := p.forAnyNumber(&b); err != nil {
			return nil, err
		}
	}
	b = b.filled()
	p.bounds = b
	p.entry = lock.Entry{
		ID: t.Name(), Family: lock.OneStep, Server: lock.OnRedis(b.Servers),
		TTL: b.TTL, Unit: time.Nanosecond, Expiry: lock.ExpiryServer,
	}
	if b.Holder != nil {
		p.entry.Holder = func(value string) string { return b.Holder(p.Drawn.Value(value)) }
	}
	p.study = search.Bounds{Budget: faults.Budget(b.Budget), Scope: explore.Scope{
		Clients: b.Clients, Attempts: b.Attempts, Nodes: b.Servers, TTL: b.TTL, Fenced: b.Fenced,
		Slow: b.Slow, Noisy: b.Noisy, Limits: explore.Limits{MaxStates: b.MaxStates},
	}}
	p.study.Latency = b.Latency
	if b.AnyTiming {
		p.study.Timing = search.AnyTiming
	}
	if b.Database != nil {
		if err := p.onDatabase(); err != nil {
			return nil, err
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	file, _ := placeOf(code)
	p.run.folder = filepath.Dir(file)
	p.run.random = newRandom(t, p.known)
	return p, nil
}

// placeOf returns the file and the line in which a client's function begins.
func placeOf(code func(*Client)) (file string, line int) {
	at := reflect.ValueOf(code).Pointer()
	return runtime.FuncForPC(at).FileLine(at)
}

// onZooKeeper makes the server a ZooKeeper. A lease is then the time-out of a session.
func (p *plan) onZooKeeper() error {
	p.Ensemble = true
	p.entry.Family, p.entry.Expiry = lock.Line, lock.ExpirySession
	p.entry.Server = lock.OnZooKeeper(func(string) string { return "" }) // the code makes its znodes itself
	if p.bounds.Servers > 1 {
		return text.Errorf("locktest.zookeeper.servers", "n", p.bounds.Servers)
	}
	return p.check()
}

// onDatabase makes the server the database of the bounds.
func (p *plan) onDatabase() error {
	d := p.bounds.Database
	if p.bounds.Servers > 1 || p.any {
		return text.Errorf("locktest.bounds.database.beside")
	}
	if err := d.Check(); err != nil {
		return text.Errorf("locktest.bounds.database", "cause", err)
	}
	p.entry.Family, p.entry.Server, p.entry.Fencing = lock.Rows, lock.InDatabase(lock.MySQL), true // its own tokens
	if d.Dialect == database.PostgreSQL {
		p.entry.Server = lock.InDatabase(lock.PostgreSQL)
	}
	p.contents = *d
	return nil
}

// settled returns bounds as they are searched. At any timing the timers of timed code are exact, since a bubble woken
// late shows the instant of its timer; and code that has the time of day in the state may not wait without end.
func settled(bounds search.Bounds, timed, dated bool) search.Bounds {
	if bounds.Timing == search.AnyTiming && timed {
		bounds.Idle, bounds.Lateness = bounds.Idle || dated, search.AtOnce
	}
	return bounds
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
	if !p.Ensemble && len(p.Drawn.Arguments) > 0 {
		b.Drawn = p.Drawn.Value
	}
	b.Code = func(probe bool) simulator.ClientConfig {
		if probe {
			config := p.run.client(p.run.probe(b))
			config.Near = true // as in package explore
			return config
		}
		config := p.run.client(p.run.contender(b))
		config.Rests = b.Timing != nil
		return config
	}
}

// searchUpTo makes the plan's search with so many attempts. When ctx or Bounds.MaxTime ends it, it has what it found.
func (p *plan) searchUpTo(ctx context.Context, attempts int) (*search.Search, error) {
	ctx, cancel := bubble.Within(ctx, p.bounds.MaxTime)
	defer cancel()
	b := p.study
	b.Attempts = attempts
	s, err := p.searchWithin(ctx, b)
	ended := ctx.Err() != nil && errors.Is(err, ctx.Err())
	late := ended && context.Cause(ctx) == context.DeadlineExceeded
	if late && s == nil {
		s = search.Of(p.entry, b, &explore.Result{})
	}
	if s != nil && !s.Complete {
		s.Result.Limit = p.cutBy(s, late)
	}
	if ended && s != nil {
		err = nil
	}
	return s, err
}

// searchWithin makes a search of the code; it comes with the error of ctx, too.
func (p *plan) searchWithin(ctx context.Context, bounds search.Bounds) (s *search.Search, err error) {
	if testing.Verbose() {
		what := language().Each(func(lang string) string { return certificate.Scope(bounds, lang) })
		p.t.Log(tell("locktest.search.begins", "what", what))
		defer func() {
			if s != nil {
				p.t.Log(tell("locktest.search.ends", "states", fmt.Sprint(s.States),
					"complete", fmt.Sprint(s.Complete), "verdicts", cmp.Or(strings.Join(s.Pars(), " "), "-")))
			}
		}()
	}
	err = p.run.untilKnown(func() error {
		if bounds.Timing == search.AnyTiming && p.Timed && bounds.Lateness > 0 {
			return text.Errorf("locktest.late", "lateness", bounds.Lateness)
		}
		bounds := settled(bounds, p.Timed, p.Dated)
		b, err := p.within(bounds)
		if err != nil {
			return err
		}
		result, err := explore.Search(ctx, b)
		if result != nil {
			s = search.Of(p.entry, bounds, result)
			s.NoClaims = !p.says.Load()
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
	p.run.random.look()
	again := p.run.random.noticed || errors.As(err, new(*bubble.NeedsTimeError)) ||
		errors.As(err, new(*bubble.DrawnError))
	if again || !errors.As(err, &where) {
		return err
	}
	last := len(where.Choices) - 1
	o, failed := p.playWithin(bounds, where.Choices[:last])
	if failed != nil {
		return err
	}
	return &runError{err, o, where.Choices[last].String()}
}

// play plays a trace of a search, and notes the lines of the code.
func (p *plan) play(trace simulator.Trace) (*race.Outcome, error) {
	b, err := search.ParseBounds(trace.Settings)
	if err != nil {
		return nil, err
	}
	p.Timed, p.Dated = p.Timed || b.Lateness == search.AtOnce, p.Dated || b.Idle
	o, err := p.playWithin(b, trace.Choices)
	if errors.As(err, new(*simulator.NotEnabledError)) { // it may be of code that goes on in several ways
		p.Branches.Everywhere()
		if again, err := p.playWithin(b, trace.Choices); err == nil {
			return again, nil
		}
	}
	return o, err
}

func (p *plan) playWithin(bounds search.Bounds, choices []simulator.Choice) (o *race.Outcome, err error) {
	p.run.watch = true
	defer func() { p.run.watch = false }()
	err = p.run.untilKnown(func() error {
		return p.simulate(bounds, false, func(s *simulation) error {
			run, err := schedule.Replay(s.Simulator, choices)
			if err == nil {
				o = s.Outcome(run)
			}
			return err
		})
	})
	return o, err
}

// A simulation is one run of the code: alone, by random choices, or by those of a trace.
type simulation struct {
	*search.Opened
	model *explore.Model
	run   *schedule.Recorder
}

// simulate calls do with a simulation within bounds, of one client alone, in lockstep, or of all and the probe.
func (p *plan) simulate(bounds search.Bounds, alone bool, do func(s *simulation) error) error {
	if alone {
		bounds.Timing = search.Lockstep
	}
	m, err := p.within(bounds)
	if err != nil {
		return err
	}
	if alone {
		m.Clients, m.NoProbe, m.Faults = 1, true, nil
	}
	sim, err := m.Simulator()
	if err != nil {
		return err
	}
	defer sim.Close()
	return do(&simulation{bounds.Opened(m, sim), m, schedule.Record(sim)})
}

// soFar judges the run up to now, which no clock has ended.
func (s *simulation) soFar() *race.Outcome {
	run := s.run.Run()
	run.Horizon = false
	return s.Outcome(run)
}

// step makes a choice. An error about the code comes with the run that has led to it.
func (s *simulation) step(c simulator.Choice) ([]history.Event, error) {
	events, err := s.run.Step(c)
	if err != nil && !errors.As(err, new(*simulator.NotEnabledError)) {
		err = &runError{err, s.soFar(), c.String()}
	}
	return events, err
}
