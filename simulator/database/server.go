package database

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// A server is that of a world while something happens to it.
type server struct {
	*DatabaseState
	kind *Kind
	x    *Executor
	w    world.World
}

// now returns the contents of the server.
func (s *server) now() *contents { return s.x.contents.At(s.contents) }

// slotOf returns the connection that a client's thread waits on; 0: none, or a new one.
func (s *server) slotOf(c, thread int8) int8 {
	if o := s.w.Op(c, thread); o.Kind == process.Request {
		return s.x.requests.At(o.Arg).slot
	}
	return 0
}

// on returns the thread of client c that waits on a connection of its; -1: none does.
func (s *server) on(c, slot int8) int8 {
	for t, th := range s.w.Client(c).Each {
		if slot > 0 && th.Phase.Waiting() && s.slotOf(c, t) == slot {
			return t
		}
	}
	return -1
}

// arrive has a request reach the server, which answers it or has it wait.
func (s *server) arrive(c, thread int8) {
	th := &s.w.Client(c).Threads[thread]
	switch s.outage {
	case down:
		th.Answer(world.LostConn)
		return
	case hung:
		th.Hold = s.until
		return
	}
	if answer, waits := s.serve(s.w.Op(c, thread), c, th.Msg, stepServe); waits {
		*th = world.Thread{Phase: world.Listening, Msg: th.Msg, Due: clock.Never, Stopped: th.Stopped}
	} else {
		th.Answer(answer)
	}
}

// arriveOrphan has a request reach the server for whose answer no thread waits.
func (s *server) arriveOrphan(o *world.Orphan) (why string) {
	switch s.outage {
	case hung:
		o.Hold = s.until
		return "refused.orphan.held"
	case serving:
		s.serve(&o.Op, o.From, o.Msg, stepServeOrphan)
	}
	return ""
}

// record records an event of the server and a client; 0: none.
func (s *server) record(kind history.EventKind, c int8) *history.Event {
	e := s.w.Emit(kind)
	e.Client, e.Node = int(c), theServer
	return e
}

// serve executes a request.
func (s *server) serve(o *process.Op, from int8, msg uint32, kind stepKind) (answer uint32, waits bool) {
	r := s.x.requests.At(o.Arg)
	a := step{s.contents, o.Arg, kind, from, r.slot}
	eff := s.x.look(a)
	answer = s.real(a, eff)
	e := s.record(history.Apply, from)
	e.Lease, e.Msg, e.Cmd = int(o.Lease), int(msg), r.words()
	if e.Reply = "(waits)"; !eff.waits {
		e.Reply = s.x.answers.At(answer).words()[0]
	}
	s.enter(eff, a, int(o.Lease))
	return answer, eff.waits
}

// take has something happen to a session.
func (s *server) take(kind stepKind, id SessionID) *effect {
	a := step{s.contents, 0, kind, clientOf(id), slotOf(id)}
	eff := s.x.look(a)
	s.real(a, eff)
	s.enter(eff, a, 0)
	return eff
}

// enter puts the effect of a step in place and records what that changes.
func (s *server) enter(eff *effect, a step, attempt int) {
	before := s.now().limits
	s.contents = eff.to
	for i, limit := range s.now().limits {
		switch id := SessionID(i + 1); {
		case limit == 0:
			s.ends[i] = 0
		case limit != before[i], a.slot > 0 && id == sessionAt(a.client, a.slot) && (a.kind == stepServe || a.kind == stepTake):
			s.ends[i] = clock.Later(s.w.Now(), s.clock.After(limit))
		}
	}
	s.compare()
	s.emit(eff.leases, a, attempt)
}

// emit records what becomes of leases by a step. That a lease ends with its session, or by its deadline, is an
// Expire. Who has locked for a session is its client; who has changed a row the client of the step.
func (s *server) emit(changes []leaseChange, a step, attempt int) {
	kind := history.Change
	if a.client == 0 || a.kind == stepEnd || a.kind == stepTimeOut || a.kind == stepClose {
		kind = history.Expire
	}
	for _, ch := range changes {
		if ch.before.held() && (!ch.after.held() || ch.before.session != ch.after.session) {
			e := s.record(kind, a.client)
			e.Key, e.Before, e.Lease = ch.before.key, ch.before.text(), attempt
			if kind == history.Expire {
				e.Client = 0
			}
			ch.before = lease{}
		}
		if !ch.after.held() {
			continue
		}
		e := s.record(history.Change, a.client)
		e.Key, e.Before, e.After, e.Until, e.Lease = ch.after.key, ch.before.text(), ch.after.text(), s.endOfLease(ch.after), attempt
		if owner := clientOf(ch.after.session); ch.after.session != 0 && owner != a.client {
			e.Client, e.Lease = int(owner), 0
		}
	}
}

