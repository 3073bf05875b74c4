package bubble

import (
	"fmt"
	"testing/synctest"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
)

// An execution runs a client's code through one history, in a bubble. client is the code's side, all else is the lab's.
type execution struct {
	h       *Host
	number  int           // of its host's, from 1
	extra   time.Duration // that passes before each observation as well, of code that is not timed; 0: no shadow
	agent   *agent
	client  *Handle
	standby *execution    // the shadow of the last observation, of code that is not timed, if it can go on
	ahead   bool          // as a standby: extra has passed before the next observation
	woken   bool          // likewise: it has gone on by itself already
	elapsed time.Duration // the bubble's time when the code came to rest after the last observation
	steps   []step
	slots   [process.MaxThreads]*wait // what the code waits for, with the timer
	timer   timer
	joins   bool // slot 0 is empty, and its thread waits for the others: see settle
	asked   int  // observations in this instant, or since the program has ended
	wasOver bool // it had ended at the last one
}

// A step is one observation and what followed.
type step struct {
	seen  process.TimedObservation
	entry process.Entry // without what settle adds
	timer timer
	joins bool
}

// A timer is the next thing that the code does by itself, as a Sleep in a slot. The zero value is none.
type timer struct {
	*wait
	slot int
	due  time.Duration // from the beginning of the bubble
}

// Observe implements process.Execution.
func (x *execution) Observe(s process.TimedObservation, known *process.Entry) (process.Entry, error) {
	if x.agent.lost && x.h.Turn != nil { // another execution has had the turn since
		y, err := x.another(x.extra)
		if err != nil {
			return process.Entry{}, err
		}
		y.joins, y.steps = x.joins, x.steps
		y.arm(x.timer)
		*x = *y
	}
	e, err := x.observe(s)
	if err != nil {
		return e, err
	}
	before, in := x.slots, none
	switch {
	case known != nil:
		x.adopt(known)
		x.settle(&e, before)
		return e, nil
	case x.h.Once && x.waits(): // no timer is seen beside that
	case x.h.Once || s.Last: // it can be its own shadow
		in, err = x.lookOn()
	default:
		in, err = x.shadow()
	}
	if err == nil {
		err = x.setTimer(in)
	}
	if err == nil {
		x.settle(&e, before)
	}
	return e, err
}

// observe gives s to what waits for it, lets the code run, and returns what it then does, but for a new timer.
func (x *execution) observe(s process.TimedObservation) (process.Entry, error) {
	if s.Timed && s.Now+early < x.elapsed {
		return process.Entry{}, fmt.Errorf("simulator: the clock of c%d is set back, which code that runs on the "+
			"standard library's clock cannot be shown: leave out faults that set clients' clocks", x.h.ID)
	}
	w, before, slots := x.slots[s.Thread], x.elapsed, x.slots
	wakes := w != nil && w == x.timer.wait
	if err := x.goOn(s, w, wakes); err != nil {
		return process.Entry{}, err
	}
	if wakes {
		if err := x.onTime(s.Timed, before); err != nil {
			return process.Entry{}, err
		}
		x.timer = timer{}
	}
	x.slots[s.Thread], x.joins = nil, false
	e := process.Entry{Notes: x.client.notes, Fresh: 1 << s.Thread}
	x.client.notes = nil
	if err := x.collect(); err != nil {
		return e, err
	}
	e.Ops, e.Fresh = x.ops(), e.Fresh|x.changed(slots)
	x.steps = append(x.steps, step{seen: s, entry: e})
	return e, x.countAsks(s.Kind)
}

