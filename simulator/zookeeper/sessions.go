package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// Sessions of clients whose code opens connections. A process may have several, as one
// whose end has not reached the ensemble yet. What is said of sessions in ensemble.go
// holds, but nothing is done for the code: it sees that its connection has broken, and
// connects again, or does not.

// Requests that a Session does not send.
const (
	opConnect    Op = iota + 64 // the session goes on, on this connection
	opSetWatches                // the client hands in the watches that it waits for
	opClose                     // the session ends
	opHangUp                    // the connection ends, and the session goes on
	opListen                    // not sent: the client waits for news
)

// find is the place of the session of a connection; -1: the ensemble does not have it.
func (s *contents) find(on wireRef) int {
	return slices.IndexFunc(s.peers[:], func(p peer) bool { return p.on.sameSession(on) })
}

// ended says whether the session of a connection has ended: it had begun, and is gone.
func (s *contents) ended(on wireRef) bool {
	return s.find(on) < 0 && on.session <= s.begun[on.client-1]
}

// place is the place at which a request on a connection is run: that of its session, or
// one for a new session. It is -1 if the request comes in vain.
func (k *Kind) place(s *contents, q *storedRequest, orphan bool) int {
	at := s.find(q.on)
	switch {
	case s.ended(q.on):
		return -1
	case at < 0:
		if at = slices.IndexFunc(s.peers[:], func(p peer) bool { return p.session == 0 }); at < 0 {
			k.memo.Room.Exceed("limit.zookeeper.sessions", "most", maxSessions)
		}
		return at
	}
	switch p := &s.peers[at]; {
	case q.Op == opConnect && q.on.conn > p.on.conn:
		return at
	case q.on.conn != p.on.conn, !p.up && !orphan:
		return -1
	}
	return at
}

// runOnWire computes what a request on a connection does.
func (k *Kind) runOnWire(a act, s *contents, own *peer, eff *effect) (fired []Event) {
	q := k.requests.At(a.arg)
	if own.session == 0 {
		s.state, own.session = s.state.Connect(0, k.config.Session)
		s.begun[q.on.client-1] = q.on.session
	}
	id := own.session
	reply := Reply{}
	switch q.Op {
	case opConnect:
		s.state, own.events = s.state.Disconnect(id), nil
	case opSetWatches:
		m := k.memories.At(q.memory)
		s.state, fired = s.state.handIn(id, m.watches, since(m.seen))
	case opClose:
		s.state, _, fired = s.state.Close(id)
	case opHangUp:
		s.state, own.events = s.state.Disconnect(id), nil
	default:
		s.state, reply, fired = s.state.Apply(0, id, q.Request)
	}
	text := replyText(q.Request, reply)
	if at := s.ofSession(reply.Stat.Owner); reply.Stat.Owner != 0 && at >= 0 {
		reply.Stat.Owner = SessionID(sessionName(s.peers[at].on))
	}
	own.on, own.up = q.on, a.kind == actServe && q.Op != opHangUp
	answer := storedAnswer{reply: reply, text: text}
	if a.kind == actServeOrphan {
		s.state, answer, own.events = s.state.Disconnect(id), storedAnswer{text: text}, nil
	} else {
		answer.events = slices.Clone(own.events)
		for _, e := range fired {
			if e.Session == id {
				answer.events = append(answer.events, e)
			}
		}
		own.events = nil
	}
	if !q.Watch {
		answer.reply.Zxid = 0
	}
	eff.answer = k.answers.ID(answer)
	if q.Op == opClose {
		*own = peer{}
	}
	return fired
}

// serveOnWire runs a request on a connection. The answer is LostConn if the ensemble has
// closed that.
func (k *Kind) serveOnWire(w world.World, s *EnsembleState, o *process.Op, msg uint32, kind actKind) (answer uint32) {
	q, from := k.requests.At(o.Arg), k.requests.At(o.Arg).on.client
	at := k.place(k.contents.At(s.contents), q, kind == actServeOrphan)
	emit := func(kind history.Kind) *history.Event {
		e := w.Emit(kind)
		e.Client, e.Node, e.Lease, e.Msg, e.Cmd = int(from), ensemble, int(o.Lease), int(msg), q.text
		return e
	}
	switch {
	case at < 0 && q.Op == opConnect && k.contents.At(s.contents).ended(q.on):
		answer = k.answers.ID(storedAnswer{reply: Reply{Code: SessionExpired}, text: "(error) " + codeName[SessionExpired]})
		emit(history.Apply).Reply = k.answers.At(answer).text
		return answer
	case at < 0:
		return world.LostConn
	}
	eff := k.look(act{s.contents, o.Arg, kind, int8(at + 1)})
	emit(history.Apply).Reply = k.answers.At(eff.answer).text
	k.enter(w, s, eff, kind, from)
	s.ends[at] = 0 // every request is a sign of life
	if p := w.Client(from); p.Dead || p.Paused || !k.contents.At(s.contents).peers[at].up {
		k.silence(w, s, int8(at+1))
	}
	return eff.answer
}

