package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A Message is a request or a reply on its way between a client's thread that waits
// for it and a server or the resource.
type Message struct {
	Client, Thread int8
	Held           bool // it is held up; see Delay
	Redis          bool // the other end is a Redis
}

// Requests calls yield for each request on its way whose sender waits for the answer.
func (f FaultContext) Requests(yield func(m Message) bool) { f.messages(node.Asking, yield) }

// Replies calls yield for each reply on its way to a client that waits for it.
func (f FaultContext) Replies(yield func(m Message) bool) { f.messages(node.Answered, yield) }

func (f FaultContext) messages(ph node.Phase, yield func(m Message) bool) {
	for c := int8(1); int(c) <= len(f.s.procs); c++ {
		for t := range int8(MaxThreads) {
			if f.onTheWay(c, t, ph) && !yield(Message{c, t, f.held(c, t), f.toRedis(c, t)}) {
				return
			}
		}
	}
}

// onTheWay says whether a message is on its way to a thread of a client, or from it,
// as phase ph says.
func (f FaultContext) onTheWay(c, t int8, ph node.Phase) bool {
	p := &f.w.procs[c-1]
	return t >= 0 && t < MaxThreads && p.Threads[t].Phase == ph && !p.Dead && !p.Threads[t].Lost()
}

func (f FaultContext) held(c, t int8) bool { return f.w.procs[c-1].Threads[t].Held(f.w.now) }

func (f FaultContext) toRedis(c, t int8) bool {
	return f.s.fallible != nil && f.s.op(f.w, c, t).Kind == process.Request
}

// LoseRequest makes the request that thread t of client c waits for vanish
// before the server sees it. One to a ZooKeeper takes the connection with it.
func (f FaultContext) LoseRequest(c, t int8) (why string) {
	return f.lose(c, t, node.Asking, history.LoseRequest)
}

// LoseReply makes the reply to thread t of client c vanish: the command has been
// executed, and its sender does not learn so. One of a ZooKeeper takes the
// connection with it, and so does a message of a subscription: where later ones are
// heard, none before has been lost.
func (f FaultContext) LoseReply(c, t int8) (why string) {
	return f.lose(c, t, node.Answered, history.LoseReply)
}

func (f FaultContext) lose(c, t int8, ph node.Phase, k history.Kind) (why string) {
	p, why := f.client(c)
	switch {
	case why != "":
		return why
	case !f.onTheWay(c, t, ph):
		return "refused.message"
	}
	th := &p.Threads[t]
	th.Phase, th.Hold, th.Reply = node.Unheard, 0, 0 // nobody ever reads the reply
	f.emitMessage(k, c, t)
	if f.s.op(f.w, c, t).Kind.ToServer() {
		f.notice(node.Lost, c, t)
	}
	return ""
}

// notice has the servers notice what happens to a client.
func (f FaultContext) notice(what node.What, c, t int8) {
	if err := f.s.notice(f.w, what, c, t); err != nil && f.s.room.Exceeded == nil {
		f.s.room.Exceeded = err
	}
}

// emitMessage records what happens to a message to or from a thread.
func (f FaultContext) emitMessage(k history.Kind, c, t int8) *history.Event {
	o := f.s.op(f.w, c, t)
	e := f.s.emitClient(f.w, k, c, t)
	e.Node, e.Msg, e.Cmd = int(o.Node), int(f.w.procs[c-1].Threads[t].Msg), f.s.cmd(o)
	return e
}

// Delay holds up the message, on its way to or from thread t of client c, for d.
// A request arrives then, also if its sender has given up by that time. With a Timing
// it may arrive before, and its history does not say for how long.
func (f FaultContext) Delay(c, t int8, d time.Duration) (why string) {
	p, why := f.client(c)
	switch {
	case why != "":
		return why
	case d <= 0:
		return "refused.delay.length"
	case !f.onTheWay(c, t, node.Asking) && !f.onTheWay(c, t, node.Answered):
		return "refused.message"
	case f.held(c, t):
		return "refused.message.held"
	}
	th := &p.Threads[t]
	e := f.emitMessage(history.Delay, c, t)
	e.D, e.Note = d, "request"
	if f.s.config.Timing == nil {
		th.Hold = clock.Later(f.w.now, d)
	} else if e.D = 0; th.Latest != Never {
		th.Latest = clock.Later(max(th.Latest, f.w.now), f.s.config.bound(d))
	}
	if th.Phase == node.Answered {
		e.Note = "reply"
	} else if f.s.op(f.w, c, t).Kind.ToServer() {
		f.notice(node.HeldUp, c, 0)
	}
	return ""
}

// Reject has the request of thread t of client c answered with an error, and not
// executed. It concerns requests to a Redis only.
func (f FaultContext) Reject(c, t int8, err string) (why string) {
	p, why := f.client(c)
	switch {
	case why != "":
		return why
	case !f.onTheWay(c, t, node.Asking) || !f.toRedis(c, t):
		return "refused.request.none"
	case f.held(c, t):
		return "refused.request.held.already"
	}
	answer, text := f.s.fallible.Reject(f.s.op(f.w, c, t).Arg, err)
	f.emitMessage(history.Reject, c, t).Reply = text
	p.Threads[t].Answer(answer)
	return ""
}
