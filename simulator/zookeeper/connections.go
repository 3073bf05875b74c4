package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// What befalls sessions and connections of clients, and what the library of a client with a [Session] does by itself.
//
// A client whose code opens connections may have several sessions, as one whose end has not reached the ensemble yet.
// What is said of sessions in ensemble.go holds, but nothing is done for the code: it sees that its connection has
// broken, and connects again, or does not.

// alive reports whether the session at a place, from 1, has not ended.
func (s *ensemble) alive(at int8) bool { return s.now().state.Alive(s.now().at(at).session) }

// connected reports whether client c has a connection for its session at a place, from 1.
func (s *ensemble) connected(c, at int8) bool {
	if s.onWires() {
		return s.now().at(at).up
	}
	return !s.w.Client(c).Cut
}

// sessionsOf yields the places, from 1, of client c's sessions.
func (s *ensemble) sessionsOf(c int8) func(yield func(at int8) bool) {
	return func(yield func(int8) bool) {
		for at := int8(1); at <= maxSessions; at++ {
			if now := s.now(); now.at(at).session != 0 && now.clientAt(at) == c && !yield(at) {
				return
			}
		}
	}
}

// sessionOf returns the place, from 1, of the session that client c has begun last; 0: it has none.
func (s *ensemble) sessionOf(c int8) (at int8) {
	now := s.now()
	for one := range s.sessionsOf(c) {
		if s.alive(one) && (at == 0 || now.at(one).on.session > now.at(at).on.session) {
			at = one
		}
	}
	return at
}

// news returns the place, from 1, of the session whose notifications a thread waits for and can receive; 0: there is
// none. broken: the thread listens on a connection that has broken.
func (s *ensemble) news(c, thread int8) (at int8, broken bool) {
	now, o := s.now(), s.w.Op(c, thread)
	switch phase := s.w.Client(c).Threads[thread].Phase; {
	case s.onWires() && phase == world.Listening:
		on := s.wireOf(c, thread)
		if at = now.standing(on); at == 0 {
			return 0, now.find(on) != 0 || now.ended(on) // else it has not begun
		}
		if len(now.at(at).events) == 0 {
			return 0, false
		}
		return at, false
	case s.onWires() || phase != world.Asleep || o.Kind != process.Watch:
		return 0, false
	}
	if now.at(c).endsWait(*s.x.watches.At(o.Arg)) {
		at = c
	}
	return at, false
}

// cannotReconnect returns the error of client c's connecting to the ensemble now; nil: it does. What came
// by the old connection is received first.
func cannotReconnect(w world.World, c int8) error {
	p := w.Client(c)
	switch {
	case p.Dead:
		return world.Refuse("refused.client.dead")
	case p.Paused:
		return world.Refuse("refused.client.paused")
	case !p.Cut:
		return world.Refuse("refused.connected")
	}
	for t, th := range p.Each {
		if th.Phase == world.Answered && !p.Stands(int(t)) && w.Op(c, t).Kind == process.Request {
			return world.Refuse("refused.unheard")
		}
	}
	return nil
}

// reconnect gives a client a connection again.
func (s *ensemble) reconnect(c int8) error {
	if c < 1 || int(c) > s.w.Clients() {
		return world.Refuse("refused.client.zookeeper")
	}
	if err := cannotReconnect(s.w, c); err != nil {
		return err
	}
	p, e := s.w.Client(c), s.emit(history.Reconnect, c)
	if !s.alive(c) {
		e.Note = "the session has ended"
	}
	s.act(ActConnect, c, s.w.Memory(c))
	s.ends[c-1] = 0
	p.Cut = false
	for _, th := range p.Each {
		if th.Phase == world.Stranded {
			th.Phase, th.Fresh = world.Asking, true // it is sent now, and takes its time
		}
	}
	s.w.DropOrphans(number, history.Only(uint8(c)))
	return nil
}

// deliver brings a client's thread the notifications that it waits for, or that its connection has broken.
func (s *ensemble) deliver(c, thread int8) error {
	there := c >= 1 && int(c) <= s.w.Clients() && thread >= 0 && thread < process.MaxThreads
	if !there || s.w.Client(c).Dead || s.w.Client(c).Stands(int(thread)) {
		return world.Refuse("refused.watch")
	}
	at, broken := s.news(c, thread)
	kind := process.Replied
	switch {
	case broken:
		e := s.w.EmitClient(history.Broken, c, thread)
		e.Node, e.Msg = number, int(s.w.Client(c).Threads[thread].Msg)
		e.Cmd = s.x.requests.At(s.w.Op(c, thread).Arg).text
		return s.w.Observe(c, thread, process.Observation{Kind: process.Broken})
	case at == 0:
		return world.Refuse("refused.watch")
	case !s.onWires():
		for t := range s.w.Client(c).Each {
			s.needOrder(c, t, s.now().at(at).events)
		}
		kind = process.Notified
	}
	eff := s.act(ActNotify, at, 0)
	s.kind.group.Close(s.w)
	s.w.EmitClient(history.Wake, c, thread).Note = "news of a watch"
	return s.w.Observe(c, thread, process.Observation{Kind: kind, Val: int64(eff.answer)})
}

