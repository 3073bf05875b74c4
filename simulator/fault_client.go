package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

func (f FaultContext) client(c int8) (*node.Client, string) {
	if c < 1 || int(c) > len(f.s.procs) {
		return nil, "refused.client.unknown"
	}
	if p := &f.w.procs[c-1]; !p.Dead {
		return p, ""
	}
	return nil, "refused.client.dead"
}

// Running says whether client c is neither dead, nor paused, nor at its end.
func (f FaultContext) Running(c int) bool {
	p := &f.w.procs[c-1]
	if p.Dead || p.Paused {
		return false
	}
	for t := range p.Threads {
		if p.Threads[t].Phase != node.Idle && p.Threads[t].Phase != node.Unborn {
			return true
		}
	}
	return false
}

// Crash kills client c with all its threads. Requests on the way still arrive.
func (f FaultContext) Crash(c int8) (why string) {
	p, why := f.client(c)
	if why != "" {
		return why
	}
	f.s.emitClient(f.w, history.Crash, c, 0)
	f.notice(node.Crashed, c, 0)
	for t := range p.Threads {
		if p.Threads[t].Phase == node.Asking {
			f.s.addOrphan(f.w, c, int8(t))
		}
	}
	*p = node.Client{Dead: true, Clock: p.Clock, At: p.At}
	if f.s.returns && f.s.config.Clients[c-1].Host == nil {
		p.At = f.s.procs[c-1].Reborn(p.At)
	}
	return ""
}

// MayReturn says whether client c is dead and can be started anew.
func (f FaultContext) MayReturn(c int) bool {
	return f.w.procs[c-1].Dead && f.s.sessions == nil && f.s.config.Clients[c-1].Host == nil
}

// Return starts a process in place of client c's, which was killed: with the same code and
// the same clock, and none of its memory. A Returner must be in the config.
func (f FaultContext) Return(c int8) (why string) {
	switch {
	case c < 1 || int(c) > len(f.s.procs):
		return "refused.client.unknown"
	case !f.w.procs[c-1].Dead:
		return "refused.return.alive"
	case !f.MayReturn(int(c)):
		return "refused.return"
	}
	p := &f.w.procs[c-1]
	p.Dead = false
	p.Threads[0] = node.Thread{Phase: node.Unborn}
	if f.s.config.Timing != nil {
		p.Threads[0].Latest = f.w.now
	}
	f.s.emitClient(f.w, history.Return, c, 0).Lease = int(f.s.entry(f.w, c).Lease)
	return ""
}

// Unsent says whether client c may stop before the requests leave it that it has just
// made: nothing shows yet that they have.
func (f FaultContext) Unsent(c int) bool {
	p := &f.w.procs[c-1]
	for t := range p.Threads {
		if f.unsent(p, int8(c), int8(t)) {
			return true
		}
	}
	return false
}

func (f FaultContext) unsent(p *node.Client, c, t int8) bool {
	th := &p.Threads[t]
	switch timing := f.s.config.Timing; {
	case th.Phase != node.Asking || th.Hold > f.w.now:
		return false
	case f.s.sessions != nil && f.s.op(f.w, c, t).Kind.ToServer():
		return false // a session's library sends in a thread of its own
	default:
		latency := f.s.latency(c, f.s.op(f.w, c, t))
		return timing == nil || max(th.Latest, f.w.now) == clock.Later(f.w.now, latency)
	}
}

// Pause stops client c with all its threads for d; its clock goes on. With
// d = 0 it lasts until a Resume is chosen, but no longer than longest (0: any).
func (f FaultContext) Pause(c int8, d, longest time.Duration) (why string) {
	return f.pause(c, d, longest, false)
}

// PauseUnsent is Pause before the requests are sent that the client has just made; see
// Unsent. They leave it when it goes on.
func (f FaultContext) PauseUnsent(c int8, d, longest time.Duration) (why string) {
	return f.pause(c, d, longest, true)
}

func (f FaultContext) pause(c int8, d, longest time.Duration, unsent bool) (why string) {
	p, why := f.client(c)
	switch {
	case why != "":
		return why
	case p.Paused:
		return "refused.client.paused.already"
	case p.Stopped() > 0:
		return "refused.thread.paused.already"
	case d < 0:
		return "refused.pause.negative"
	}
	if unsent && !f.Unsent(int(c)) {
		return "refused.pause.unsent"
	}
	p.Paused, p.Open, p.Until = true, d == 0, f.ends(d, longest)
	for t := range p.Threads {
		if unsent && f.unsent(p, c, int8(t)) {
			p.Threads[t].Phase, p.Threads[t].Latest, p.Threads[t].Due = node.Unsent, 0, 0
		}
	}
	f.s.emitClient(f.w, history.Pause, c, 0).D = d
	f.notice(node.Paused, c, 0)
	return ""
}

// ThreadRuns says whether thread t, from 0, of client c is there and runs: it waits for no
// other thread, and neither it nor its process is paused. Of the code of a Host that is not
// known.
func (f FaultContext) ThreadRuns(c, t int) bool {
	p := &f.w.procs[c-1]
	if p.Dead || p.Stands(t) || f.s.config.Clients[c-1].Host != nil {
		return false
	}
	switch p.Threads[t].Phase {
	case node.Idle, node.Unborn, node.Joining:
		return false
	}
	return true
}

// ThreadStopped says whether a thread of client c is paused alone.
func (f FaultContext) ThreadStopped(c int) bool { return f.w.procs[c-1].Stopped() > 0 }

// ThreadUnsent is Unsent of one thread.
func (f FaultContext) ThreadUnsent(c, t int) bool {
	return f.unsent(&f.w.procs[c-1], int8(c), int8(t))
}

// PauseThread stops thread t of client c, and no other, as Pause does all. A client has one pause
// at a time. unsent: before the request is sent that it has just made. It tells nothing.
func (f FaultContext) PauseThread(c, t int8, d, longest time.Duration, unsent bool) (why string) {
	p, why := f.client(c)
	switch {
	case why != "":
		return why
	case p.Stopped() > 0:
		return "refused.thread.paused.already"
	case t < 0 || t >= MaxThreads || !f.ThreadRuns(int(c), int(t)):
		return "refused.thread.runs"
	case d < 0:
		return "refused.pause.negative"
	case unsent && !f.ThreadUnsent(int(c), int(t)):
		return "refused.pause.unsent"
	}
	p.Open, p.Until = d == 0, f.ends(d, longest)
	p.Threads[t].Stopped = true
	if unsent {
		p.Threads[t].Phase, p.Threads[t].Latest, p.Threads[t].Due = node.Unsent, 0, 0
	}
	return ""
}

// ends is when a pause of length d ends at the latest: without a length after the longest
// (0: never).
func (f FaultContext) ends(d, longest time.Duration) time.Duration {
	switch {
	case d > 0:
		return clock.Later(f.w.now, d)
	case longest > 0:
		return clock.Later(f.w.now, f.s.config.bound(longest))
	}
	return Never
}

// StepClock moves the clock of client c by d. Timers that run are not affected.
func (f FaultContext) StepClock(c int8, d time.Duration) (why string) {
	p, why := f.client(c)
	if why != "" {
		return why
	}
	if why = p.Clock.Jump(d); why == "" {
		f.s.emitClient(f.w, history.ClockStep, c, 0).D = d
	}
	return why
}
