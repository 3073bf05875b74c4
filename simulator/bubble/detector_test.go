package bubble

import (
	"testing"
	"time"

	"locklab/simulator/internal/routine"
)

// TestDetector: what a busy machine does not give to code is not held against it. Code that runs has had its time when
// its share of what processors have worked is the limit, and what waits for something outside when the detector has
// worked so long in its place. No time on the machine's clock is part of that.
func TestDetector(t *testing.T) {
	const (
		ms  = time.Millisecond
		own = ", synctest bubble 7"
	)
	looker := routine.Routine{Name: "1", State: "running"}
	agent := routine.Routine{Name: "2", State: "chan send" + own, Stack: "locklab/simulator/bubble.(*agent).run(...)"}
	in := func(states ...string) (all []routine.Routine) {
		for i, state := range states {
			all = append(all, routine.Routine{Name: string(rune('3' + i)), State: state})
		}
		return all
	}
	for _, test := range []struct {
		what   string
		seen   []routine.Routine // beside the looker and the agent
		worked time.Duration     // since the look before
		looks  int               // after the first
		after  time.Duration     // of the error; 0: there is none
		runs   bool
	}{
		{"it runs on a busy machine", in("runnable" + own), 2 * ms, 1499, 0, true},
		{"it has run", in("runnable" + own), 2 * ms, 1500, limit, true},
		{"others run as well", in("runnable"+own, "running, synctest bubble 17", "runnable"), 3 * ms, 2999, 0, true},
		{"the code and others have run", in("runnable"+own, "running", "runnable"), 3 * ms, 3000, limit, true},
		{"one of two that run waits for the other", in("runnable"+own, "sync.Mutex.Lock"+own), 20 * ms, 149, 0, true},
		{"it waits for the system", in("syscall" + own), 20 * ms, 149, 0, false},
		{"it has waited for the system", in("syscall" + own), 20 * ms, 150, limit, false},
		{"it waits for a goroutine outside", in("chan receive" + own), outsideLimit / 2, 1, 0, false},
		{"it has waited for a goroutine outside", in("chan receive" + own), outsideLimit / 2, 2, outsideLimit, false},
		{"the machine does nothing for this process", in("chan receive" + own), 0, 10000, 0, false},
		{"goroutines outside have the processors", in("IO wait"+own, "running"), outsideLimit, 1, 0, false},
		{"the lab works", in("chan receive (durable)" + own), 20 * ms, 1499, 0, false},
		{"the lab works without end", in("chan receive (durable)" + own), 20 * ms, 1500, labLimit, false},
	} {
		t.Run(test.what, func(t *testing.T) {
			d := detector{client: 1, bubble: "synctest bubble 7"}
			all := append([]routine.Routine{looker, agent}, test.seen...)
			for i := range test.looks + 1 {
				stall, runs := d.look(all, time.Second+time.Duration(i)*test.worked)
				after := time.Duration(0)
				if stall != nil {
					after = stall.After
				}
				if last := i == test.looks; last && after != test.after || !last && after != 0 || runs != test.runs {
					t.Fatalf("look %d: stalled after %v, runs %t", i, after, runs)
				}
			}
		})
	}
	d, waits := detector{bubble: "synctest bubble 7"}, routine.Routine{State: "sync.Mutex.Lock" + own}
	for i, name := range []string{"3", "4", "3", "4"} { // another one waits at each look: it goes on
		waits.Name = name
		if stall, _ := d.look([]routine.Routine{looker, agent, waits}, time.Duration(i+1)*outsideLimit); stall != nil {
			t.Errorf("look %d: %v", i, stall)
		}
	}
}
