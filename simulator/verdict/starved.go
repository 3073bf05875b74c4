package verdict

import (
	"time"

	"locklab/simulator/history"
)

// STARVED, of all clients: at least ten attempts in a row were refused, although no
// client had the lock all that time, no key was left and no node was down: the clients
// hindered each other, as in a split vote with equal delays. Clients: those refused.
// It lasts from the first of the refusals to the event that ended the row, or to the
// end of the run.
//
// Refusals do not count while a client has the lock, which is what locks are for, or
// while a key that was left blocks it, which is BLOCKED. A single client that the
// others overtake is judged in overtaken.go.
type starved struct {
	refused int // in a row
	since   time.Duration
	who     clients
}

// starvedAfter is how many refusals in a row make STARVED: ten, counted over all
// clients, so that n clients that all fail are starved after 10/n rounds.
const starvedAfter = 10

func (s *starved) observe(in *input) {
	if !in.reading.unhindered() {
		s.finish(in)
		return
	}
	if in.event.Kind != history.Refuse {
		return
	}
	if s.refused == 0 {
		s.since = in.at
	}
	s.refused++
	s.who.add(client8(in.event.Client))
}

// finish ends the row, and reports it if it was long enough.
func (s *starved) finish(in *input) {
	if s.refused >= starvedAfter {
		in.report(Finding{Verdict: Starved, Clients: s.who.appendTo(nil), From: s.since, To: in.at})
	}
	*s = starved{}
}
