package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// library is the protocol of clients with a [Session]: each has one session, at its own place.
type library struct{ *ensemble }

func (s library) peer(c int8) *peer { return &s.now().peers[c-1] }

func (s library) alive(c int8) bool { return s.now().state.Alive(s.peer(c).session) }

func (s library) sessionOf(c int8) int8 {
	if s.alive(c) {
		return c
	}
	return 0
}

// awaited reports whether there is a notification for a thread that waits for one.
func (s library) awaited(c, thread int8) bool {
	p := s.peer(c)
	if s.w.Client(c).Threads[thread].Phase != world.Asleep || len(p.events) == 0 {
		return false
	}
	o := s.w.Op(c, thread)
	return o.Kind == process.Watch && p.endsWait(*s.x.watches.At(o.Arg))
}

// cannotReconnect returns the reason for which client c does not connect to the ensemble now. What came
// by the old connection is received first.
func cannotReconnect(w world.World, c int8) (why string) {
	p := w.Client(c)
	switch {
	case p.Dead:
		return "refused.client.dead"
	case p.Paused:
		return "refused.client.paused"
	case !p.Cut:
		return "refused.connected"
	}
	for t, th := range p.Each {
		if th.Phase == world.Answered && !p.Stands(int(t)) && w.Op(c, t).Kind == process.Request {
			return "refused.unheard"
		}
	}
	return ""
}

// reconnect gives a client a connection again.
func (s library) reconnect(c int8) (why string) {
	if c < 1 || int(c) > s.w.Clients() {
		return "refused.client.zookeeper"
	}
	if why := cannotReconnect(s.w, c); why != "" {
		return why
	}
	p, e := s.w.Client(c), s.emit(history.Reconnect, c)
	if !s.alive(c) {
		e.Note = "the session has ended"
	}
	s.act(actConnect, c, s.w.Memory(c))
	s.ends[c-1] = 0
	p.Cut = false
	for _, th := range p.Each {
		if th.Phase == world.Stranded {
			th.Phase, th.Fresh = world.Asking, true // it is sent now, and takes its time
		}
	}
	s.w.DropOrphans(number, world.Of(c))
	return ""
}

// deliver brings a notification to a thread that waits for it.
func (s library) deliver(c, thread int8) (why string, err error) {
	there := c >= 1 && int(c) <= s.w.Clients() && thread >= 0 && thread < process.MaxThreads
	if !there || s.w.Client(c).Dead || s.w.Client(c).Stands(int(thread)) || !s.awaited(c, thread) {
		return "refused.watch", nil
	}
	for t := range s.w.Client(c).Each {
		s.needOrder(c, t, s.peer(c).events)
	}
	eff := s.act(actNotify, c, 0)
	s.kind.group.Close(s.w)
	s.w.EmitClient(history.Wake, c, thread).Note = "news of a watch"
	return "", s.w.Observe(c, thread, process.Observation{Kind: process.Notified, Val: int64(eff.answer)})
}

func (s library) arrive(c, thread int8) {
	th, kind := &s.w.Client(c).Threads[thread], actServe
	if s.othersWait(c, thread) {
		kind = actServeBeside
	}
	sent := s.peer(c).events
	th.Answer(s.serve(s.w.Op(c, thread), c, th.Msg, kind))
	if kind == actServe {
		return
	}
	s.needOrder(c, thread, sent)
	for t, other := range s.w.Client(c).Each {
		if t != thread && s.onItsWay(c, t) {
			s.needOrder(c, thread, s.x.answers.At(other.Reply).events)
		}
	}
}

// onItsWay reports whether a reply is on its way to a thread of client c.
func (s library) onItsWay(c, thread int8) bool {
	th := &s.w.Client(c).Threads[thread]
	return th.Phase == world.Answered && th.Reply != world.LostConn && s.w.Op(c, thread).Kind == process.Request
}

// needOrder notes a limit if the reply on its way to a thread of client c leaves a watch that is
// ended by events which another thread receives. A watch is ended by what is sent after the reply that
// leaves it, and by nothing that was sent before; but the two threads receive them in no order.
func (s library) needOrder(c, thread int8, events []Event) {
	if !s.onItsWay(c, thread) {
		return
	}
	code := s.x.answers.At(s.w.Client(c).Threads[thread].Reply).reply.Code
	left, leaves := s.x.requests.At(s.w.Op(c, thread).Arg).leaves(code)
	if leaves && slices.ContainsFunc(events, func(e Event) bool { return ends(e, left) }) {
		s.x.memo.Room.Exceed("limit.session.order")
	}
}

// othersWait reports whether another thread of client c waits on the session.
func (s library) othersWait(c, thread int8) bool {
	for t := range s.w.Client(c).Each {
		if o := s.w.Op(c, t).Kind; t != thread && (o == process.Request || o == process.Watch) {
			return true
		}
	}
	return false
}

func (s library) serve(o *process.Op, from int8, msg uint32, kind actKind) (answer uint32) {
	a := act{s.contents, o.Arg, kind, from}
	eff := s.x.look(a)
	answer = s.kind.real(a, eff)
	if eff.refused { // the ensemble has closed the connection on which it comes
		if kind != actServeOrphan {
			s.cutOff(from)
		}
		return world.LostConn
	}
	s.apply(o, from, msg, answer)
	s.enter(eff, kind, from)
	if s.ends[from-1] != 0 { // every request is a sign of life
		s.ends[from-1] = 0
		if p := s.w.Client(from); p.Dead || p.Paused || p.Cut || kind == actServeOrphan {
			s.silence(from)
		}
	}
	return answer
}

// cutOff breaks client c's connection. A request on its way may still be run.
func (s library) cutOff(c int8) {
	p := s.w.Client(c)
	if p.Cut {
		return
	}
	p.Cut = true
	s.act(actCut, c, 0)
	s.silence(c)
	for t, th := range p.Each {
		if s.w.Op(c, t).Kind != process.Request {
			continue
		}
		if th.Phase == world.Asking && s.alive(c) {
			s.w.Orphan(c, t)
		}
		if th.Phase == world.Asking || th.Phase == world.Unheard {
			th.Answer(world.LostConn)
		}
	}
}

func (s library) hangUp(c int8, _ wireRef) { s.cutOff(c) }

// lost also breaks the connection where the answer had come by one that was cut before.
func (s library) lost(c, thread int8) {
	if s.w.Op(c, thread).Kind == process.Request {
		s.cutOff(c)
		s.w.Client(c).Threads[thread].Answer(world.LostConn)
	}
}

func (s library) crashed(c int8) { s.cutOff(c) }

func (s library) silenced(c int8, _ bool) { s.silence(c) }

// resumed has the client ping again, or find out that its session has ended.
func (s library) resumed(c int8) {
	switch {
	case s.w.Client(c).Cut:
	case !s.alive(c):
		s.cutOff(c)
	case !s.heldUp(c, wireRef{}):
		s.ends[c-1] = 0
	}
}
