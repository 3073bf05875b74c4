package verdict

import "locklab/simulator/history"

// FENCED: the resource refused a late write, and accepted no stale one. A write is late if its client does not have the
// lock when it arrives (see stalewrite.go). The data was saved by the resource, not by the lock; so FENCED does not
// excuse an OVERLAP, and stands beside it if there is one.
//
// Rules:
//
//   - There need not be an OVERLAP: a write that was long on its way is late although its
//     client has given the lock back in time.
//   - To refuse the write of the client that has the lock saves nothing, and is not FENCED.
//     It happens if the fencing token was drawn too late, or if the resource compares
//     versions and a late write came first.
//   - Where there is no lock, every write that was refused counts: the work of its client is discarded.
//   - An overlap without a refused write is not FENCED: the clients were lucky.
//
// Only a run's end can tell, so Judge adds this, with the first late write refused as evidence. Clients: its writer.
func (s *Safety) fenced() bool { return s.saved && s.words&SetOf(StaleWrite) == 0 }

// saves reports whether the event is a late write that was refused.
func saves(in *input) bool {
	e, c := in.event, in.client()
	return e.Kind == history.Write && !e.OK && in.run.judgesWrites(c) && (in.run.unlocked() || !in.holds(c, e.Lease))
}
