package simulator

import "fmt"

// Together runs tasks side by side and returns when all have ended. The first
// runs in the thread that calls, each other in one of its own; what each asks for
// first is under way at the same moment. A crash ends them all, and a pause
// freezes them all.
//
// With the caller's and running timers they are at most MaxThreads.
//
// A process is a function of its observations, and so is who waits for whom: a
// world knows of a caller only that it waits.
func (c *Client) Parallel(tasks ...func()) {
	if len(tasks) == 0 {
		return
	}
	c.p.own()
	l := c.p.live
	if l.dead {
		c.p.unwind()
	}
	j := &join{caller: l.current, left: len(tasks) - 1}
	for _, f := range tasks[1:] {
		slot := l.vacant()
		if slot < 0 {
			panic(limit(fmt.Sprintf("%d tasks at once: with running timers and the thread that calls there is room for %d, so give it no more servers to ask", len(tasks), MaxThreads)))
		}
		l.threads[slot] = thread{timer: &timer{p: c.p, f: f}, joint: j}
		l.begun = append(l.begun, slot)
	}
	tasks[0]()
	if j.left > 0 {
		c.p.mustAsk(op{kind: opJoin})
	}
}

// joint is what tasks that run side by side have in common.
type join struct {
	caller int // its thread
	left   int // how many tasks beside the caller's have not ended
}

// vacant is a place for another thread; -1: there is none.
func (l *execution) vacant() int {
	for i := 1; i < MaxThreads; i++ {
		if l.threads[i].timer == nil && l.threads[i].next == nil {
			return i
		}
	}
	return -1
}

// settle starts the tasks that the code has begun, and lets a caller go on whose
// tasks have all ended; ended is the joint of the thread that has just run to its
// end, if it was such a task.
func (l *execution) settle(ended *join) {
	for len(l.begun) > 0 && l.err == nil {
		slot := l.begun[0]
		l.begun = l.begun[1:]
		l.start(slot, l.threads[slot].timer.f)
		l.resume(slot, observation{})
	}
	if ended == nil {
		return
	}
	if ended.left--; ended.left == 0 && l.ops[ended.caller].kind == opJoin && l.err == nil {
		l.resume(ended.caller, observation{})
	}
}
