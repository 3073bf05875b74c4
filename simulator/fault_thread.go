package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

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
	th, now := t.state(), t.f.v.w.now
	switch timing := t.f.v.s.config.Timing; {
	case th.Phase != node.Asking || th.Hold > now:
		return false
	case t.f.v.s.numbers != nil && t.op().Kind.ToServer():
		return false // a session's library sends in a thread of its own
	default:
		return timing == nil || max(th.Latest, now) == clock.Later(now, t.f.v.s.clients.latency(int8(t.Client), t.op()))
	}
}

// keepBack has a request that is not yet sent leave when the pause of the thread ends.
func (t ThreadTarget) keepBack() {
	if th := t.state(); t.Unsent() {
		th.Phase, th.Latest, th.Due = node.Unsent, 0, 0
	}
}

// Pause stops the thread, and no other, as ClientTarget.Pause stops all. It adds nothing to the history.
func (t ThreadTarget) Pause(d, longest time.Duration, unsent bool) (why string) {
	p, why := t.client().alive()
	switch {
	case why != "":
		return why
	case p.Stopped() > 0:
		return "refused.thread.paused.already"
	case !t.runs():
		return "refused.thread.runs"
	case d < 0:
		return "refused.pause.negative"
	case unsent && !t.Unsent():
		return "refused.pause.unsent"
	}
	t.f.pause(p, d, longest)
	t.state().Stopped = true
	if unsent {
		t.keepBack()
	}
	return ""
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
func (t ThreadTarget) Held() bool { return t.state().Held(t.f.v.w.now) }

// ToRedis reports whether the other end is a Redis.
func (t ThreadTarget) ToRedis() bool {
	return t.f.v.s.fallible != nil && t.op().Kind == process.Request
}

// LoseRequest makes the request that the thread has sent vanish before the server sees it. One to
// a ZooKeeper takes the connection with it.
func (t ThreadTarget) LoseRequest() (why string) { return t.lose(node.Asking, history.LoseRequest) }

// LoseReply makes the reply to the thread vanish: the command has been executed, and its sender
// does not learn so. One of a ZooKeeper takes the connection with it, and so does a message of a
// subscription: where later ones are received, none before has been lost.
func (t ThreadTarget) LoseReply() (why string) { return t.lose(node.Answered, history.LoseReply) }

func (t ThreadTarget) lose(ph node.Phase, k history.EventKind) (why string) {
	_, why = t.client().alive()
	switch {
	case why != "":
		return why
	case !t.onTheWay(ph):
		return "refused.message"
	}
	th := t.state()
	th.Phase, th.Hold, th.Reply = node.Unheard, 0, 0 // no code ever reads the reply
	t.emit(k)
	if t.op().Kind.ToServer() {
		t.f.notice(node.Lost, t.Client, t.ID)
	}
	return ""
}

// emit records what happens to the message.
func (t ThreadTarget) emit(k history.EventKind) *history.Event {
	return t.f.v.emitMessage(k, int8(t.Client), int8(t.ID))
}

// Delay holds up the message for d. A request arrives then, also if its sender has given up by
// that time. With a Timing it may arrive before, and its history does not say for how long.
func (t ThreadTarget) Delay(d time.Duration) (why string) {
	_, why = t.client().alive()
	switch {
	case why != "":
		return why
	case d <= 0:
		return "refused.delay.length"
	case !t.onTheWay(node.Asking) && !t.onTheWay(node.Answered):
		return "refused.message"
	case t.Held():
		return "refused.message.held"
	}
	th, now := t.state(), t.f.v.w.now
	e := t.emit(history.Delay)
	e.D, e.Note = d, "request"
	if t.f.v.s.config.Timing == nil {
		th.Hold = clock.Later(now, d)
	} else if e.D = 0; th.Latest != Never {
		th.Latest = clock.Later(max(th.Latest, now), t.f.v.s.config.Timing.bound(d))
	}
	if th.Phase == node.Answered {
		e.Note = "reply"
	} else if t.op().Kind.ToServer() {
		t.f.notice(node.HeldUp, t.Client, 0)
	}
	return ""
}

// Reject has the request answered with an error, and not executed. It concerns requests to a
// Redis only.
func (t ThreadTarget) Reject(err string) (why string) {
	_, why = t.client().alive()
	switch {
	case why != "":
		return why
	case !t.onTheWay(node.Asking) || !t.ToRedis():
		return "refused.request.none"
	case t.Held():
		return "refused.request.held.already"
	}
	answer, text := t.f.v.s.fallible.Reject(t.op().Arg, err)
	t.emit(history.Reject).Reply = text
	t.state().Answer(answer)
	return ""
}