// arrive has a request reach the ensemble.
func (s *ensemble) arrive(c, thread int8) {
	th, kind := &s.w.Client(c).Threads[thread], ActServe
	if s.othersWait(c, thread) {
		kind = ActServeBeside
	}
	sent := s.now().at(c).events
	th.Answer(s.serve(s.w.Op(c, thread), c, th.Msg, kind))
	if kind == ActServe {
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
func (s *ensemble) onItsWay(c, thread int8) bool {
	th := &s.w.Client(c).Threads[thread]
	return th.Phase == world.Answered && th.Reply != world.LostConn && s.w.Op(c, thread).Kind == process.Request
}

// needOrder notes a limit if the reply on its way to a thread of client c leaves a watch that is
// ended by events which another thread receives. A watch is ended by what is sent after the reply that
// leaves it, and by nothing that was sent before; but the two threads receive them in no order.
func (s *ensemble) needOrder(c, thread int8, events []Event) {
	if !s.onItsWay(c, thread) {
		return
	}
	code := s.x.answers.At(s.w.Client(c).Threads[thread].Reply).reply.Code
	left, leaves := s.x.requests.At(s.w.Op(c, thread).Arg).leaves(code)
	if leaves && slices.ContainsFunc(events, func(e Event) bool { return ends(e, left) }) {
		s.x.memo.Room.Exceed("limit.session.order")
	}
}

// othersWait reports whether another thread of client c waits on the session that its library keeps.
func (s *ensemble) othersWait(c, thread int8) bool {
	if s.onWires() {
		return false
	}
	for t := range s.w.Client(c).Each {
		if o := s.w.Op(c, t).Kind; t != thread && (o == process.Request || o == process.Watch) {
			return true
		}
	}
	return false
}

// serve runs a request. The answer is LostConn if the ensemble has closed the connection.
func (s *ensemble) serve(o *process.Op, from int8, msg uint32, kind ActKind) (answer uint32) {
	at := from
	if s.onWires() {
		q := s.x.requests.At(o.Arg)
		at = s.x.place(s.now(), q, kind == ActServeOrphan)
		switch {
		case at == 0 && q.Op == opConnect && s.now().ended(q.on):
			answer = s.x.answers.ID(answerTo(q.Request, Reply{Code: SessionExpired}))
			s.apply(o, from, msg, answer)
			return answer
		case at == 0:
			return world.LostConn
		}
	}
	a := act{s.contents, o.Arg, kind, at}
	eff := s.x.look(a)
	answer = s.kind.real(a, eff)
	if eff.refused { // the ensemble has closed the connection on which it comes
		if kind != ActServeOrphan {
			s.hangUp(from, wireRef{})
		}
		return world.LostConn
	}
	s.apply(o, from, msg, answer)
	s.enter(eff, kind, from)
	s.ends[at-1] = 0 // every request is a sign of life
	if p := s.w.Client(from); p.Dead || p.Paused || kind == ActServeOrphan || !s.connected(from, at) {
		s.silence(at)
	}
	return answer
}

// hangUp breaks a connection of client c. A request on its way may still be run. A thread that listens observes that.
func (s *ensemble) hangUp(c int8, on wireRef) {
	p, at, ended := s.w.Client(c), c, false
	switch now := s.now(); {
	case s.onWires():
		at, ended = now.standing(on), now.ended(on)
	case p.Cut:
		return
	default:
		p.Cut, ended = true, !s.alive(c)
	}
	if at != 0 {
		s.act(ActCut, at, 0)
		s.silence(at)
	}
	for t, th := range p.Each {
		if !s.w.Op(c, t).Kind.ToServer() || s.wireOf(c, t) != on {
			continue
		}
		if th.Phase == world.Asking && !ended {
			s.w.Orphan(c, t)
		}
		if th.Phase == world.Asking || th.Phase == world.Unheard {
			th.Answer(world.LostConn)
		}
	}
}

// lost has a message be lost, which breaks the connection, also one of before that was cut.
func (s *ensemble) lost(c, thread int8) {
	if s.w.Op(c, thread).Kind == process.Request {
		s.hangUp(c, s.wireOf(c, thread))
		s.w.Client(c).Threads[thread].Answer(world.LostConn)
	}
}

// crashed has client c die.
func (s *ensemble) crashed(c int8) {
	for t := range s.w.Client(c).Each {
		if on := s.wireOf(c, t); on.client != 0 || !s.onWires() {
			s.hangUp(c, on)
		}
	}
	s.silenced(c, false)
}

// silenced begins the time-outs of client c's sessions; if held, of those of which a request is held up.
func (s *ensemble) silenced(c int8, held bool) {
	for at := range s.sessionsOf(c) {
		if !held || s.heldUp(c, s.now().at(at).on) {
			s.silence(at)
		}
	}
}

// resumed has client c ping again, or find out that its session has ended.
func (s *ensemble) resumed(c int8) {
	for at := range s.sessionsOf(c) {
		on := s.now().at(at).on
		switch {
		case !s.connected(c, at):
		case !s.alive(at):
			s.hangUp(c, on)
		case !s.heldUp(c, on):
			s.ends[at-1] = 0
		}
	}
}

// expire ends the session that client c began last, as if it had been silent for too long, and closes its connection.
func (s *ensemble) expire(c int8) error {
	at := s.sessionOf(c)
	if at == 0 {
		return world.Refuse("refused.session")
	}
	on := s.now().at(at).on
	s.endSession(at)
	if !s.w.Client(c).Paused {
		s.hangUp(c, on)
	}
	return nil
}
