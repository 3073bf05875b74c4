package bubble

import (
	"cmp"
	"errors"
	"slices"
	"testing/synctest"
	"time"

	"locklab/simulator/process"
)

// none is the time in which code does something by itself that does nothing.
const none time.Duration = -1

// shadow has another execution go through the same history, compares, and returns in how long the code does something
// by itself. While it does nothing, the shadow has let as much time pass as it lets pass before the next observation,
// and goes on with that. Where it has done something, it goes on if that is what is observed next.
func (x *execution) shadow() (in time.Duration, err error) {
	extra := x.h.Horizon
	if x.h.Timed {
		extra = 0
	}
	y, err := x.another(extra)
	if extra > 0 && err != nil && !errors.As(err, new(*StallError)) {
		err = cmp.Or(x.needsTime(), err)
	}
	different := (*process.DifferentError)(nil)
	if errors.As(err, &different) && x.h.Drawn != nil && x.h.Drawn.explains(&different.Was, &different.Is) {
		err = &DrawnError{x.h.ID}
	}
	if err != nil {
		return none, err
	}
	in, err = y.lookOn()
	y.ahead, y.woken = extra > 0 && err == nil && in == none, extra == 0 && err == nil && in != none
	if y.ahead || y.woken {
		x.standby = y
	} else {
		y.Stop()
	}
	return in, err
}

// maxShadows bounds the executions that begin until one takes the same of several ways.
const maxShadows = 1000

// another has the standby, or a new execution with so much more time, go through the same history. The error is a
// *process.DifferentError if it does something else.
func (x *execution) another(extra time.Duration) (y *execution, err error) {
	y, x.standby = x.standby, nil
	if y != nil && y.woken && !x.wokenAs(y) {
		y.Stop()
	}
	var others []process.Entry // what the code does otherwise in the end
	for range maxShadows {
		if y == nil || y.agent.lost || y.extra != extra {
			date := 0
			if extra > 0 {
				x.h.dates++
				date = x.h.dates
			}
			y = x.h.start(extra, date)
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

// wokenAs reports whether the last observation is that a timer is over, and y has gone on by that.
func (x *execution) wokenAs(y *execution) bool {
	last := len(x.steps) - 1
	seen, set := x.steps[last].seen, x.steps[max(last-1, 0)].timer
	return len(y.steps) == last && set.wait != nil && int(seen.Thread) == set.slot && seen.Now+early == y.agent.elapsed
}

// repeat goes through the rest of a history. The error is a *process.DifferentError where the code does otherwise.
func (x *execution) repeat(steps []step) error {
	for i := len(x.steps); i < len(steps); i++ {
		if i > 0 {
			x.joins = steps[i-1].joins
			x.arm(steps[i-1].timer)
			x.steps[i-1] = steps[i-1]
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

// timeTrials is the number of executions that show that chance is not why code does something else at another time.
const timeTrials = 10

// needsTime executes the same history in the time that it took, after one with more time, at another date, has come to
// something else, and so again. The error is a *NeedsTimeError if all do what those before did; nil: one has failed
// otherwise, or it was by chance that the other one did something else.
func (x *execution) needsTime() error {
	date := x.h.dates
	for range timeTrials {
		y, err := x.another(0)
		switch {
		case errors.As(err, new(*process.DifferentError)):
			return err
		case err != nil:
			return nil
		}
		y.Stop()
	}
	for range timeTrials {
		x.h.dates = date - 1
		if y, err := x.another(x.h.Horizon); err == nil {
			y.Stop()
			return nil
		}
	}
	return &NeedsTimeError{x.h.ID}
}

// idleHorizon is the longest sleep of code that waits for nothing else.
const idleHorizon = 24 * time.Hour

// lookOn lets time pass until the code does something by itself, and returns in how long that is. Code that has not
// ended must do something, or wait for something, in the end: the error is a *StallError if it does not.
func (x *execution) lookOn() (in time.Duration, err error) {
	idle := !x.client.over && !x.waits()
	for _, horizon := range []time.Duration{x.h.Horizon, idleHorizon} {
		if err := x.agent.order(func() {
			x.draw()
			x.client.look(horizon)
		}); err != nil {
			return none, err
		}
		switch {
		case x.client.err != nil:
			return none, x.client.err
		case x.client.acted:
			return x.client.actAt.Sub(x.agent.start) - x.elapsed, nil
		case !idle:
			return none, nil
		}
	}
	return none, x.agent.stuck()
}

// look lets time pass, at most d, until the code does something by itself. It runs in the agent.
func (c *Handle) look(d time.Duration) {
	synctest.Wait()
	select {
	case <-c.signal:
	default:
	}
	c.expect(nil)
	horizon := time.NewTimer(d)
	defer horizon.Stop()
	select {
	case <-c.signal:
	case <-horizon.C:
	}
}

// afterwards is the time that passes after the program of a stopped execution: for goroutines that sleep before they
// see that their connection is gone, as those of libraries do. A bubble's clock stands still when the agent has ended.
const afterwards = time.Minute

// drain has everything fail that the code waits for, and lets time pass. It runs in the agent.
func (c *Handle) drain() {
	if c.cancel == nil { // the program has not begun
		return
	}
	c.mu.Lock()
	c.dead = true
	asks, conns := c.asks, c.conns
	c.mu.Unlock()
	c.cancel()
	for _, w := range asks {
		close(w.done)
	}
	for _, one := range conns {
		one.wake()
	}
	synctest.Wait()
	for d := time.Second; !c.isOver() && d < 100*time.Hour; d *= 4 {
		time.Sleep(d)
		synctest.Wait()
	}
	time.Sleep(afterwards)
}

func (c *Handle) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}
