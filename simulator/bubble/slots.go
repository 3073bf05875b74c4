package bubble

import (
	"slices"
	"time"

	"locklab/simulator/intern"
	"locklab/simulator/lists"
	"locklab/simulator/process"
)

// ops returns what the threads of the process wait for.
func (x *execution) ops() (ops [process.MaxThreads]process.Op) {
	for i, w := range x.slots {
		if w != nil {
			ops[i] = w.op
		}
	}
	if x.joins {
		ops[0] = process.Op{Kind: process.Join}
	}
	return ops
}

// changed returns the slots in which something else waits than before, as Entry.Fresh has them.
func (x *execution) changed(before [process.MaxThreads]*wait) (bits uint8) {
	for i, w := range x.slots {
		if w != before[i] {
			bits |= 1 << i
		}
	}
	return bits
}

// collect enters in the slots what the code waits for now, but for a new timer.
func (x *execution) collect() error {
	pending, err := x.client.pending(x.agent.start.Add(x.elapsed))
	if err != nil {
		return err
	}
	for i, w := range x.slots {
		if w != x.timer.wait && !slices.Contains(pending, w) {
			x.slots[i] = nil
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
		if x.slots[i] = w; x.h.Watch != nil && w.code == nil && !x.h.Once {
			w.code = x.client.mainLines()
		}
	}
	return nil
}

// vacant returns the first slot in which nothing waits, or the last one: a connection that only listens is not the
// program's main thread, which may have ended. The error is a *intern.LimitError.
func (x *execution) vacant(last bool) (at int, err error) {
	free := lists.Pick(lists.Indices(x.slots[:]), func(i int) bool { return x.slots[i] == nil })
	switch {
	case free == nil:
		return 0, intern.Limit("limit.waits", "client", x.h.ID, "most", process.MaxThreads)
	case last:
		return free[len(free)-1], nil
	}
	return free[0], nil
}

// waits reports whether the code waits for something else than its timer.
func (x *execution) waits() bool {
	return slices.ContainsFunc(x.slots[:], func(w *wait) bool { return w != x.timer.wait && w != nil })
}

// arm puts a timer in its slot in place of the one that there was.
func (x *execution) arm(t timer) {
	if x.timer.wait != nil {
		x.slots[x.timer.slot] = nil
	}
	if x.timer = t; t.wait != nil {
		x.slots[t.slot] = t.wait
	}
}

// newTimer returns a timer that ends so long after the last observation.
func (x *execution) newTimer(slot int, in time.Duration) timer {
	return timer{wait: &wait{op: process.Op{Kind: process.Sleep, D: in}}, slot: slot, due: x.elapsed + in}
}

// setTimer arms what the code is going to do by itself in so much time. The error is a *NeedsTimeError where that runs
// beside something else, of code that is not timed.
func (x *execution) setTimer(in time.Duration) error {
	if in != none && x.timer.wait != nil && x.timer.due == x.elapsed+in {
		return nil // it is still the same
	}
	if x.arm(timer{}); in == none {
		return nil
	}
	if !x.h.Timed && x.waits() {
		return &NeedsTimeError{x.h.ID}
	}
	i, err := x.vacant(false)
	if err == nil {
		x.arm(x.newTimer(i, in))
	}
	return err
}

// adopt arms the timer of an entry of the same history.
func (x *execution) adopt(known *process.Entry) {
	for i, op := range known.Ops {
		switch sleeps := op.Kind == process.Sleep; {
		case x.slots[i] != nil && x.slots[i] != x.timer.wait:
		case sleeps && known.Fresh&(1<<i) != 0:
			x.arm(x.newTimer(i, op.D))
		case !sleeps && x.slots[i] != nil:
			x.arm(timer{})
		}
	}
}
