package verdict

import "locklab/simulator/history"

// STALE-WRITE: the resource accepted a write based on a read that an accepted write of
// another client has superseded. That other update is lost. Clients: the writer, the
// one whose update is lost (the latest of them).
//
// A client's own writes do not supersede its reads: reading version 1 and writing 2
// and then 3 from that one read loses no other client's update. Nor do they hide
// another client's write: read 1, another writes 2, write 3 and then 4, both based on
// 1, are two stale writes.
//
// Clients of a lock that lets several in are not judged: the lock does not say which
// of them may write.
//
// There may be no OVERLAP: a write that is long on its way can arrive when its client
// has properly given the lock back and another has written.
type staleWrite struct {
	// The last accepted write, and the last one before it by another client.
	// For any writer, one of the two is the last by another client.
	last, other wrote
}

// wrote is an accepted write. The zero value is none.
type wrote struct {
	version int32 // what the resource became
	by      client8
}

func (s *staleWrite) observe(in *input) {
	if in.event.Kind != history.Write || !in.event.OK || in.run.room[in.event.Client-1] > 1 {
		return
	}
	w := wrote{version: int32(in.event.Version), by: client8(in.event.Client)}
	if s.last.by != w.by {
		s.other = s.last
	}
	s.last = w
	if int(s.other.version) > in.event.Base {
		in.instant(StaleWrite, int(w.by), int(s.other.by))
	}
}
