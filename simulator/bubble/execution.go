package bubble

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/routine"
	"locklab/simulator/internal/table"
	"locklab/simulator/process"
)

// execution is one bubble. Everything in it belongs to the code while that runs, and to
// the lab while the agent waits for an order.
type execution struct {
	h       *Host
	number  int           // of its host's
	extra   time.Duration // see Host.extra; 0: this is no shadow, or the code is timed
	open    func(server int) process.Wire
	orders  chan func() // made outside the bubble, as are the next two
	reports chan struct{}
	ended   chan struct{}
	dropped any        // what ended the bubble while goroutines were left; nil: none were
	bubble  string     // its name
	t       *testing.T // of the bubble
	lost    bool       // the bubble does not answer any more
	second  *execution // of code that is not timed: the shadow of the last observation, if it can go on
	later   bool       // time has passed for the next observation as well: see extra

	start   time.Time     // bubble's clock at the beginning
	elapsed time.Duration // how long it has run when the code came to rest
	ahead   time.Duration // the same, where lookAhead has let it run on
	signal  chan struct{} // made in the bubble: the code has done something
	steps   []step
	asked   int  // what it has observed in this instant, or since its program has ended
	wasOver bool // it had ended at the last observation
	slots   [process.MaxThreads]*wait
	timer   timer
	ops     [process.MaxThreads]process.Op
	code    [process.MaxThreads][]string

	mu         sync.Mutex // held for moments only, never while anybody waits
	client     *Handle
	asks       []*wait // of the code itself, in their order
	conns      []*conn
	notes      []history.Event
	acted      bool // the code has done something since the agent last looked
	actAt      time.Time
	over       bool // the program has ended
	dead       bool // being stopped
	err        error
	tokens     int
	main       string // its goroutine, if its lines are watched
	lease      uint8  // of the latest attempt, as in history.Event
	inside     bool   // the critical section
	unanswered int    // requests
	failures   int    // uses of connections after it was stopped
}

// step is one observation and what followed.
type step struct {
	seen  process.TimedObservation
	entry process.Entry // without what the code is going to do by itself
	timer timer
	ops   [process.MaxThreads]process.Op // with it
}

// timer is the next thing that the code does by itself.
type timer struct {
	slot int
	in   time.Duration // from the beginning of the bubble
	set  bool
}

// wait is something that a part of the code waits for.
type wait struct {
	op   process.Op
	code []string
	conn *conn                    // which waits for a server; nil: the code itself does
	done chan process.Observation // of the code itself
}

func (h *Host) start(extra time.Duration) *execution {
	open := h.Open()
	h.executions++
	if h.Drawn != nil {
		open = h.Drawn.execution(drawer{h.ID, h.executions}, open)
	}
	x := &execution{h: h, number: h.executions, extra: extra, open: open, orders: make(chan func()), reports: make(chan struct{}), ended: make(chan struct{})}
	h.Turn.take(x)
	go func() {
		defer close(x.ended)
		defer func() { x.dropped = recover() }()
		synctest.Test(h.T, x.agent)
	}()
	return x
}

// agent is the root of the bubble. It executes orders, waits until all of the code
// waits, and reports.
func (x *execution) agent(t *testing.T) {
	x.t = t
	at := clock.Epoch // so that the code and the servers are of the same date
	if x.h.Timed {
		at = at.Add(-early)
	}
	if x.extra > 0 {
		at = at.Add(x.h.otherDate())
	}
	time.Sleep(time.Until(at))
	x.start, x.bubble = time.Now(), bubble()
	x.signal = make(chan struct{}, 1)
	for do := range x.orders {
		do()
		synctest.Wait()
		x.elapsed = time.Since(x.start)
		x.reports <- struct{}{}
	}
}

// order has the agent do something and waits until the code has come to rest.
func (x *execution) order(do func()) error {
	if x.lost {
		return &StallError{Client: x.h.ID}
	}
	select {
	case x.orders <- do:
	case <-x.ended:
		return x.died()
	}
	ended, err := x.rest(x.reports)
	if ended {
		return x.died()
	}
	return err
}

func (x *execution) died() error {
	x.lost = true
	return fmt.Errorf("simulator: the code of c%d ended its bubble: %v", x.h.ID, x.dropped)
}

