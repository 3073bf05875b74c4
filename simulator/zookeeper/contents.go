package zookeeper

import (
	"slices"

	world "locklab/simulator/node"
)

// contents is an ensemble without time: what it holds, and what is on its way to the clients.
type contents struct {
	state State
	peers [maxSessions]peer
	lines map[string]line `codec:"derived"`
	// begun is the number of sessions that each client has begun on its connections.
	begun [world.MaxClients]uint16
}

// lined is s with its lines.
func (s contents) lined() contents {
	s.lines = s.state.lines()
	return s
}

// maxSessions is the number of sessions that clients may have at once. Session's are at the place
// of their client; those of code that opens connections are anywhere.
const maxSessions = 16

// A peer is one client to the ensemble, or one of its sessions.
type peer struct {
	session SessionID
	on      wireRef // its latest connection, if code opens them
	up      bool    // that stands
	// events are on their way to the client, in the order in which they were sent.
	// They reach it before whatever is sent later. They do not name the session.
	events []Event
}

// sentTo returns those of the events that are sent to a session.
func sentTo(id SessionID, fired []Event) (events []Event) {
	for _, e := range fired {
		if e.Session == id {
			events = append(events, Event{Type: e.Type, Path: e.Path})
		}
	}
	return events
}

// The event sessionEnded is not sent by the ensemble: the client's library makes it of its session's refusal.
const sessionEnded EventType = 0

func (p *peer) sessionEnded() bool {
	return slices.ContainsFunc(p.events, func(e Event) bool { return e.Type == sessionEnded })
}

// lose drops the events on a connection that breaks, but not the end of a session, which the client's library knows.
func (p *peer) lose() {
	ended := p.sessionEnded()
	p.events = nil
	if ended {
		p.events = []Event{{Type: sessionEnded}}
	}
}

// endsWait reports whether the events hold what ends a wait for watch w.
func (p *peer) endsWait(w Watch) bool {
	return slices.ContainsFunc(p.events, func(e Event) bool { return ends(e, w) })
}

// ends reports whether event e is the end of watch w.
func ends(e Event, w Watch) bool {
	switch e.Type {
	case sessionEnded:
		return true
	case NodeDeleted:
		return e.Path == w.Path
	}
	return e.Path == w.Path && (e.Type == NodeChildrenChanged) == (w.Kind == WatchChildren)
}

// at returns what the ensemble has at a place, from 1.
func (s *contents) at(place int8) *peer { return &s.peers[place-1] }

// placeOf returns the first place, from 1, of which is holds; 0: there is none.
func (s *contents) placeOf(is func(p *peer) bool) int8 {
	for i := range s.peers {
		if is(&s.peers[i]) {
			return int8(i + 1)
		}
	}
	return 0
}

// ofSession returns the place of a session; 0: it has none.
func (s *contents) ofSession(id SessionID) int8 {
	return s.placeOf(func(p *peer) bool { return p.session == id })
}

// find returns the place of the session of a connection; 0: the ensemble does not have it.
func (s *contents) find(on wireRef) int8 {
	return s.placeOf(func(p *peer) bool { return p.on.client == on.client && p.on.session == on.session })
}

// standing returns the place of the session of a connection that stands; 0: it does not.
func (s *contents) standing(on wireRef) int8 {
	return s.placeOf(func(p *peer) bool { return p.up && p.on == on })
}

// ended reports whether the session of a connection has ended: it had begun, and is gone.
func (s *contents) ended(on wireRef) bool {
	return s.find(on) == 0 && on.session <= s.begun[on.client-1]
}

// place returns the place at which a request on a connection is run: that of its session, or one for a new session. It
// is 0 if the request has no effect.
func (x *Executor) place(s *contents, q *storedRequest, orphan bool) int8 {
	at := s.find(q.on)
	switch {
	case s.ended(q.on):
		return 0
	case at == 0:
		if at = s.ofSession(0); at == 0 {
			x.memo.Room.Exceed("limit.zookeeper.sessions", "most", maxSessions)
		}
		return at
	}
	switch p := s.at(at); {
	case q.Op == opConnect && q.on.conn > p.on.conn:
		return at
	case q.on.conn != p.on.conn, !p.up && !orphan:
		return 0
	}
	return at
}

// clientAt returns the client at a place; 0: there is none.
func (s *contents) clientAt(at int8) int8 {
	if at > 0 && s.at(at).on.client != 0 {
		return s.at(at).on.client
	}
	return at
}

// send puts the events that an act has fired on their way, but for those that its answer brings to their client.
func (s *contents) send(fired []Event, a act) (of []firing) {
	for _, e := range fired {
		at := s.ofSession(e.Session)
		if at == 0 { // a session of before the run, of no client
			continue
		}
		of = append(of, firing{s.clientAt(at), e.Path, eventText(e.Type)})
		if p := s.at(at); a.kind != ActServe || at != a.client {
			p.events = append(slices.Clip(p.events), Event{Type: e.Type, Path: e.Path})
		}
	}
	return of
}

// onWire is a reply as it is sent on a connection: the owner of a znode is what its client calls its session, and the
// transaction is sent with a watch only.
func (s *contents) onWire(r Request, reply Reply) Reply {
	if at := s.ofSession(reply.Stat.Owner); reply.Stat.Owner != 0 && at != 0 {
		reply.Stat.Owner = SessionID(sessionName(s.at(at).on))
	}
	if !r.Watch {
		reply.Zxid = 0
	}
	return reply
}
