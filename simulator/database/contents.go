package database

import (
	"cmp"
	"slices"
	"time"

	world "locklab/simulator/node"
)

// maxConns is the number of connections of one client that a server may know at a time. Client c's have the
// sessions from (c-1)*maxConns+1 on; a slot is the place among them, from 1.
const maxConns = 3

const maxSessions = world.MaxClients * maxConns

func sessionAt(client, slot int8) SessionID { return SessionID(int(client-1)*maxConns + int(slot)) }
func clientOf(id SessionID) int8            { return int8((int(id)-1)/maxConns + 1) }
func slotOf(id SessionID) int8              { return int8((int(id)-1)%maxConns + 1) }

// contents is a server, and what it and its clients know of their connections.
type contents struct {
	state State
	conns [maxSessions]connection // see connOf
	ready []readyAnswer           // to statements that have waited, in the order of their sessions
	// What follows from it: the leases, in the order of keys, and how long each session may stay as it is; 0: no end.
	leases []lease                    `codec:"derived"`
	limits [maxSessions]time.Duration `codec:"derived"`
}

// A connection says who knows the session at its place.
type connection uint8

const (
	connNone  connection = iota
	connOpen             // client and server know it
	connEnded            // the server has ended it, and the client has not noticed
	connLeft             // the client has left it, and the server has not noticed
)

// connOf returns who knows a session. The first one of each client is open at the start, and is stored as if that
// were nothing, so that a client that has not begun has left no trace.
func (s *contents) connOf(id SessionID) connection { return s.conns[id-1].stored(id) }

func (s *contents) setConn(id SessionID, c connection) { s.conns[id-1] = c.stored(id) }

// stored has open and none of a first session in each other's place.
func (c connection) stored(id SessionID) connection {
	if slotOf(id) == 1 && c <= connOpen {
		return connOpen - c
	}
	return c
}

// open reports whether the server has a session.
func (s *contents) open(id SessionID) bool {
	return s.connOf(id) == connOpen || s.connOf(id) == connLeft
}

// readyAnswer is the answer to a statement that has waited, before the server sends it.
type readyAnswer struct {
	session SessionID
	answer  storedAnswer
}

// readyAt is the place of the answer for a session that has waited; -1: there is none.
func (s *contents) readyAt(id SessionID) int {
	return slices.IndexFunc(s.ready, func(r readyAnswer) bool { return r.session == id })
}

// filled is s with what follows from it.
func (s contents) filled(idle time.Duration) contents {
	s.leases, s.limits = s.state.leases(), [maxSessions]time.Duration{}
	for _, p := range s.state.sessions {
		if w, waits := s.state.Wait(p.id); waits {
			s.limits[p.id-1] = time.Duration(cmp.Or(w.Check, w.Timeout)) * time.Millisecond
		} else if s.state.holds(p.id) {
			s.limits[p.id-1] = idle
		}
	}
	return s
}

// Everything that belongs to contents is shared: it is copied before it is changed.

// become puts another state in place, and keeps the answers to statements that have waited.
func (s *contents) become(state State, woken []Woken) {
	s.state = state
	for _, w := range woken {
		s.ready = append(slices.Clip(s.ready), readyAnswer{w.Session, storedAnswer{Reply: w.Reply}})
	}
	slices.SortFunc(s.ready, func(a, b readyAnswer) int { return cmp.Compare(a.session, b.session) })
}

// connect begins a session of a client, at the first place that is free; 0: there is none.
func (s *contents) connect(client int8) (slot int8) {
	for slot := int8(1); slot <= maxConns; slot++ {
		if id := sessionAt(client, slot); s.connOf(id) == connNone {
			s.setConn(id, connOpen)
			return slot
		}
	}
	return 0
}

// close ends a session, unless it has ended before.
func (s *contents) close(id SessionID, after connection) {
	if s.open(id) {
		s.become(s.state.Close(id))
	}
	s.setConn(id, after)
	s.take(id)
}

// take takes the answer away that is ready for a session, if there is one.
func (s *contents) take(id SessionID) (answer storedAnswer) {
	if i := s.readyAt(id); i >= 0 {
		answer = s.ready[i].answer
		s.ready = slices.Delete(slices.Clone(s.ready), i, i+1)
	}
	return answer
}

// restarted is s with another state, in which there are no sessions; a client that waits on one, which has broken, has
// noticed. The others notice that when they ask for something.
func (s contents) restarted(state State, waits func(SessionID) bool) contents {
	for id := SessionID(1); id <= maxSessions; id++ {
		switch s.connOf(id) {
		case connOpen, connEnded:
			s.setConn(id, connEnded)
			if waits(id) {
				s.setConn(id, connNone)
			}
		case connLeft:
			s.setConn(id, connNone)
		}
	}
	s.state, s.ready = state, nil
	return s
}
