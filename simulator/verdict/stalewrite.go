package verdict

import "locklab/simulator/history"

// STALE-WRITE: the resource accepted a write that is based on a read which
// somebody else's accepted write has superseded. That other update is lost.
// Clients: the writer, the one whose update is lost (the latest of them).
//
// A client's own writes do not supersede its reads: reading version 1 and
// writing 2 and then 3 from that one read loses nothing of anybody else's. Own
// writes do not hide somebody else's either: read 1, somebody writes 2, write 3
// and then 4, both based on 1, are two stale writes.
//
// A lock that lets several in does not say which of them may write: it is not
// judged by that.
//
// It needs no OVERLAP: a write that is long on its way arrives when its client
// has properly given the lock back and another has written.
type staleWrite struct {
	// The last accepted write, and the last one before it by another client.
	// For any writer, one of the two is the last by somebody else.
	last, other wrote
}

// wrote is an accepted write. The zero value is none.
type wrote struct {
	version int32 // what the resource became
	by      client8
}

func (s *staleWrite) observe(h *hearing) {
	if h.e.Kind != history.Write || !h.e.OK || h.c.room[h.e.Client-1] > 1 {
		return
	}
	w := wrote{version: int32(h.e.Version), by: client8(h.e.Client)}
	if s.last.by != w.by {
		s.other = s.last
	}
	s.last = w
	if int(s.other.version) > h.e.Base {
		h.instant(StaleWrite, int(w.by), int(s.other.by))
	}
}
