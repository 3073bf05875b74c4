package process

// Parallel runs tasks side by side and returns when all have ended. The first runs
// in the calling thread, each other in one of its own; their first operations are
// under way at the same moment. A crash of the process ends them all, and a pause
// stops them all. With the caller's thread and running timers they are at most
// MaxThreads; code that needs more ends with a *table.LimitError.
//
// A process is a function of its observations, and so is which task waits for
// which: a world knows of a caller only that it waits.
func (p *Code) Parallel(tasks ...func()) {
	if len(tasks) == 0 {
		return
	}
	p.Own()
	x := p.live
	if x.dead {
		p.unwind()
	}
	j := &join{caller: x.current, left: len(tasks) - 1}
	for _, f := range tasks[1:] {
		slot := x.vacant()
		if slot < 0 {
			Exceed("limit.tasks", "tasks", len(tasks), "most", MaxThreads)
		}
		x.threads[slot] = thread{timer: &timer{p: p, f: f}, join: j, lease: x.threads[x.current].lease, deadline: x.threads[x.current].deadline}
		x.begun = append(x.begun, slot)
	}
	tasks[0]()
	if j.left > 0 {
		p.MustAsk(Op{Kind: Join})
	}
}

// join is shared by the tasks of one call of Parallel.
type join struct {
	caller int // its thread
	left   int // how many tasks beside the caller's have not ended
}

// runTasks starts the tasks that the code has begun, and lets a caller go on whose
// tasks have all ended; ended is the join of the thread that has just run to its
// end, if it was such a task.
func (x *execution) runTasks(ended *join) {
	for len(x.begun) > 0 && x.err == nil {
		slot := x.begun[0]
		x.begun = x.begun[1:]
		x.start(slot, x.threads[slot].timer.f)
		x.resume(slot, Observation{})
	}
	if ended == nil {
		return
	}
	if ended.left--; ended.left == 0 && x.ops[ended.caller].Kind == Join && x.err == nil {
		x.resume(ended.caller, Observation{})
	}
}
