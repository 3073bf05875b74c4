package bubble

import (
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/process"
)

// An execution is one run of a client's code through one history, in a bubble. The code's side of it is client; all else
// belongs to the lab.
type execution struct {
	h       *Host
	number  int           // of its host's, from 1
	extra   time.Duration // that passes before each observation as well, of code that is not timed; 0: this is no shadow
	agent   *agent
	client  *Handle
	standby *execution    // the shadow of the last observation, of code that is not timed, if it can go on
	ahead   bool          // as a standby: extra has passed before the next observation
	elapsed time.Duration // the bubble's time when the code came to rest after the last observation
	steps   []step
	slots   [process.MaxThreads]*wait
	timer   timer
	ops     [process.MaxThreads]process.Op // what the slots and the timer wait for
	code    [process.MaxThreads][]string   // where in the code that is, if it is watched
	asked   int                            // observations in this instant, or since the program has ended
	wasOver bool                           // it had ended at the last one
}

// A step is one observation and what followed.
type step struct {
	seen  process.TimedObservation
	entry process.Entry // without the timer
	timer timer
	ops   [process.MaxThreads]process.Op // with it
}

// A timer is the next thing that the code does by itself: a Sleep in a slot.
type timer struct {
	slot int
	in   time.Duration // from the beginning of the bubble
	set  bool
}

// Observe implements process.Execution.
func (x *execution) Observe(s process.TimedObservation, known *process.Entry) (process.Entry, error) {
	if x.agent.lost && x.h.Turn != nil { // another execution has had the turn since
		y, err := x.another(x.extra)
		if err != nil {
			return process.Entry{}, err
		}
		y.steps, y.timer, y.ops = x.steps, x.timer, x.ops
		*x = *y
	}
	e, err := x.observe(s)
	if err != nil {
		return e, err
	}
	if known != nil {
		x.adopt(&e, known)
		x.settle(&e)
		return e, nil
	}
	find := x.shadow
	switch {
	case x.h.Once:
		find = x.alone
	case s.Last: // it can be its own shadow
		find = x.lookOn
	}
	in, found, err := find()
	if err == nil {
		err = x.setTimer(&e, in, found)
	}
	if err == nil {
		x.settle(&e)
	}
	return e, err
}

// observe gives s to what waits for it, lets the code run, and returns what it then does, but for the timer.
func (x *execution) observe(s process.TimedObservation) (process.Entry, error) {
	if s.Timed && s.Now+early < x.elapsed {
		return process.Entry{}, fmt.Errorf("simulator: the clock of c%d is set back, which code that runs on the standard library's clock cannot be shown: leave out faults that set clients' clocks", x.h.ID)
	}
	w := x.slots[s.Thread]
	wakes := x.timer.set && x.timer.slot == int(s.Thread) && w == nil
	before := x.elapsed
	if err := x.goOn(s, w, wakes); err != nil {
		return process.Entry{}, err
	}
	if wakes {
		if err := x.onTime(s.Timed, before); err != nil {
			return process.Entry{}, err
		}
		x.timer.set = false
	}
	e := process.Entry{Ops: x.ops, Fresh: 1 << s.Thread}
	if e.Ops[0].Kind == process.Join {
		e.Ops[0] = process.Op{} // see settle
	}
	x.slots[s.Thread], e.Ops[s.Thread] = nil, process.Op{}
	if err := x.collect(&e); err != nil {
		return e, err
	}
	x.steps = append(x.steps, step{seen: s, entry: e})
	return e, x.countAsks(s.Kind)
}

// goOn gives s to w, if that is not nil, or starts the program, and waits until the code has come to rest. wakes: s is the
// end of the timer.
func (x *execution) goOn(s process.TimedObservation, w *wait, wakes bool) error {
	var in []byte
	var broken error
	if w != nil && w.conn != nil {
		in, broken = w.conn.wire.Received(w.op, s.Observation)
	}
	x.client.quiet(w)
	err := x.agent.order(func() {
		if x.h.Random != nil {
			x.h.Random(x.agent.t, uint64(x.h.ID)<<32|uint64(len(x.steps)), x.number)
		}
		x.pass(s, w, wakes)
		switch {
		case w != nil:
			w.end(s.Observation, in, broken)
		case s.Kind == process.Started:
			x.client.begin()
		}
	})
	if err == nil {
		_, _, err = x.client.did()
	}
	x.elapsed = x.agent.elapsed
	return err
}

// pass lets the time pass that an observation takes. It runs in the agent.
func (x *execution) pass(s process.TimedObservation, w *wait, wakes bool) {
	d := time.Duration(0)
	switch {
	case s.Timed:
		d = s.Now + early - x.agent.elapsed
	case wakes:
		x.client.look(idleHorizon)
		return
	default:
		if w != nil && (s.Kind == process.Slept || s.Kind == process.TimedOut) && w.op.D < clock.EndOfTime {
			d = w.op.D
		}
		if !x.ahead {
			d += x.extra
		}
		x.ahead = false
	}
	if d > 0 {
		time.Sleep(d)
		synctest.Wait()
	}
}

