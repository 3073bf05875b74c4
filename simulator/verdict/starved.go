package verdict

import (
	"time"

	"locklab/simulator/history"
)

// STARVED: clients ask, and do not get a turn, although nothing is wrong but the order in which they ask. Either no
// client wins, which is judged here, or one client is overtaken again and again, which is judged in overtaken.go.
//
// No client wins: at least ten attempts in a row were refused without cause. A refusal is without cause if nothing
// stands in the way of the lock: no client has it, no key is left, no server is down and, if the lock does not live on
// the key, no client has died. The clients hinder each other, as in a split vote with equal delays. Clients: those
// refused. It lasts from the first of the refusals to the event that ended the row, or to the end of the run.
//
// A refusal while a client has the lock is what locks are for; one while a left key blocks it is BLOCKED.
//
// A search, in which every client makes a few attempts, cannot wait for ten. It says STARVED if all attempts that there
// are were refused without cause, and no fault was injected; see [Safety.InVain].
type starved struct {
	refused int // in a row
	since   time.Duration
	who     history.ClientSet
}

// starvedAfter is the number of refusals in a row that make STARVED: ten, counted over all clients, so that n clients
// that all fail are starved after 10/n rounds. Of one client that is overtaken it is the number of rounds.
const starvedAfter = 10

func (s *starved) observe(in *input) {
	if !in.reading.unhindered() {
		s.finish(in)
		return
	}
	if in.event.Kind != history.Refuse || in.event.Note == history.GaveUp {
		return
	}
	if s.refused == 0 {
		s.since = in.at
	}
	s.refused++
	s.who.Add(in.client())
}

// finish ends the row, and reports it if it was long enough.
func (s *starved) finish(in *input) {
	if s.refused >= starvedAfter {
		in.report(Finding{Verdict: Starved, Clients: s.who.AppendTo(nil), From: s.since, To: in.at})
	}
	*s = starved{}
}
