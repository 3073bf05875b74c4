package simulator

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A ClientTarget is a client that a fault may strike. What a fault does to it, and to its threads, is for clients that
// have not been killed (see Fault.Living), but for Return.
type ClientTarget struct {
	f  FaultContext
	ID int // from 1
}

// Choice is the choice that strikes the client by a fault's verb.
func (c ClientTarget) Choice(v Verb) Choice { return Choice{Verb: v, Client: int8(c.ID)} }

// known is nil if there is such a client.
func (c ClientTarget) known() error {
	if c.ID < 1 || c.ID > len(c.f.v.s.clients.procs) {
		return node.Refuse("refused.client.unknown")
	}
	return nil
}

func (c ClientTarget) state() *node.ClientProcess { return &c.f.v.w.procs[c.ID-1] }

// threads are all threads that the client may have.
func (c ClientTarget) threads() (all [MaxThreads]ThreadTarget) {
	for t := range all {
		all[t] = ThreadTarget{c.f, c.ID, t}
	}
	return all
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
func (c ClientTarget) Crash() error {
	p, v, id := c.state(), c.f.v, int8(c.ID)
	v.EmitClient(history.Crash, id, 0)
	if err := v.notice(node.Crashed, id, 0); err != nil {
		return err
	}
	for t := range p.Threads {
		if p.Threads[t].Phase == node.Asking {
			v.Orphan(id, int8(t))
		}
	}
	*p = node.ClientProcess{Dead: true, Clock: p.Clock, At: p.At, List: p.List}
	if v.s.returns && v.s.config.Clients[c.ID-1].Host == nil {
		p.At = v.s.clients.procs[c.ID-1].Restarted(p.At)
	}
	return nil
}

// MayReturn reports whether the client is dead and can be started again.
func (c ClientTarget) MayReturn() bool {
	return !c.Alive() && c.f.v.s.sessions == nil && c.f.v.s.config.Clients[c.ID-1].Host == nil
}

// Return starts a process in place of the client's, which was killed: with the same code and
// the same clock, and none of its memory. A fault that Returns must be in the config.
func (c ClientTarget) Return() error {
	switch err := c.known(); {
	case err != nil:
		return err
	case c.Alive():
		return node.Refuse("refused.return.alive")
	case !c.MayReturn():
		return node.Refuse("refused.return")
	}
	p := c.state()
	p.Dead = false
	p.Threads[0] = node.Thread{Phase: node.Unborn}
	id := int8(c.ID)
	c.f.v.EmitClient(history.Return, id, 0).Lease = int(c.f.v.s.clients.entry(id, p).Lease)
	return nil
}

// Threads calls yield for each thread that is there and runs: it waits for no other, and neither it nor its process is
// paused. It is not known of the code of a Host, and if a thread is paused alone: a client has one pause at a time.
func (c ClientTarget) Threads(yield func(t ThreadTarget) bool) {
	for _, t := range c.threads() {
		if !c.ThreadStopped() && t.runs() && !yield(t) {
			return
		}
	}
}

// ThreadStopped reports whether a thread of the client is paused alone.
func (c ClientTarget) ThreadStopped() bool { return c.state().Stopped() > 0 }

// Unsent reports whether the client may stop before its latest requests leave it: nothing shows yet that they have.
func (c ClientTarget) Unsent() bool {
	all := c.threads()
	return slices.ContainsFunc(all[:], ThreadTarget.Unsent)
}

// Pause stops the client with all its threads for d; its clock goes on. With d = 0 it lasts until
// a Resume is chosen, but no longer than longest (0: any). unsent: before the requests are sent
// that the client has just made; see Unsent. They leave it when it goes on.
func (c ClientTarget) Pause(d, longest time.Duration, unsent bool) error {
	if c.state().Paused {
		return node.Refuse("refused.client.paused.already")
	}
	all := c.threads()
	if err := c.stop(all[:], d, longest, unsent); err != nil {
		return err
	}
	c.state().Paused = true
	c.f.v.EmitClient(history.Pause, int8(c.ID), 0).D = d
	return c.f.v.notice(node.Paused, int8(c.ID), 0)
}

// ProlongSleep has the client's main thread sleep d longer, if it sleeps: of computing work a pause delays the rest.
func (c ClientTarget) ProlongSleep(d time.Duration) {
	if main := &c.state().Threads[0]; main.Phase == node.Asleep {
		main.Due = clock.Later(main.Due, d)
	}
}

// stop begins a pause of some threads of the client, of length d: without a length it ends when a Resume is chosen, or
// after the longest (0: never).
func (c ClientTarget) stop(threads []ThreadTarget, d, longest time.Duration, unsent bool) error {
	p := c.state()
	switch {
	case p.Stopped() > 0:
		return node.Refuse("refused.thread.paused.already")
	case d < 0:
		return node.Refuse("refused.pause.negative")
	case unsent && !slices.ContainsFunc(threads, ThreadTarget.Unsent):
		return node.Refuse("refused.pause.unsent")
	}
	p.Open, p.Until = d == 0, Never
	switch {
	case d > 0:
		p.Until = clock.Later(0, d)
	case longest > 0:
		p.Until = clock.Later(0, c.f.v.s.config.Timing.bound(longest))
	}
	for _, t := range threads { // a request that is not yet sent leaves when the pause of its thread ends
		if th := t.state(); unsent && t.Unsent() {
			th.Phase, th.Latest, th.Due = node.Unsent, 0, 0
		}
	}
	return nil
}

// StepClock moves the clock of the client by d. Timers that run are not affected.
func (c ClientTarget) StepClock(d time.Duration) error {
	if why := c.state().Clock.Jump(d); why != "" {
		return node.Refuse(why)
	}
	c.f.v.EmitClient(history.ClockStep, int8(c.ID), 0).D = d
	return nil
}

// Lists reports whether server n, from 1, is on the client's list, and whether it can be added to
// the list, or removed from it. A list is never empty, and a client without one gets none.
func (c ClientTarget) Lists(n int) (on, may bool) {
	if c.known() != nil || n < 1 || n > len(c.f.v.s.config.Nodes) {
		return false, false
	}
	p := c.state()
	on = p.List>>(n-1)&1 != 0
	return on, !p.Dead && p.List != 0 && p.List != 1<<(n-1)
}

// Relist adds server n to the client's list, or removes it. The client's code sees that when it next reads the list.
func (c ClientTarget) Relist(n int) error {
	if _, may := c.Lists(n); !may {
		return node.Refuse("refused.list")
	}
	c.state().List ^= 1 << (n - 1)
	return nil
}

// HasSession reports whether a server has a session of the client.
func (c ClientTarget) HasSession() bool {
	return c.f.v.s.sessions != nil && c.f.v.s.sessions.HasSession(c.f.v, int8(c.ID))
}

// EndSession has the server end the client's session now, as if it had not heard from it, and close its connection.
func (c ClientTarget) EndSession() error { return c.f.v.notice(node.EndSession, int8(c.ID), 0) }

// A ThreadTarget is a thread that a fault may strike, and the message on its way between the
// thread, which waits for it, and a server or the resource.
type ThreadTarget struct {
	f      FaultContext
	Client int // from 1
	ID     int // from 0, the main thread
}

// Choice is the choice that strikes the thread, or its message, by a fault's verb.
func (t ThreadTarget) Choice(v Verb) Choice {
	return Choice{Verb: v, Client: int8(t.Client), Thread: int8(t.ID)}
}

func (t ThreadTarget) client() ClientTarget { return ClientTarget{t.f, t.Client} }

func (t ThreadTarget) state() *node.Thread { return &t.f.v.w.procs[t.Client-1].Threads[t.ID] }

func (t ThreadTarget) op() *process.Op { return t.f.v.Op(int8(t.Client), int8(t.ID)) }

// runs reports whether the thread of a client that there is can be paused; see ClientTarget.Threads.
func (t ThreadTarget) runs() bool {
	p := t.client().state()
	if t.ID < 0 || t.ID >= MaxThreads || p.Dead || p.Stands(t.ID) || t.f.v.s.config.Clients[t.Client-1].Host != nil {
		return false
	}
	switch p.Threads[t.ID].Phase {
	case node.Idle, node.Unborn, node.Joining:
		return false
	}
	return true
}

// Unsent is ClientTarget.Unsent of one thread.
func (t ThreadTarget) Unsent() bool {
	th := t.state()
	if th.Phase != node.Asking || t.f.v.s.numbers != nil && t.op().Kind.ToServer() {
		return false // a session's library sends in a thread of its own
	}
	latency := t.f.v.s.clients.latency(int8(t.Client), t.op())
	if t.f.v.s.config.Timing == nil {
		return th.Hold == latency
	}
	return th.Hold == 0 && th.Latest == clock.Later(0, latency)
}

// Pause stops the thread, and no other, as ClientTarget.Pause stops all. It adds nothing to the history.
func (t ThreadTarget) Pause(d, longest time.Duration, unsent bool) error {
	if !t.client().ThreadStopped() && !t.runs() {
		return node.Refuse("refused.thread.runs")
	}
	if err := t.client().stop([]ThreadTarget{t}, d, longest, unsent); err != nil {
		return err
	}
	t.state().Stopped = true
	return nil
}

// onTheWay reports whether a message is on its way to the thread, or from it, as phase ph says.
func (t ThreadTarget) onTheWay(ph node.Phase) bool {
	if t.ID < 0 || t.ID >= MaxThreads {
		return false
	}
	th := t.state()
	return th.Phase == ph && t.client().Alive() && !th.Lost()
}

// Held reports whether the message is held up; see Delay.
func (t ThreadTarget) Held() bool { return t.state().Held() }

// ToRedis reports whether the other end is a Redis.
func (t ThreadTarget) ToRedis() bool {
	return t.f.v.s.fallible != nil && t.op().Kind == process.Request
}

// LoseRequest loses the thread's request before the server sees it. One to a ZooKeeper takes the connection along.
func (t ThreadTarget) LoseRequest() error { return t.lose(node.Asking, history.LoseRequest) }

// LoseReply makes the reply to the thread vanish: the command was executed, which its sender does not learn. A
// ZooKeeper's takes the connection along, as does a subscription's message: none is lost before one that is received.
func (t ThreadTarget) LoseReply() error { return t.lose(node.Answered, history.LoseReply) }

func (t ThreadTarget) lose(ph node.Phase, k history.EventKind) error {
	if !t.onTheWay(ph) {
		return node.Refuse("refused.message")
	}
	th := t.state()
	th.Phase, th.Hold, th.Reply = node.Unheard, 0, 0 // no code ever reads the reply
	t.emit(k)
	if t.op().Kind.ToServer() {
		return t.f.v.notice(node.Lost, int8(t.Client), int8(t.ID))
	}
	return nil
}

// emit records what happens to the message.
func (t ThreadTarget) emit(k history.EventKind) *history.Event {
	return t.f.v.emitMessage(k, int8(t.Client), int8(t.ID))
}

// Delay holds up the message for d. A request arrives then, also if its sender has given up by
// that time. With a Timing it may arrive before, and its history does not say for how long.
func (t ThreadTarget) Delay(d time.Duration) error {
	switch {
	case d <= 0:
		return node.Refuse("refused.delay.length")
	case !t.onTheWay(node.Asking) && !t.onTheWay(node.Answered):
		return node.Refuse("refused.message")
	case t.Held():
		return node.Refuse("refused.message.held")
	}
	th := t.state()
	e := t.emit(history.Delay)
	e.D, e.Note = d, "request"
	if t.f.v.s.config.Timing == nil {
		th.Hold = clock.Later(0, d)
	} else if e.D = 0; th.Latest != Never {
		th.Latest = clock.Later(th.Latest, t.f.v.s.config.Timing.bound(d))
	}
	if th.Phase == node.Answered {
		e.Note = "reply"
	} else if t.op().Kind.ToServer() {
		return t.f.v.notice(node.HeldUp, int8(t.Client), 0)
	}
	return nil
}

// Reject has the request answered with an error, and not executed. It concerns requests to a Redis only.
func (t ThreadTarget) Reject(with string) error {
	switch {
	case !t.onTheWay(node.Asking) || !t.ToRedis():
		return node.Refuse("refused.request.none")
	case t.Held():
		return node.Refuse("refused.request.held.already")
	}
	answer, text := t.f.v.s.fallible.Reject(t.op().Arg, with)
	t.emit(history.Reject).Reply = text
	t.state().Answer(answer)
	return nil
}