// Observe implements process.Execution.
func (x *execution) Observe(s process.TimedObservation, known *process.Entry) (process.Entry, error) {
	e, err := x.observe(s)
	if err != nil {
		return e, err
	}
	if known != nil {
		x.adopt(&e, known)
		x.hold(&e)
		return e, nil
	}
	find := x.shadow
	switch {
	case x.h.Once:
		find = x.lookAhead
	case s.Last: // it can be its own shadow
		find = x.lookOn
	}
	in, found, err := find()
	if err != nil {
		return e, err
	}
	err = x.setTimer(&e, in, found)
	x.hold(&e)
	return e, err
}

// hold keeps the first place from being empty before the program has ended, if what it waits
// for stands in another one: a process whose first thread waits for nothing has come to its end.
// It rests when nothing else of it goes on.
func (x *execution) hold(e *process.Entry) {
	held := len(x.steps) > 1 && x.steps[len(x.steps)-2].ops[0].Kind == process.Join
	holds := e.Ops[0].Kind == process.None && e.Ops != [process.MaxThreads]process.Op{} && !x.finished()
	if holds {
		e.Ops[0] = process.Op{Kind: process.Join}
	}
	if held != holds {
		e.Fresh |= 1
	}
	x.ops, x.steps[len(x.steps)-1].ops = e.Ops, e.Ops
	e.Resting = e.Ops == [process.MaxThreads]process.Op{} && x.finished()
}

// observe gives s to what waits for it and lets the code run.
func (x *execution) observe(s process.TimedObservation) (process.Entry, error) {
	w := x.slots[s.Thread]
	wake := x.timer.set && x.timer.slot == int(s.Thread) && w == nil
	var in []byte
	var broken error
	if w != nil && w.conn != nil {
		in, broken = w.conn.wire.Received(w.op, s.Observation)
	}
	if s.Timed && s.Now+early < x.elapsed {
		return process.Entry{}, fmt.Errorf("simulator: the clock of c%d is set back, which code that runs on the standard library's clock cannot be shown: leave out faults that set clients' clocks", x.h.ID)
	}
	before := x.elapsed
	x.mu.Lock()
	x.acted = false
	x.asks = slices.DeleteFunc(x.asks, func(ask *wait) bool { return ask == w })
	x.mu.Unlock()
	err := x.order(func() {
		if x.h.Random != nil {
			x.h.Random(x.t, uint64(x.h.ID)<<32|uint64(len(x.steps)), x.number)
		}
		x.pass(s, w, wake)
		switch {
		case w != nil:
			w.end(s.Observation, in, broken)
		case s.Kind == process.Started:
			x.begin()
		}
	})
	if err == nil {
		x.mu.Lock()
		err = x.err
		x.mu.Unlock()
	}
	if err != nil {
		return process.Entry{}, err
	}
	if err := x.woke(wake, s.Timed, before); err != nil {
		err.At, err.Branch = armed(x.steps), x.steps[armed(x.steps)].seen.Branch
		return process.Entry{}, err
	}
	x.slots[s.Thread] = nil
	e := process.Entry{Fresh: 1 << s.Thread}
	e.Ops = x.ops
	if e.Ops[0].Kind == process.Join {
		e.Ops[0] = process.Op{} // see hold
	}
	e.Ops[s.Thread] = process.Op{}
	if wake {
		x.timer.set = false
	}
	if err := x.collect(&e); err != nil {
		return e, err
	}
	x.ops = e.Ops
	x.steps = append(x.steps, step{seen: s, entry: e})
	return e, x.countAsks(s.Kind)
}

// mostAsks bounds the requests of code that lets no time pass between them, and those after its program has ended.
const mostAsks = 100

// countAsks counts what code observes without letting time pass, and since its program has ended. The error is an *EndlessError.
func (x *execution) countAsks(seen process.ObservationKind) error {
	over := x.finished()
	if x.asked++; over != x.wasOver || !over && (seen == process.Slept || seen == process.TimedOut) {
		x.asked = 0
	}
	if x.wasOver = over; x.asked > mostAsks {
		return &EndlessError{Client: x.h.ID, Ended: over, Asks: mostAsks}
	}
	return nil
}

// pass lets the time pass that an observation takes. It runs in the agent.
func (x *execution) pass(s process.TimedObservation, w *wait, wake bool) {
	switch {
	case s.Timed:
		time.Sleep(s.Now + early - max(x.elapsed, x.ahead))
		synctest.Wait()
	case wake:
		x.look(idleHorizon)
	default:
		d := took(w, s.Kind)
		if !x.later {
			d += x.extra
		}
		if x.later = false; d > 0 {
			time.Sleep(d)
			synctest.Wait()
		}
	}
}

