package verdict

import "locklab/simulator/history"

// OVERLAP: two clients are inside the critical section at one true time, that
// is, both between their Enter and their Leave or Crash. The order of events
// decides, not their times: a Leave that stands before an Enter of the same
// instant makes no overlap.
//
// A paused client is inside. It does nothing at that moment, but it will go on
// where it stopped, believing in its lock: that is the pause everybody argues
// about. A dead one is not inside.
//
// A lock that several may hold (a semaphore, the readers of a read-write lock)
// has room for so many; each client says how many it bears beside it, and the
// least of those inside and the newcomer counts. One too many overlaps with each
// that is inside.
//
// There is one finding for each pair and interval, reported when it begins,
// with To equal to From; Judge fills in To. Clients: who was inside already,
// the newcomer.
type overlap struct{}

func (overlap) observe(h *hearing) {
	c := client8(h.e.Client)
	if h.e.Kind != history.Enter || h.f.inside.has(c) {
		return
	}
	if h.f.inside.size() < h.c.roomWith(h.f.inside|only(c)) {
		return
	}
	for s := h.f.inside; s != 0; s &= s - 1 {
		h.instant(Overlap, int(s.first()), int(c))
	}
}

// roomWith is for how many there is room while these clients are inside.
func (c *Case) roomWith(inside clients) int {
	room := MaxClients
	for ; inside != 0; inside &= inside - 1 {
		room = min(room, c.room[inside.first()-1])
	}
	return room
}

// endsInside says whether a client that was inside no longer is, after an event
// of kind k.
func endsInside(k history.Kind) bool {
	return k == history.Leave || k == history.Crash || k == history.Done
}
