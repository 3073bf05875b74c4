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
	w    world.World
}

// now returns the contents of the server.
func (s *server) now() *contents { return s.kind.x.contents.At(s.contents) }

// slotOf returns the connection that a client's thread waits on; 0: none, or a new one.
func (s *server) slotOf(c, thread int8) int8 {
	if o := s.w.Op(c, thread); o.Kind == process.Request {
		return s.kind.x.requests.At(o.Arg).slot
	}
	return 0
}

// opened returns that connection, or the new one of which the answer is on its way; 0: none.
func (s *server) opened(c, thread int8) int8 {
	th := &s.w.Client(c).Threads[thread]
	slot := s.slotOf(c, thread)
	answered := th.Phase == world.Answered && th.Reply != world.LostConn
	if slot == 0 && answered && s.w.Op(c, thread).Kind == process.Request {
		slot = s.kind.x.answers.At(th.Reply).slot
	}
	return slot
}

// on returns the thread that waits on a session; -1: none does.
func (s *server) on(id SessionID) int8 {
	for t, th := range s.w.Client(clientOf(id)).Each {
		if th.Phase.Waiting() && s.slotOf(clientOf(id), t) == slotOf(id) {
			return t
		}
	}
	return -1
}

// arrive has a request reach the server, which answers it or has it wait.
func (s *server) arrive(c, thread int8) {
	th, o := &s.w.Client(c).Threads[thread], s.w.Op(c, thread)
	switch s.outage {
	case down:
		th.Answer(world.LostConn)
		return
	case hung:
		th.Hold = clock.Left(s.until, s.w.Now())
		return
	}
	if answer, waits := s.serve(stepServe, c, o, th.Msg); waits {
		*th = world.Thread{Phase: world.Listening, Msg: th.Msg, Due: clock.Never, Stopped: th.Stopped}
	} else {
		th.Answer(answer)
	}
}

// arriveOrphan has a request reach the server for whose answer no thread waits.
func (s *server) arriveOrphan(o *world.Orphan) error {
	switch s.outage {
	case hung:
		o.Hold = clock.Left(s.until, s.w.Now())
		return world.Refuse("refused.orphan.held")
	case serving:
		s.serve(stepServeOrphan, o.From, &o.Op, o.Msg)
	}
	return nil
}

// record records an event of the server and a client; 0: none.
func (s *server) record(kind history.EventKind, c int8) *history.Event {
	e := s.w.Emit(kind)
	e.Client, e.Node = int(c), theServer
	return e
}

// serve executes a request.
func (s *server) serve(kind stepKind, c int8, o *process.Op, msg uint32) (answer uint32, waits bool) {
	return s.do(step{s.contents, o.Arg, kind, c, s.kind.x.requests.At(o.Arg).slot}, o, msg)
}

// take has something happen to a session.
func (s *server) take(kind stepKind, id SessionID) {
	s.do(step{s.contents, 0, kind, clientOf(id), slotOf(id)}, nil, 0)
}

// do has a step happen and records what that changes, and the answer to o, if it is not nil.
func (s *server) do(a step, o *process.Op, msg uint32) (answer uint32, waits bool) {
	eff, attempt := s.kind.x.look(a), 0
	answer = s.real(a, eff)
	if o != nil {
		attempt = int(o.Lease)
		e := s.record(history.Apply, a.client)
		e.Lease, e.Msg, e.Cmd = attempt, int(msg), s.kind.x.requests.At(o.Arg).words()
		if e.Reply = "(waits)"; !eff.waits {
			e.Reply = s.kind.x.answers.At(answer).String()
		}
	}
	before := s.now().limits
	s.contents = eff.to
	for i, limit := range s.now().limits {
		switch id := SessionID(i + 1); {
		case limit == 0:
			s.ends[i] = 0
		case limit != before[i], a.slot > 0 && id == a.session() && (a.kind == stepServe || a.kind == stepTake):
			s.ends[i] = clock.Later(s.w.Now(), s.clock.After(limit))
		}
	}
	s.compare()
	s.emit(eff.leases, a, attempt)
	return answer, eff.waits
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
		e := s.change(ch, a.client)
		if e.Lease = attempt; ch.after.session != 0 && clientOf(ch.after.session) != a.client {
			e.Client, e.Lease = int(clientOf(ch.after.session)), 0
		}
	}
}

// change records what becomes of a lease.
func (s *server) change(ch leaseChange, c int8) *history.Event {
	e := s.record(history.Change, c)
	e.Key, e.Before, e.After = ch.after.key, ch.before.text(), ch.after.text()
	if ch.after.until == forever {
		e.Until = history.Forever
	} else if ch.after.held() {
		e.Until = s.when(s.w.Now(), ch.after.until)
	}
	return e
}

// canAnswer reports whether a thread of client c waits for an answer that is ready, or on a session that has ended.
func (s *server) canAnswer(c, thread int8) bool {
	if s.w.Client(c).Threads[thread].Phase != world.Listening {
		return false
	}
	id := sessionAt(c, s.slotOf(c, thread))
	return s.now().readyAt(id) >= 0 || s.now().connOf(id) != connOpen
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
	answer, _ := s.do(step{s.contents, 0, stepTake, c, slotOf(id)}, s.w.Op(c, thread), th.Msg)
	th.Answer(answer)
}

// hangUp has c close the connection on which a thread waits: the server runs what is on its way, and ends the session.
func (s *server) hangUp(c, thread int8) {
	kind := stepClose
	if s.w.Client(c).Threads[thread].Phase == world.Asking { // it still arrives
		kind = stepDepart
	}
	if slot := s.opened(c, thread); slot > 0 {
		s.take(kind, sessionAt(c, slot))
	}
}

// lose has a message be lost, and the connection with it, which only the client observes.
func (s *server) lose(c, thread int8) {
	if s.w.Op(c, thread).Kind != process.Request {
		return
	}
	if slot := s.opened(c, thread); slot > 0 {
		s.take(stepLeave, sessionAt(c, slot))
	}
	s.w.Client(c).Threads[thread].Answer(world.LostConn)
}

// crash has client c die: all its connections are closed.
func (s *server) crash(c int8) {
	for slot := int8(1); slot <= maxConns; slot++ {
		id := sessionAt(c, slot)
		switch t := s.on(id); {
		case t >= 0:
			s.hangUp(c, t)
		case s.now().connOf(id) == connOpen, s.now().connOf(id) == connEnded:
			s.take(stepClose, id)
		}
	}
}

// kills is the first session of client c, among those that it has not left, that has a transaction or a lock; 0: none.
func (s *server) kills(c int8) SessionID {
	for id := sessionAt(c, 1); id <= sessionAt(c, maxConns); id++ {
		if s.now().connOf(id) == connOpen && s.now().state.holds(id) {
			return id
		}
	}
	return 0
}

// endSession ends a session. Its client does not notice before it asks for something.
func (s *server) endSession(id SessionID) {
	s.record(history.SessionEnd, clientOf(id))
	s.take(stepEnd, id)
}

// endOf ends the wait of a session, or an idle session.
func (s *server) endOf(id SessionID) {
	if _, waits := s.now().state.Wait(id); waits {
		s.ends[id-1] = 0
		s.take(stepTimeOut, id)
	} else {
		s.endSession(id)
	}
}

// passed has time have passed: leases end by their deadlines, and what sessions may no longer stay.
func (s *server) passed(pending bool) {
	if s.outage != serving && (s.until < s.w.Now() || s.until == s.w.Now() && !pending) {
		s.comeBack()
	}
	s.emit(s.shift(s.kind.x, s.w.Now()), step{}, 0) // which ends leases
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