// woke compares when the code has done something by itself with when it was to do that.
// The shadow found out; code that draws the length of its sleeps does something else.
func (x *execution) woke(wake, timed bool, before time.Duration) *process.DifferentError {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !wake || x.h.Once || !x.acted {
		return nil
	}
	slot := x.timer.slot
	want, got := x.ops[slot].D, x.actAt.Sub(x.start)-before
	if timed {
		want, got = x.timer.in, x.actAt.Sub(x.start)
	}
	if got == want {
		return nil
	}
	was := process.Entry{Ops: x.ops}
	is := was
	is.Ops[slot].D += got - want
	return &process.DifferentError{Was: was, Is: is}
}

// armed is the step after which the code has waited until it has done something by itself.
func armed(steps []step) int {
	at := len(steps) - 1
	for at > 0 && steps[at-1].timer == steps[at].timer {
		at--
	}
	return at
}

// early is by how much the bubble's clock begins before the epoch of the lab's, so that
// a client's clock may be behind: package synctest has them begin in 2000.
var early = clock.Epoch.Sub(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))

// took is the least time that an observation takes.
func took(w *wait, k process.ObservationKind) time.Duration {
	if w != nil && (k == process.Slept || k == process.TimedOut) && w.op.D < clock.EndOfTime {
		return w.op.D
	}
	return 0
}

// collect finds what the code waits for now.
func (x *execution) collect(e *process.Entry) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	e.Notes, x.notes = x.notes, nil
	pending := slices.Clone(x.asks)
	for _, c := range x.conns {
		if err := c.ask(); err != nil {
			return err
		}
		if c.wait != nil {
			pending = append(pending, c.wait)
		}
	}
	// Requests on different connections commute, so the order in which goroutines made
	// them does not count.
	slices.SortStableFunc(pending[len(x.asks):], func(a, b *wait) int {
		return cmp.Or(cmp.Compare(a.op.Node, b.op.Node), cmp.Compare(a.op.Arg, b.op.Arg))
	})
	for i, w := range x.slots {
		if w != nil && !slices.Contains(pending, w) {
			x.slots[i] = nil
			e.Ops[i], e.Fresh = process.Op{}, e.Fresh|1<<i
		}
	}
	for _, w := range pending {
		if slices.Contains(x.slots[:], w) {
			continue
		}
		i := x.vacant(w.op.Kind == process.Listen)
		if i < 0 {
			return table.Limit("limit.waits", "client", x.h.ID, "most", process.MaxThreads)
		}
		x.slots[i], e.Ops[i], e.Fresh = w, w.op, e.Fresh|1<<i
		if x.code[i] = w.code; x.h.Watch != nil && w.code == nil && !x.h.Once {
			x.code[i] = x.mainLines()
		}
	}
	if x.h.Watch != nil {
		e.Code = slices.Clone(x.code[:])
	}
	return nil
}

// vacant is the first place in which nothing waits, or the last one: who only listens is
// not the program's main thread, which may have come to its end.
func (x *execution) vacant(last bool) (at int) {
	at = -1
	for i, w := range x.slots {
		if w == nil && !(x.timer.set && x.timer.slot == i) {
			if at = i; !last {
				break
			}
		}
	}
	return at
}

// shadow has another bubble go through the same history, compares, and finds in how long
// the code does something by itself. While it does nothing, the shadow has let as much time
// pass as it lets pass before the next observation, and goes on with that.
func (x *execution) shadow() (in time.Duration, found bool, err error) {
	extra := x.h.extra()
	if x.h.Timed {
		extra = 0
	}
	y, err := x.another(extra)
	stall, different := (*StallError)(nil), (*process.DifferentError)(nil)
	if extra > 0 && err != nil && !errors.As(err, &stall) {
		if failed := needsTime(x); failed != nil {
			err = failed
		}
	}
	if errors.As(err, &different) && x.h.Drawn != nil && x.h.Drawn.learn(&different.Was, &different.Is) {
		err = &DrawnError{x.h.ID}
	}
	if err != nil {
		return 0, false, err
	}
	in, found, err = y.lookOn()
	if y.later = y.extra > 0 && err == nil && !found; y.later {
		x.second = y
	} else {
		y.Stop()
	}
	return in, found, err
}

// mostShadows bounds the executions that begin until one takes the same of several ways.
const mostShadows = 1000

