package bubble

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"locklab/simulator/internal/routine"
)

// An agent is the root goroutine of a bubble. It carries out orders from outside, and reports after each that all other
// goroutines of the bubble are durably blocked. From then to the next order the bubble's clock stands still.
type agent struct {
	client  int         // whose code runs in the bubble, from 1
	orders  chan func() // made outside the bubble, as are the next two
	reports chan struct{}
	ended   chan struct{}
	dropped any  // what ended the bubble while goroutines were left; nil: none were
	lost    bool // the bubble takes no more orders

	// Written by the agent while it carries out an order.
	t       *testing.T    // of the bubble
	bubble  string        // its name, as in routine.Routine
	start   time.Time     // the bubble's clock before the first order
	elapsed time.Duration // since start
}

// newAgent starts a bubble whose clock begins at a time.
func newAgent(t *testing.T, client int, at time.Time) *agent {
	a := &agent{client: client, orders: make(chan func()), reports: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		defer func() { a.dropped = recover() }()
		synctest.Test(t, func(t *testing.T) { a.run(t, at) })
	}()
	return a
}

// run is the function of the agent.
func (a *agent) run(t *testing.T, at time.Time) {
	time.Sleep(time.Until(at))
	a.t, a.bubble, a.start = t, routine.Current().Bubble(), time.Now()
	for do := range a.orders {
		do()
		synctest.Wait()
		a.elapsed = time.Since(a.start)
		a.reports <- struct{}{}
	}
}

// order has the agent call do, and waits until the code has come to rest. The error is a *StallError if it does not.
func (a *agent) order(do func()) error {
	if a.lost {
		return &StallError{Client: a.client}
	}
	select {
	case a.orders <- do:
	case <-a.ended: // see await
	}
	if ended, err := a.await(a.reports); !ended {
		return err
	}
	a.lost = true
	return fmt.Errorf("simulator: the code of c%d ended its bubble: %v", a.client, a.dropped)
}

// stop orders drain to end the code, then ends the bubble. It reports whether goroutines that nothing wakes are left.
func (a *agent) stop(drain func()) (leaks bool) {
	err := a.order(drain)
	leaks = errors.As(err, new(*StallError))
	if err == nil {
		close(a.orders)
		_, err = a.await(nil)
		leaks = err != nil || a.dropped != nil
	}
	a.lost = true
	return leaks
}