// endOfLease is the true time at which a lease ends by its deadline.
func (s *server) endOfLease(l lease) time.Duration {
	if l.until == forever {
		return history.Forever
	}
	return s.when(s.w.Now(), l.until)
}

// answers reports whether a thread of client c waits for an answer that is ready, or on a session that has ended.
func (s *server) answers(c, thread int8) bool {
	if s.w.Client(c).Threads[thread].Phase != world.Listening {
		return false
	}
	id := sessionAt(c, s.slotOf(c, thread))
	return s.now().isReady(id) || s.now().connOf(id) != connOpen
}

// answer sends that answer.
func (s *server) answer(c, thread int8) {
	th := &s.w.Client(c).Threads[thread]
	id := sessionAt(c, s.slotOf(c, thread))
	if s.now().connOf(id) != connOpen {
		s.take(stepClose, id)
		th.Answer(world.LostConn)
		return
	}
	o := s.w.Op(c, thread)
	eff := s.take(stepTake, id)
	e := s.record(history.Apply, c)
	e.Lease, e.Msg, e.Cmd = int(o.Lease), int(th.Msg), s.x.requests.At(o.Arg).words()
	e.Reply = s.x.answers.At(eff.answer).words()[0]
	th.Answer(eff.answer)
}

// hangUp has client c close the connection on which a thread waits: the server executes what is on its way, and
// ends the session.
func (s *server) hangUp(c, thread int8) {
	th := &s.w.Client(c).Threads[thread]
	if s.w.Op(c, thread).Kind != process.Request {
		return
	}
	slot := s.slotOf(c, thread)
	if th.Phase == world.Asking { // it still arrives
		if slot > 0 {
			s.take(stepDepart, sessionAt(c, slot))
		}
		return
	}
	if slot == 0 { // the answer to a new connection, which nothing came by
		a := s.x.answers.At(th.Reply)
		if th.Phase != world.Answered || th.Reply == world.LostConn || a.slot == 0 {
			return
		}
		slot = a.slot
	}
	s.take(stepClose, sessionAt(c, slot))
}

// lose has a message be lost, and the connection with it, which only the client observes.
func (s *server) lose(c, thread int8) {
	if s.w.Op(c, thread).Kind != process.Request {
		return
	}
	th := &s.w.Client(c).Threads[thread]
	slot := s.slotOf(c, thread)
	if slot == 0 && th.Phase == world.Answered && th.Reply != world.LostConn {
		slot = s.x.answers.At(th.Reply).slot
	}
	if slot > 0 {
		s.take(stepLeave, sessionAt(c, slot))
	}
	th.Answer(world.LostConn)
}

// crash has client c die: all its connections are closed.
func (s *server) crash(c int8) {
	for slot := int8(1); slot <= maxConns; slot++ {
		id := sessionAt(c, slot)
		switch t := s.on(c, slot); {
		case t >= 0:
			s.hangUp(c, t)
		case s.now().connOf(id) == connOpen, s.now().connOf(id) == connEnded:
			s.take(stepClose, id)
		}
	}
}

// kills is the connection of client c whose session has a transaction or a lock, or the first one; 0: it has none.
func (s *server) kills(c int8) (slot int8) {
	for n := int8(maxConns); n >= 1; n-- {
		id := sessionAt(c, n)
		if s.now().connOf(id) == connOpen && holds(&s.now().state, id) {
			slot = n
		}
	}
	return slot
}

// endSession ends a session. Its client does not notice before it asks for something.
func (s *server) endSession(id SessionID) {
	s.record(history.SessionEnd, clientOf(id))
	s.take(stepEnd, id)
}

// endOf ends the wait of a session, or an idle session.
func (s *server) endOf(id SessionID) {
	if waitOf(&s.now().state, id).Session != 0 {
		s.ends[id-1] = 0
		s.take(stepTimeOut, id)
	} else {
		s.endSession(id)
	}
}

// tick has the times in the contents count from now, which ends leases.
func (s *server) tick() { s.emit(s.shift(s.x, s.w.Now()), step{}, 0) }

// passed has time have passed: leases end by their deadlines, and what sessions may no longer stay.
func (s *server) passed(pending bool) {
	if s.outage != serving && (s.until < s.w.Now() || s.until == s.w.Now() && !pending) {
		s.comeBack()
	}
	s.tick()
	for i := range s.ends {
		if pending && s.ends[i] == s.w.Now() {
			s.ends[i] = endsNow
		}
	}
	s.end(func(end time.Duration) bool { return end > 0 && end <= s.w.Now() })
}

// end ends what is over, the longest overdue first, and of two at once that of the first session.
func (s *server) end(over func(end time.Duration) bool) {
	for {
		first := -1
		for i, end := range s.ends {
			if end != 0 && over(end) && (first < 0 || end < s.ends[first]) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		s.endOf(SessionID(first + 1))
	}
}
