package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// A ClientTarget is a client that a fault may strike.
type ClientTarget struct {
	f  FaultContext
	ID int // from 1
}

// Choice is the choice that strikes the client by a fault's verb.
func (c ClientTarget) Choice(v Verb) Choice { return Choice{Verb: v, Client: int8(c.ID)} }

// known is "" if there is such a client.
func (c ClientTarget) known() (why string) {
	if c.ID < 1 || c.ID > len(c.f.v.s.clients.procs) {
		return "refused.client.unknown"
	}
	return ""
}

func (c ClientTarget) state() *node.ClientProcess { return &c.f.v.w.procs[c.ID-1] }

// alive is known of a client that has not been killed.
func (c ClientTarget) alive() (p *node.ClientProcess, why string) {
	if why := c.known(); why != "" {
		return nil, why
	}
	if p = c.state(); p.Dead {
		return nil, "refused.client.dead"
	}
	return p, ""
}

// Alive reports whether the client has not been killed.
func (c ClientTarget) Alive() bool { return !c.state().Dead }

// Present reports whether the client is paused, or runs; see Running.
func (c ClientTarget) Present() bool { return c.state().Paused || c.Running() }

// Running reports whether the client is neither dead, nor paused, nor at its end.
func (c ClientTarget) Running() bool {
	p := c.state()
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

// Crash kills the client with all its threads. Requests on the way still arrive.
func (c ClientTarget) Crash() (why string) {
	p, why := c.alive()
	if why != "" {
		return why
	}
	v, id := c.f.v, int8(c.ID)
	v.EmitClient(history.Crash, id, 0)
	c.f.notice(node.Crashed, c.ID, 0)
	for t := range p.Threads {
		if p.Threads[t].Phase == node.Asking {
			v.Orphan(id, int8(t))
		}
	}
	*p = node.ClientProcess{Dead: true, Clock: p.Clock, At: p.At, List: p.List}
	if v.s.returns && v.s.config.Clients[c.ID-1].Host == nil {
		p.At = v.s.clients.procs[c.ID-1].Restarted(p.At)
	}
	return ""
}

// MayReturn reports whether the client is dead and can be started again.
func (c ClientTarget) MayReturn() bool {
	return !c.Alive() && c.f.v.s.sessions == nil && c.f.v.s.config.Clients[c.ID-1].Host == nil
}

// Return starts a process in place of the client's, which was killed: with the same code and
// the same clock, and none of its memory. A fault that Returns must be in the config.
func (c ClientTarget) Return() (why string) {
	switch why := c.known(); {
	case why != "":
		return why
	case c.Alive():
		return "refused.return.alive"
	case !c.MayReturn():
		return "refused.return"
	}
	p := c.state()
	p.Dead = false
	p.Threads[0] = node.Thread{Phase: node.Unborn}
	if c.f.v.s.config.Timing != nil {
		p.Threads[0].Latest = c.f.v.w.now
	}
	id := int8(c.ID)
	c.f.v.EmitClient(history.Return, id, 0).Lease = int(c.f.v.s.clients.entry(id, p).Lease)
	return ""
}

// Threads calls yield for each thread that is there and runs: it waits for no other thread, and
// neither it nor its process is paused. It is not known of the code of a Host, and if a thread
// is paused alone: a client has one pause at a time.
func (c ClientTarget) Threads(yield func(t ThreadTarget) bool) {
	for t := 0; t < MaxThreads && !c.ThreadStopped(); t++ {
		if one := (ThreadTarget{c.f, c.ID, t}); one.runs() && !yield(one) {
			return
		}
	}
}

// ThreadStopped reports whether a thread of the client is paused alone.
func (c ClientTarget) ThreadStopped() bool { return c.state().Stopped() > 0 }

// Unsent reports whether the client may stop before the requests leave it that it has just
// made: nothing shows yet that they have.
func (c ClientTarget) Unsent() bool {
	for t := range MaxThreads {
		if (ThreadTarget{c.f, c.ID, t}).Unsent() {
			return true
		}
	}
	return false
}

// Pause stops the client with all its threads for d; its clock goes on. With d = 0 it lasts until
// a Resume is chosen, but no longer than longest (0: any). unsent: before the requests are sent
// that the client has just made; see Unsent. They leave it when it goes on.
func (c ClientTarget) Pause(d, longest time.Duration, unsent bool) (why string) {
	p, why := c.alive()
	switch {
	case why != "":
		return why
	case p.Paused:
		return "refused.client.paused.already"
	case p.Stopped() > 0:
		return "refused.thread.paused.already"
	case d < 0:
		return "refused.pause.negative"
	case unsent && !c.Unsent():
		return "refused.pause.unsent"
	}
	p.Paused = true
	c.f.pause(p, d, longest)
	for t := range p.Threads {
		if unsent {
			(ThreadTarget{c.f, c.ID, t}).keepBack()
		}
	}
	c.f.v.EmitClient(history.Pause, int8(c.ID), 0).D = d
	c.f.notice(node.Paused, c.ID, 0)
	return ""
}

// ProlongSleep has the client's main thread sleep for d longer, if it sleeps: of work that computes, a pause
// delays the rest.
func (c ClientTarget) ProlongSleep(d time.Duration) {
	if p, why := c.alive(); why == "" && p.Threads[0].Phase == node.Asleep {
		p.Threads[0].Due = clock.Later(p.Threads[0].Due, d)
	}
}

// pause sets when a pause of length d ends: without a length when a Resume is chosen, or after
// the longest (0: never).
func (f FaultContext) pause(p *node.ClientProcess, d, longest time.Duration) {
	p.Open, p.Until = d == 0, Never
	switch {
	case d > 0:
		p.Until = clock.Later(f.v.w.now, d)
	case longest > 0:
		p.Until = clock.Later(f.v.w.now, f.v.s.config.Timing.bound(longest))
	}
}

// StepClock moves the clock of the client by d. Timers that run are not affected.
func (c ClientTarget) StepClock(d time.Duration) (why string) {
	p, why := c.alive()
	if why != "" {
		return why
	}
	if why = p.Clock.Jump(d); why == "" {
		c.f.v.EmitClient(history.ClockStep, int8(c.ID), 0).D = d
	}
	return why
}

// Lists reports whether server n, from 1, is on the client's list, and whether it can be added to
// the list, or removed from it. A list is never empty, and a client without one gets none.
func (c ClientTarget) Lists(n int) (on, may bool) {
	if c.known() != "" || n < 1 || n > len(c.f.v.s.config.Nodes) {
		return false, false
	}
	p := c.state()
	on = p.List>>(n-1)&1 != 0
	return on, !p.Dead && p.List != 0 && p.List != 1<<(n-1)
}

// Relist adds server n to the client's list, or removes it. The code of the client sees that when it
// reads the list the next time.
func (c ClientTarget) Relist(n int) (why string) {
	if _, why := c.alive(); why != "" {
		return why
	}
	if _, may := c.Lists(n); !may {
		return "refused.list"
	}
	c.state().List ^= 1 << (n - 1)
	return ""
}

// HasSession reports whether a server has a session of the client.
func (c ClientTarget) HasSession() bool {
	return c.f.v.s.sessions != nil && c.f.v.s.sessions.HasSession(c.f.v, int8(c.ID))
}

// EndSession has the server end the client's session now, as if it had not heard
// from it, and close its connection.
func (c ClientTarget) EndSession() (why string) {
	if _, why := c.alive(); why != "" {
		return why
	}
	if c.f.v.s.sessions == nil {
		return "refused.session"
	}
	return c.f.v.s.sessions.EndSession(c.f.v, int8(c.ID))
}
