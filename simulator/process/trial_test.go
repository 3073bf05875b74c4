package process

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locklab/simulator/hypothesis"
	"locklab/simulator/intern"
)

// What code does at another time of day, or in one execution of hundreds, is found.
func TestTrials(t *testing.T) {
	const histories = 200
	for name, c := range map[string]struct {
		// code runs after a program was told something and has read its clock, in one of its executions.
		code    func(c Clock, told int, read time.Time, execution int)
		refused error // an error of this type; nil: none
	}{
		"measures": {code: func(c Clock, _ int, read time.Time, _ int) { c.Sleep(c.Now().Sub(read)) }},
		"looks at the year": {code: func(c Clock, told int, read time.Time, _ int) {
			if told == 77 && read.Year() > 2050 {
				c.Sleep(time.Minute)
			}
		}, refused: &hypothesis.Refuted{}},
		"does something else once": {code: func(c Clock, _ int, _ time.Time, execution int) {
			if execution == histories+50 {
				c.Sleep(time.Minute)
			}
		}, refused: &NondeterministicError{}},
	} {
		t.Run(name, func(t *testing.T) {
			var p *Process
			executions := 0
			p = newProcess(t, func() {
				executions++
				clock := p.code.Clock()
				told := clock.Idle(time.Second, histories-1)
				c.code(clock, told, clock.Now(), executions)
				clock.Sleep(time.Second)
			})
			for way := range int64(histories) {
				observe(t, p, Observation{Kind: Started}, Observation{Kind: Slept, Val: way},
					Observation{Kind: ClockRead, Val: way})
			}
			err := errors.Join(p.Repeat(), p.CheckMeasures(func(uint32) bool { return true }))
			dated, chance := (*hypothesis.Refuted)(nil), (*NondeterministicError)(nil)
			ok := err == nil
			switch c.refused.(type) {
			case *hypothesis.Refuted:
				ok = errors.As(err, &dated)
			case *NondeterministicError:
				ok = errors.As(err, &chance)
			}
			if !ok {
				t.Errorf("%v, want %T", err, c.refused)
			}
		})
	}
}

// run runs a program up to its first operation.
func run(t *testing.T, program func()) error {
	t.Helper()
	p := New(7, program, nil, intern.NewRoom())
	p.Use(noLibrary{})
	t.Cleanup(p.Close)
	_, err := p.Advance(0, Observation{Kind: Started})
	return err
}

// TestWatch: code that sleeps in real time, waits for a timer, or for a goroutine of its own that does, is noticed with
// its stack though it comes back. Code that runs for long is not, nor is what waits for a goroutine that works for it.
func TestWatch(t *testing.T) {
	works := func() {
		for began := time.Now(); time.Since(began) < 8*interval; {
		}
	}
	beside := func(work func()) func() {
		return func() {
			done := make(chan int)
			go func() { work(); close(done) }()
			<-done
		}
	}
	sleeps := func() { time.Sleep(40 * interval) }
	for name, c := range map[string]struct {
		code  func()
		state string // "": it is not noticed
	}{
		"sleeps":             {sleeps, "sleep"},
		"timer":              {func() { <-time.After(40 * interval) }, "chan receive"},
		"sleeping goroutine": {beside(sleeps), "chan receive"},
		"runs":               {works, ""},
		"working goroutine":  {beside(works), ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := (*WaitError)(nil)
			err := run(t, c.code)
			if noticed := errors.As(err, &e); noticed != (c.state != "") || !noticed && err != nil {
				t.Fatalf("%v, want a WaitError: %t", err, c.state != "")
			}
			if e != nil && (e.Client != 7 || e.State != c.state || !strings.Contains(e.Stack, "TestWatch")) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Code that does not come back is given up.
func TestWatchDeadChannel(t *testing.T) {
	dead, given := make(chan int), make(chan string, 1)
	defer lastResort.Store(nil)
	lastResort.Store(&resort{20 * interval, func(e *WaitError,
		after time.Duration) {
		given <- e.stuck(after)
		close(dead)
	}})
	e := (*WaitError)(nil)
	if err := run(t, func() { <-dead }); !errors.As(err, &e) {
		t.Errorf("code that came back in the end: %v, want a WaitError", err)
	}
	got := <-given
	for _, want := range []string{"the code of c7 has not come back for 200ms", "[chan receive]",
		"TestWatchDeadChannel"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}
