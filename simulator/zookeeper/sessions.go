package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/internal/jute"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// Sessions of clients whose code opens connections. A process may have several, as one
// whose end has not reached the ensemble yet. What is said of sessions in ensemble.go
// holds, but nothing is done for the code: it sees that its connection has broken, and
// connects again, or does not.

// Requests that a Session does not send.
const (
	opSetWatches = Op(jute.SetWatches) // the client hands in the watches that it waits for
	opClose      = Op(jute.Close)      // the session ends
	opConnect    = Op(-64)             // not so in the protocol: the session goes on, on this connection
	opHangUp     = Op(-65)             // not sent: the connection ends, and the session goes on
	opListen     = Op(-66)             // not sent: the client waits for news
)

// find is the place of the session of a connection; -1: the ensemble does not have it.
func (s *contents) find(on wireRef) int {
	return slices.IndexFunc(s.peers[:], func(p peer) bool { return p.on.sameSession(on) })
}

// ended reports whether the session of a connection has ended: it had begun, and is gone.
func (s *contents) ended(on wireRef) bool {
	return s.find(on) < 0 && on.session <= s.begun[on.client-1]
}

// place is the place at which a request on a connection is run: that of its session, or
// one for a new session. It is -1 if the request has no effect.
func (x *Executor) place(s *contents, q *storedRequest, orphan bool) int {
	at := s.find(q.on)
	switch {
	case s.ended(q.on):
		return -1
	case at < 0:
		if at = slices.IndexFunc(s.peers[:], func(p peer) bool { return p.session == 0 }); at < 0 {
			x.memo.Room.Exceed("limit.zookeeper.sessions", "most", maxSessions)
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
func (x *Executor) runOnWire(a act, s *contents, own *peer, eff *effect) (fired []Event) {
	q := x.requests.At(a.arg)
	if own.session == 0 {
		s.state, own.session = s.state.Connect()
		s.begun[q.on.client-1] = q.on.session
	}
	id := own.session
	reply := Reply{}
	switch q.Op {
	case opConnect:
		s.state, own.events = s.state.Disconnect(id), nil
	case opSetWatches:
		m := x.memories.At(q.memory)
		s.state, fired = s.state.handIn(id, m.watches, since(m.seen))
	case opClose:
		s.state, _, fired = s.state.Close(id)
	case opHangUp:
		s.state, own.events = s.state.Disconnect(id), nil
	default:
		s.state, reply, fired = s.state.Apply(id, q.Request)
	}
	text := replyText(q.Request, reply)
	if at := s.ofSession(reply.Stat.Owner); reply.Stat.Owner != 0 && at >= 0 {
		reply.Stat.Owner = SessionID(sessionName(s.peers[at].on))
	}
	own.on, own.up = q.on, a.kind == ActServe && q.Op != opHangUp
	answer := storedAnswer{reply: reply, text: text}
	if a.kind == ActServeOrphan {
		s.state, answer, own.events = s.state.Disconnect(id), storedAnswer{text: text}, nil
	} else {
		answer.events = slices.Concat(own.events, sentTo(id, fired))
		own.events = nil
	}
	if !q.Watch {
		answer.reply.Zxid = 0
	}
	eff.answer = x.answers.ID(answer)
	if q.Op == opClose {
		*own = peer{}
	}
	return fired
}

// listens reports whether there is something for a thread that listens on a connection:
// news, or that it has broken. at is the place of its session, from 1.
func (s *ensemble) listens(c, thread int8) (at int8, news, broken bool) {
	if s.w.Client(c).Threads[thread].Phase != world.Listening {
		return 0, false, false
	}
	on, now := s.wireOf(c, thread), s.now()
	i := now.find(on)
	if i < 0 { // it has ended, or has not begun
		return 0, false, now.ended(on)
	}
	p := &now.peers[i]
	return int8(i + 1), p.up && p.on == on && len(p.events) > 0, !p.up || p.on != on
}

// unblock brings news to a thread that listens.
func (s *ensemble) unblock(c, thread int8) (why string, err error) {
	if p := s.w.Client(c); p.Dead || p.Stands(int(thread)) {
		return "refused.watch", nil
	}
	switch at, news, broken := s.listens(c, thread); {
	case broken:
		e := s.w.EmitClient(history.Broken, c, thread)
		e.Node, e.Msg, e.Cmd = number, int(s.w.Client(c).Threads[thread].Msg), s.x.requests.At(s.w.Op(c, thread).Arg).text
		return "", s.w.Observe(c, thread, process.Observation{Kind: process.Broken})
	case news:
		return "", s.notify(at, c, thread, process.Replied)
	}
	return "refused.watch", nil
}

// session is the place of a session among those that have not ended.
func (s *State) session(id SessionID) (int, bool) { return slices.BinarySearch(s.sessions, id) }

// Connect begins a session.
func (s State) Connect() (State, SessionID) {
	s.zxid++
	s.newest++
	s.sessions = append(slices.Clip(s.sessions), s.newest)
	return s, s.newest
}

// Disconnect is s after session's connection broke. The session goes on, but
// nothing can be sent to it, so the server discards its watches.
func (s State) Disconnect(id SessionID) State {
	s.watches = slices.DeleteFunc(slices.Clone(s.watches), func(w watch) bool { return w.session == id })
	return s
}

// reconnect is the same session on a new connection. The client hands in the watches that it still waits for; what
// has missed something fires at once (see handIn), and the rest is left
// with the server again. A znode that was created and deleted in the meantime is
// missed ("Semantics of Watches"). It answers SessionExpired if the session has
// ended.
func (s State) reconnect(id SessionID, watches []Watch, missed func(at int, is stamp) bool) (State, Code, []Event) {
	if !s.Alive(id) {
		return s, SessionExpired, nil
	}
	s, fired := s.Disconnect(id).handIn(id, watches, missed) // whatever the old connection had left is gone
	return s, OK, fired
}

// since says of a watch on a znode that it has missed something after the transaction seen.
func since(seen int64) func(int, stamp) bool {
	return func(_ int, is stamp) bool { return is.changed > seen }
}

// A stamp tells what a watch looks at from what that was before, and from another znode at
// the same path.
type stamp struct {
	created int64 // czxid
	changed int64 // mzxid of a WatchData, pzxid of a WatchChildren
}

func (n *znode) stamp(kind WatchKind) stamp {
	if kind == WatchChildren {
		return stamp{n.czxid, n.pzxid}
	}
	return stamp{n.czxid, n.mzxid}
}

// stamp returns the stamp of what a watch looks at; zero if it is not there.
func (s *State) stamp(w Watch) stamp {
	if i, there := s.find(w.Path); there {
		return s.nodes[i].stamp(w.Kind)
	}
	return stamp{}
}

// handIn is s with the watches that a session's client still waits for, of which those
// fire at once that have missed something: missed says so of a watch, by its place, whose
// znode is there.
func (s State) handIn(id SessionID, watches []Watch, missed func(at int, is stamp) bool) (State, []Event) {
	var fired []Event
	for at, w := range watches {
		event := EventType(0)
		switch n, there := s.find(w.Path); {
		case w.Kind == WatchCreation && there:
			event = NodeCreated
		case w.Kind == WatchCreation:
		case !there:
			event = NodeDeleted
		case !missed(at, s.nodes[n].stamp(w.Kind)):
		case w.Kind == WatchData:
			event = NodeDataChanged
		default:
			event = NodeChildrenChanged
		}
		if event != 0 {
			fired = append(fired, Event{id, event, w.Path})
			continue
		}
		kind := w.Kind
		if kind == WatchCreation {
			kind = WatchData
		}
		s = s.watch(watch{id, w.Path, kind})
	}
	return s, fired
}

// Close ends a session, at its own request or because nothing was received from it for its time-out, in one
// transaction: its ephemerals and watches go. It answers SessionExpired if the session has ended before.
func (s State) Close(id SessionID) (State, Code, []Event) {
	i, ok := s.session(id)
	if !ok {
		return s, SessionExpired, nil
	}
	s.zxid++
	s = s.Disconnect(id)
	s.sessions = slices.Delete(slices.Clone(s.sessions), i, i+1)
	var fired []Event
	mine := func(n znode) bool { return n.owner == id }
	for i := slices.IndexFunc(s.nodes, mine); i >= 0; i = slices.IndexFunc(s.nodes, mine) {
		s, fired = s.remove(i, fired)
	}
	return s, OK, fired
}

// Alone is s without its sessions, as if all had closed.
func (s State) Alone() State {
	for len(s.sessions) > 0 {
		s, _, _ = s.Close(s.sessions[0])
	}
	return s
}

// Alive reports whether the session has not ended.
func (s State) Alive(id SessionID) bool {
	_, ok := s.session(id)
	return ok
}