// sessionsOf calls yield for the places, from 1, of client c's sessions.
func (k *Kind) sessionsOf(s *EnsembleState, c int8) func(yield func(at int8) bool) {
	peers := k.contents.At(s.contents).peers
	return func(yield func(int8) bool) {
		for i := range peers {
			if peers[i].on.client == c && !yield(int8(i+1)) {
				return
			}
		}
	}
}

// wireOf is the connection that a client's thread waits on; zero: it waits on none.
func (k *Kind) wireOf(w world.World, c, thread int8) (on wireRef) {
	if o := w.Op(c, thread); o.Kind.ToServer() {
		on = k.requests.At(o.Arg).on
	}
	return on
}

// hangUp breaks a connection of client c. A request on its way may still be run; a thread
// that listens is told.
func (k *Kind) hangUp(w world.World, s *EnsembleState, c int8, on wireRef) {
	now := k.contents.At(s.contents)
	ended := now.ended(on)
	if at := now.find(on); at >= 0 && now.peers[at].on == on && now.peers[at].up {
		k.act(w, s, actCut, int8(at+1), 0)
		k.silence(w, s, int8(at+1))
	}
	for t := range w.Client(c).Threads {
		th := &w.Client(c).Threads[t]
		if k.wireOf(w, c, int8(t)) != on {
			continue
		}
		if th.Phase == world.Asking && !ended {
			w.Orphan(c, int8(t))
		}
		if th.Phase == world.Asking || th.Phase == world.Unheard {
			th.Answer(world.LostConn)
		}
	}
}

// hangUpAll breaks the connections of client c.
func (k *Kind) hangUpAll(w world.World, s *EnsembleState, c int8) {
	for t := range w.Client(c).Threads {
		if on := k.wireOf(w, c, int8(t)); on.client != 0 {
			k.hangUp(w, s, c, on)
		}
	}
}

// silenced begins the time-outs of client c's sessions, if held: of those of which a
// request is held up.
func (k *Kind) silenced(w world.World, s *EnsembleState, c int8, held bool) {
	for at := range k.sessionsOf(s, c) {
		if !held || k.heldUp(w, c, k.contents.At(s.contents).peers[at-1].on) {
			k.silence(w, s, at)
		}
	}
}

// heldUp says whether a request on a connection of client c is held up, or takes its time,
// and so do the pings behind it.
func (k *Kind) heldUp(w world.World, c int8, on wireRef) bool {
	for t := range w.Client(c).Threads {
		th := &w.Client(c).Threads[t]
		if th.Phase == world.Asking && max(th.Hold, th.Latest) > w.Now() && k.wireOf(w, c, int8(t)) == on {
			return true
		}
	}
	return false
}

// goesOn has the ensemble hear of client c's sessions again.
func (k *Kind) goesOn(w world.World, s *EnsembleState, c int8) {
	for at := range k.sessionsOf(s, c) {
		if p := &k.contents.At(s.contents).peers[at-1]; p.up && !k.heldUp(w, c, p.on) {
			s.ends[at-1] = 0
		}
	}
}

// newest is the place, from 1, of the session that client c has begun last; 0: it has
// none.
func (k *Kind) newest(s *EnsembleState, c int8) (at int8) {
	peers := &k.contents.At(s.contents).peers
	for one := range k.sessionsOf(s, c) {
		if at == 0 || peers[one-1].on.session > peers[at-1].on.session {
			at = one
		}
	}
	return at
}

// hearsOnWire says whether there is something for a thread that listens on a connection:
// news, or that it has broken. at is the place of its session, from 1.
func (k *Kind) hearsOnWire(w world.World, s *EnsembleState, c, thread int8) (at int8, news, broken bool) {
	if w.Client(c).Threads[thread].Phase != world.Listening {
		return 0, false, false
	}
	on, now := k.wireOf(w, c, thread), k.contents.At(s.contents)
	i := now.find(on)
	if i < 0 { // it has ended, or has not begun
		return 0, false, now.ended(on)
	}
	p := &now.peers[i]
	return int8(i + 1), p.up && p.on == on && len(p.events) > 0, !p.up || p.on != on
}

// tellOnWire brings news to a thread that listens.
func (k *Kind) tellOnWire(w world.World, s *EnsembleState, c, thread int8) (why string, err error) {
	if p := w.Client(c); p.Dead || p.Stands(int(thread)) {
		return "refused.watch", nil
	}
	switch at, news, broken := k.hearsOnWire(w, s, c, thread); {
	case broken:
		e := w.EmitClient(history.Broken, c, thread)
		e.Node, e.Msg, e.Cmd = ensemble, int(w.Client(c).Threads[thread].Msg), k.requests.At(w.Op(c, thread).Arg).text
		return "", w.Observe(c, thread, process.Observation{Kind: process.Broken})
	case news:
		eff := k.act(w, s, actNotify, at, 0)
		k.group.Close(w)
		w.EmitClient(history.Wake, c, thread).Note = "news of a watch"
		return "", w.Observe(c, thread, process.Observation{Kind: process.Replied, Val: int64(eff.answer)})
	}
	return "refused.watch", nil
}