// another has the shadow of the last observation, or a new execution with so much more time, go through the same history. The error is a
// *process.DifferentError if it does something else.
func (x *execution) another(extra time.Duration) (y *execution, err error) {
	y, x.second = x.second, nil
	var others []process.Entry // what the code does otherwise in the end
	for range mostShadows {
		if y == nil || y.lost || y.extra != extra {
			y = x.h.start(extra)
		}
		if err = y.repeat(x.steps); err == nil {
			return y, nil
		}
		y.Stop()
		different := (*process.DifferentError)(nil)
		if !errors.As(err, &different) || !different.Branch {
			return nil, err
		}
		known := slices.ContainsFunc(others, func(e process.Entry) bool { return e.SameActions(&different.Is) })
		if different.At == len(x.steps)-1 && !known {
			if others = append(others, different.Is); len(others) >= process.MostWays {
				different.Branch, different.At = false, -1
				return nil, err
			}
		}
	}
	return nil, err
}

// timeTrials is the number of executions that show that chance is not why code does something else at another time.
const timeTrials = 10

// needsTime executes the same history in the time that it took, after one with more time has come to something else. The error is a
// *NeedsTimeError if all do the same as the first; nil: one has failed otherwise.
func needsTime(x *execution) error {
	for range timeTrials {
		y, err := x.another(0)
		if different := (*process.DifferentError)(nil); errors.As(err, &different) {
			return err
		}
		if err != nil {
			return nil
		}
		y.Stop()
	}
	return &NeedsTimeError{x.h.ID}
}

// lookOn lets time pass until the code of x does something by itself, and says in how
// long. Code that has not ended must do something, or wait for something, in the end.
func (x *execution) lookOn() (in time.Duration, found bool, err error) {
	before, idle := x.elapsed, !x.over && !x.waits()
	for _, horizon := range []time.Duration{x.h.Horizon, idleHorizon} {
		if err := x.order(func() { x.look(horizon) }); err != nil {
			return 0, false, err
		}
		x.mu.Lock()
		failed, acted, in := x.err, x.acted, x.actAt.Sub(x.start)-before
		x.mu.Unlock()
		switch {
		case failed != nil:
			return 0, false, failed
		case acted:
			return in, true, nil
		case !idle:
			return 0, false, nil
		}
	}
	return 0, false, x.stuck()
}

// idleHorizon is the longest sleep of code that waits for nothing else.
const idleHorizon = 24 * time.Hour

// lookAhead is shadow without a second execution: only where the code waits for nothing
// else does this one run ahead.
func (x *execution) lookAhead() (in time.Duration, found bool, err error) {
	if x.waits() {
		return 0, false, nil
	}
	before := x.elapsed
	in, found, err = x.lookOn()
	x.ahead, x.elapsed = x.elapsed, before
	return in, found, err
}

// repeat runs what is left of a history. The error is a *process.DifferentError where the code does something else than it did.
func (x *execution) repeat(steps []step) error {
	for i := len(x.steps); i < len(steps); i++ {
		if i > 0 {
			x.timer, x.ops = steps[i-1].timer, steps[i-1].ops
			x.steps[i-1].timer = x.timer
		}
		e, err := x.observe(steps[i].seen)
		if err != nil {
			return err
		}
		if !e.SameActions(&steps[i].entry) {
			return &process.DifferentError{Was: steps[i].entry, Is: e, At: i, Branch: steps[i].seen.Branch}
		}
	}
	return nil
}

// setTimer enters what the code is going to do by itself.
func (x *execution) setTimer(e *process.Entry, in time.Duration, found bool) error {
	last := &x.steps[len(x.steps)-1]
	defer func() { x.ops, last.ops, last.timer = e.Ops, e.Ops, x.timer }()
	due := x.elapsed + in
	if x.timer.set && found && x.timer.in == due {
		return nil // it is still the same
	}
	at := x.timer.slot
	if x.timer.set {
		x.timer.set = false
		e.Ops[at], e.Fresh = process.Op{}, e.Fresh|1<<at
	}
	if !found {
		return nil
	}
	if !x.h.Timed && x.waits() {
		return &NeedsTimeError{x.h.ID}
	}
	i := x.vacant(false)
	if i < 0 {
		return table.Limit("limit.waits", "client", x.h.ID, "most", process.MaxThreads)
	}
	x.timer = timer{slot: i, in: due, set: true}
	e.Ops[i], e.Fresh = process.Op{Kind: process.Sleep, D: in}, e.Fresh|1<<i
	x.code[i] = nil
	if x.h.Watch != nil {
		e.Code = slices.Clone(x.code[:])
	}
	return nil
}