// onTime returns a *process.DifferentError if the code has done something by itself at another time than it was to do that.
// The shadow found out when; code that draws the length of its sleeps does something else. The execution stood at before.
func (x *execution) onTime(timed bool, before time.Duration) error {
	actAt, acted, _ := x.client.did()
	if x.h.Once || !acted {
		return nil
	}
	slot := x.timer.slot
	want, got := x.ops[slot].D, actAt.Sub(x.agent.start)-before
	if timed {
		want, got = x.timer.in, actAt.Sub(x.agent.start)
	}
	if got == want {
		return nil
	}
	set := len(x.steps) - 1 // the step in which the timer was set
	for set > 0 && x.steps[set-1].timer == x.steps[set].timer {
		set--
	}
	was := process.Entry{Ops: x.ops}
	is := was
	is.Ops[slot].D += got - want
	return &process.DifferentError{Was: was, Is: is, At: set, Branch: x.steps[set].seen.Branch}
}

// maxAsks bounds the requests of code that lets no time pass between them, and those after its program has ended.
const maxAsks = 100

// countAsks counts what code observes without letting time pass, and since its program has ended. The error is an
// *EndlessError.
func (x *execution) countAsks(seen process.ObservationKind) error {
	over := x.client.finished()
	if x.asked++; over != x.wasOver || !over && (seen == process.Slept || seen == process.TimedOut) {
		x.asked = 0
	}
	if x.wasOver = over; x.asked > maxAsks {
		return &EndlessError{Client: x.h.ID, Ended: over, Asks: maxAsks}
	}
	return nil
}

// collect enters in e what the code has recorded and waits for now.
func (x *execution) collect(e *process.Entry) error {
	pending, err := x.client.pending(x.agent.start.Add(x.elapsed), e)
	if err != nil {
		return err
	}
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
		i, err := x.vacant(w.op.Kind == process.Listen)
		if err != nil {
			return err
		}
		x.slots[i], e.Ops[i], e.Fresh = w, w.op, e.Fresh|1<<i
		if x.code[i] = w.code; x.h.Watch != nil && w.code == nil && !x.h.Once {
			x.code[i] = x.client.mainLines()
		}
	}
	return nil
}

// vacant returns the first slot in which nothing waits, or the last one: a connection that only listens is not the
// program's main thread, which may have ended. The error is a *table.LimitError.
func (x *execution) vacant(last bool) (at int, err error) {
	at = -1
	for i, w := range x.slots {
		if w == nil && !(x.timer.set && x.timer.slot == i) {
			if at = i; !last {
				break
			}
		}
	}
	if at < 0 {
		err = table.Limit("limit.waits", "client", x.h.ID, "most", process.MaxThreads)
	}
	return at, err
}

// waits reports whether the code waits for something else than its timer.
func (x *execution) waits() bool {
	return slices.ContainsFunc(x.slots[:], func(w *wait) bool { return w != nil })
}

// setTimer enters in e what the code is going to do by itself: in so much time, if that was found. The error is a
// *NeedsTimeError where that runs beside something else, of code that is not timed.
func (x *execution) setTimer(e *process.Entry, in time.Duration, found bool) error {
	due := x.elapsed + in
	if x.timer.set && found && x.timer.in == due {
		return nil // it is still the same
	}
	if x.timer.set {
		x.timer.set = false
		e.Ops[x.timer.slot], e.Fresh = process.Op{}, e.Fresh|1<<x.timer.slot
	}
	if !found {
		return nil
	}
	if !x.h.Timed && x.waits() {
		return &NeedsTimeError{x.h.ID}
	}
	i, err := x.vacant(false)
	if err != nil {
		return err
	}
	x.timer, x.code[i] = timer{slot: i, in: due, set: true}, nil
	e.Ops[i], e.Fresh = process.Op{Kind: process.Sleep, D: in}, e.Fresh|1<<i
	return nil
}

// adopt enters in e the timer of known, which is of the same history.
func (x *execution) adopt(e, known *process.Entry) {
	for i, op := range known.Ops {
		if x.slots[i] != nil {
			continue
		}
		fresh := known.Fresh & (1 << i)
		switch op.Kind {
		case process.Sleep:
			if fresh != 0 {
				x.timer = timer{slot: i, in: x.elapsed + op.D, set: true}
			}
		case process.None, process.Join: // see settle
			op = process.Op{}
		default:
			continue
		}
		if op.Kind == process.None && x.timer.slot == i {
			x.timer.set = false
		}
		e.Ops[i], e.Fresh = op, e.Fresh&^(1<<i)|fresh
	}
}

// settle ends an observation: what the code waits for now is what the next one begins with.
//
// It keeps slot 0 from being empty before the program has ended, if what that waits for stands in another one: a process
// whose first thread waits for nothing has come to its end. The process rests when nothing else of it goes on.
func (x *execution) settle(e *process.Entry) {
	last, nothing, over := len(x.steps)-1, [process.MaxThreads]process.Op{}, x.client.finished()
	joined := last > 0 && x.steps[last-1].ops[0].Kind == process.Join
	joins := e.Ops[0].Kind == process.None && e.Ops != nothing && !over
	if joins {
		e.Ops[0] = process.Op{Kind: process.Join}
	}
	if joined != joins {
		e.Fresh |= 1
	}
	e.Resting = e.Ops == nothing && over
	if x.h.Watch != nil {
		e.Code = slices.Clone(x.code[:])
	}
	x.ops = e.Ops
	x.steps[last].ops, x.steps[last].timer = x.ops, x.timer
}

// Stop implements process.Execution. Connections fail and time runs out; goroutines that nothing can wake are left behind.
func (x *execution) Stop() {
	if x.standby != nil {
		x.standby.Stop()
	}
	if x.agent.lost {
		return
	}
	x.client.die()
	if x.agent.stop(x.client.drain) {
		x.h.leak()
	}
}
