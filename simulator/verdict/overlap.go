package verdict

import "locklab/simulator/history"

// OVERLAP: two clients are inside the critical section at the same true time, both between their Enter and their Leave
// or Crash. The order of events decides, not their times: a Leave before an Enter of the same instant makes no overlap.
//
// A paused client is inside: it will go on where it stopped, and believes that it has the lock. A dead one is not.
//
// Several clients may be inside where the lock allows it (a semaphore, the readers of a read-write lock). Each client
// has a number of clients that may be inside together with it, and the smallest number of those inside and the newcomer
// counts. One too many overlaps with each that is inside.
//
// There is one finding for each pair and interval, reported when it begins, with To equal to From; Judge fills in To.
// Clients: the one that was inside already, the newcomer.
func overlap(in *input) {
	c, others := in.client(), in.reading.those(inside)
	if in.event.Kind != history.Enter || others.Has(c) || others.Len() < in.run.roomWith(others|history.Only(c)) {
		return
	}
	for s := others; s != 0; s &= s - 1 {
		in.instant(Overlap, int(s.First()), int(c))
	}
}

// roomWith returns the number of clients that may be inside together with these clients.
func (c *Case) roomWith(inside history.ClientSet) int {
	room := MaxClients
	for ; inside != 0; inside &= inside - 1 {
		room = min(room, c.room(inside.First()))
	}
	return room
}

// endsInside reports whether a client that was inside no longer is, after an event of kind k.
func endsInside(k history.EventKind) bool {
	return k == history.Leave || k == history.Crash || k == history.Done
}