// goOn gives s to w or, if that is nil, starts the program, and waits until the code rests. wakes: w is the timer.
func (x *execution) goOn(s process.TimedObservation, w *wait, wakes bool) (err error) {
	var in []byte
	var broken error
	if w != nil && w.conn != nil {
		in, broken = w.conn.wire.Received(w.op, s.Observation)
	}
	if x.woken {
		x.woken, x.elapsed = false, x.agent.elapsed
		return x.client.err
	}
	x.client.expect(w)
	err = x.agent.order(func() {
		x.draw()
		x.pass(s, w, wakes)
		switch {
		case wakes:
		case w != nil && w.conn != nil:
			w.conn.received(w, in, broken)
		case w != nil:
			w.done <- s.Observation
		case s.Kind == process.Started:
			x.client.begin()
		}
	})
	x.elapsed = x.agent.elapsed
	if err == nil {
		err = x.client.err
	}
	return err
}

// draw seeds what is random before the code runs on. It runs in the agent.
func (x *execution) draw() {
	if x.h.Random != nil {
		x.h.Random(x.agent.t, uint64(x.h.ID)<<32|uint64(len(x.steps)), x.number)
	}
}

// pass lets the time pass that an observation takes. It runs in the agent.
func (x *execution) pass(s process.TimedObservation, w *wait, wakes bool) {
	d := time.Duration(0)
	switch {
	case s.Timed:
		d = s.Now + early - x.agent.elapsed
	case wakes:
		x.client.look(idleHorizon)
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

// onTime returns a *process.DifferentError if the code has done something by itself at another time than it was to. The
// shadow found out when; code that draws the length of its sleeps differs. before is when the timer's wait went on.
func (x *execution) onTime(timed bool, before time.Duration) error {
	if x.h.Once || !x.client.acted {
		return nil
	}
	want, at := x.timer.op.D, x.client.actAt.Sub(x.agent.start)
	got := at - before
	if timed {
		want, got = x.timer.due, at
	}
	if got == want {
		return nil
	}
	set := len(x.steps) - 1 // the step in which the timer was set
	for set > 0 && x.steps[set-1].timer == x.steps[set].timer {
		set--
	}
	was := process.Entry{Ops: x.ops()}
	is := was
	is.Ops[x.timer.slot].D += got - want
	return &process.DifferentError{Was: was, Is: is, At: set, Branch: x.steps[set].seen.Branch}
}

// maxAsks bounds the requests of code that lets no time pass between them, and those after its program has ended.
const maxAsks = 100

// countAsks counts what code observes while no time passes, and since its program ended. The error is an *EndlessError.
func (x *execution) countAsks(seen process.ObservationKind) error {
	over := x.client.over
	if x.asked++; over != x.wasOver || !over && (seen == process.Slept || seen == process.TimedOut) {
		x.asked = 0
	}
	if x.wasOver = over; x.asked > maxAsks {
		return &EndlessError{Client: x.h.ID, Ended: over, Asks: maxAsks}
	}
	return nil
}

// settle ends an observation, after which the slots were as before but for the timer. It enters that in e, and has slot
// 0 not be empty before the program has ended, if what that waits for stands in another one: a process whose first
// thread waits for nothing has come to its end. The process rests when nothing else of it goes on.
func (x *execution) settle(e *process.Entry, before [process.MaxThreads]*wait) {
	last := len(x.steps) - 1
	idle := x.slots == [process.MaxThreads]*wait{}
	x.joins = x.slots[0] == nil && !idle && !x.client.over
	e.Ops, e.Fresh, e.Resting = x.ops(), e.Fresh|x.changed(before), idle && x.client.over
	if x.joins != (last > 0 && x.steps[last-1].joins) {
		e.Fresh |= 1
	}
	if x.h.Watch != nil {
		e.Code = make([][]string, process.MaxThreads)
		for i, w := range x.slots {
			if w != nil {
				e.Code[i] = w.code
			}
		}
	}
	x.steps[last].timer, x.steps[last].joins = x.timer, x.joins
}

// Stop implements process.Execution. Connections fail and time runs out; goroutines that nothing can wake are left.
func (x *execution) Stop() {
	if x.standby != nil {
		x.standby.Stop()
	}
	if x.agent.lost {
		return
	}
	if x.agent.stop(x.client.drain) {
		x.h.leak()
	}
}
