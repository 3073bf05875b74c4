package verdict

import "locklab/simulator/history"

// Enough returns the smallest number of clients that can show a verdict, of clients of which so many may be inside
// together as room says; see [history.History].Holders. With fewer of them nothing is known of it, whatever they do.
// 0: no number of such clients can.
//
//   - OVERLAP takes one more than may be inside. Clients that never keep each other out show none.
//   - STALE-WRITE, FENCED, WRONG-DEL and LIE are judged where a client excludes all others; the first two also where
//     there is no lock. One client shows them, by what its own attempt before has left on its way.
//   - DEADLOCK and BLOCKED take as many as may be inside: each of them leaves one place behind, as a crash does.
//   - All others take one client.
func Enough(w Word, room int) int {
	alone, shared := room == 1, room > 1
	switch {
	case w == Overlap && (alone || shared):
		return room + 1
	case w == Overlap, (w == Lie || w == WrongDel) && !alone,
		(w == StaleWrite || w == Fenced) && !alone && room != history.NoLock:
		return 0
	case (w == Deadlock || w == Blocked) && shared:
		return room
	}
	return 1
}