func (x *execution) waits() bool {
	return slices.ContainsFunc(x.slots[:], func(w *wait) bool { return w != nil })
}

// adopt takes over from the table what the code is going to do by itself.
func (x *execution) adopt(e, known *process.Entry) {
	last := &x.steps[len(x.steps)-1]
	if t := x.timer; t.set && (known.Fresh&(1<<t.slot) != 0 || known.Ops[t.slot].Kind != process.Sleep) {
		x.timer.set = false
	}
	for i := range known.Ops {
		if x.slots[i] == nil && known.Ops[i].Kind == process.Sleep && known.Fresh&(1<<i) != 0 {
			x.timer = timer{slot: i, in: x.elapsed + known.Ops[i].D, set: true}
		}
	}
	e.Ops, e.Fresh = x.merge(e, known)
	x.ops = e.Ops
	last.ops, last.timer = e.Ops, x.timer
}

// merge is e with the timers of known.
func (x *execution) merge(e, known *process.Entry) (ops [process.MaxThreads]process.Op, fresh uint8) {
	ops, fresh = e.Ops, e.Fresh
	for i := range ops {
		if x.slots[i] != nil {
			continue
		}
		switch known.Ops[i].Kind {
		case process.Sleep, process.None:
			ops[i] = known.Ops[i]
		case process.Join: // see hold
			ops[i] = process.Op{}
		default:
			continue
		}
		fresh = fresh&^(1<<i) | known.Fresh&(1<<i)
	}
	return ops, fresh
}

// begin starts the program.
func (x *execution) begin() {
	x.client = newClient(x)
	go func() {
		if x.h.Watch != nil {
			main := routine.Current().Name
			x.mu.Lock()
			x.main = main
			x.mu.Unlock()
		}
		returned := false
		defer func() {
			r := recover()
			x.mu.Lock()
			defer x.mu.Unlock()
			x.over = true
			switch {
			case x.dead:
			case r != nil:
				x.err = &PanicError{x.h.ID, r, string(debug.Stack())}
			case !returned:
				x.err = fmt.Errorf("simulator: the code of c%d ended its goroutine (t.FailNow, or runtime.Goexit): return instead, and look at what happened afterwards", x.h.ID)
			}
			x.act()
		}()
		x.h.Program(x.client)
		returned = true
	}()
}

// act notes that the code has done something that can be seen. x.mu is held.
func (x *execution) act() {
	if !x.acted {
		x.acted, x.actAt = true, time.Now()
	}
	select {
	case x.signal <- struct{}{}:
	default:
	}
}

// look lets time pass, at most d, until the code does something by itself. It runs in the agent.
func (x *execution) look(d time.Duration) {
	synctest.Wait()
	select {
	case <-x.signal:
	default:
	}
	x.mu.Lock()
	x.acted = false
	x.mu.Unlock()
	horizon := time.NewTimer(d)
	defer horizon.Stop()
	select {
	case <-x.signal:
	case <-horizon.C:
	}
}

// Stop implements process.Execution. Connections fail, time runs out; what nothing can
// wake is left behind.
func (x *execution) Stop() {
	if x.second != nil {
		x.second.Stop()
	}
	if x.lost {
		return
	}
	x.mu.Lock()
	x.dead = true
	x.mu.Unlock()
	came := x.elapsed
	if err := x.order(x.drain); errors.As(err, new(*StallError)) {
		x.h.leak()
	} else if err == nil {
		x.elapsed = came // see Host.Turn: its history ends here
		close(x.orders)
		if _, err := x.rest(nil); err != nil || x.dropped != nil {
			x.h.leak()
		}
	}
	x.lost = true
}

// afterwards is the time that passes after the program of an execution that is stopped: for goroutines that sleep
// before they see that their connection is gone, as those of libraries do. A bubble's clock stands still when the
// agent has ended.
const afterwards = time.Minute

// drain has everything fail that the code waits for, and lets time pass.
func (x *execution) drain() {
	if x.client == nil {
		return
	}
	x.client.cancel()
	for _, w := range x.asks {
		close(w.done)
	}
	for _, c := range x.conns {
		c.fail()
	}
	synctest.Wait()
	for d := time.Second; !x.finished() && d < 100*time.Hour; d *= 4 {
		time.Sleep(d)
		synctest.Wait()
	}
	time.Sleep(afterwards)
}

func (x *execution) finished() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over
}
