package verdict

import "locklab/simulator/history"

// STALE-WRITE: the resource accepted a write that came too late, and that harms another.
//
// A write is late if its client does not have the lock when it arrives: the lease under which it was sent has expired,
// was removed or taken over, was given back, or never was. It harms another in two ways, of which one is enough:
//
//   - It overwrites an update that the writer has not read: an accepted write of another
//     client, later than the read on which this one is based, and not stale itself.
//   - It falls into the critical section of another client, after that one's first read.
//     That client may be about to write, and would overwrite this update without having
//     read it; or it only reads, and sees two states of what it has locked.
//
// Clients: the writer; the one whose update is lost (the latest of them), or whose section
// it is (one that has the lock, if there is one).
//
// Rules:
//
//   - The one who has the lock is not accused of what a late write of another did to it: if
//     it reads, a late write falls between, and it writes, then the late write is the stale
//     one. But who has the lock and builds on an old read (from before it lost the lock and
//     got it again, say) loses an update that was not stale, and that is STALE-WRITE.
//   - A late write that harms no client has no word: no other has been there, or the next
//     one reads it.
//   - Different leases of one client count as different clients: a write that was sent under
//     the old lease can harm what the client does under the new one.
//   - Own writes under one lease do not supersede its reads: reading version 1 and writing
//     2 and then 3 from that one read loses no other update. Nor do they hide another's
//     write: read 1, another writes 2, write 3 and then 4, both based on 1, are two.
//   - If the key never changed, the lock does not live on it; a client then has the lock
//     while it is inside.
//   - Clients of a lock that lets several in are not judged: the lock does not say which of
//     them may write.
//   - Where there is no lock (lock.Guard), every write is late, and harms another if it overwrites
//     an update that the writer has not read.
//
// There may be no OVERLAP: a write that is long on its way can arrive when its client has
// properly given the lock back and another has written.
//
// Of a client that is inside the fact reads is kept.
type staleWrite struct {
	// The last accepted write that was not stale, and the last one before it by another
	// lease. For any writer, one of the two is the last by another lease.
	last, other write
}

// A write is one that was accepted. The zero value is none.
type write struct {
	version int32 // what the resource became
	holder        // its writer, and by which lease
}

func (s *staleWrite) observe(in *input) {
	switch e, me := in.event, in.me(); e.Kind {
	case history.Read:
		if me.is(inside) && !in.reading.ofFormer(e) {
			me.set(reads)
		}
	case history.Leave, history.Done, history.Crash:
		me.unset(reads)
	case history.Write:
		if e.OK && in.run.judgesWrites(in.client()) {
			s.write(in, write{int32(e.Version), holder{owner: in.client(), lease: uint8(e.Lease)}})
		}
	}
}

func (s *staleWrite) write(in *input, w write) {
	if victim := s.harms(in, w.holder); victim != 0 {
		in.instant(StaleWrite, int(w.owner), int(victim))
		return
	}
	if s.last.holder != w.holder {
		s.other = s.last
	}
	s.last = w
}

// harms is the client that the event, a write, is stale to; 0: it is not stale.
func (s *staleWrite) harms(in *input, by holder) uint8 {
	lost := s.last
	if lost.holder == by {
		lost = s.other
	}
	if int(lost.version) > in.event.Base {
		return lost.owner
	}
	if in.run.unlocked() || in.holds(by.owner, int(by.lease)) {
		return 0
	}
	readers := in.reading.those(reads)
	disturbed := readers &^ history.Only(by.owner)
	for d := disturbed; d != 0; d &= d - 1 {
		if in.holds(d.First(), 0) {
			return d.First()
		}
	}
	switch {
	case disturbed != 0:
		return disturbed.First()
	case readers.Has(by.owner) && in.holds(by.owner, 0) && in.reading.keyChanged: // by a newer lease
		return by.owner
	}
	return 0
}
