package verdict

import (
	"time"

	"locklab/simulator/history"
)

// STARVED: at least ten attempts in a row were refused, by whomever, although
// nobody had the lock all that time and nothing was left behind or down on any
// node: the clients stood in each other's way, as in a split vote with equal
// delays. Clients: those refused. It lasts from the first of the refusals to
// the event that broke the row, or to the end of the run.
//
// Refusals on a lock that somebody has, or that a leftover blocks, do not
// count: the first is what locks are for, the second is BLOCKED. That one
// client is overtaken by the others is judged in overtaken.go.
type starved struct {
	refused int // in a row
	since   time.Duration
	who     clients
}

// starvedAfter is how many refusals in a row make STARVED: ten, counted over all
// clients, so that n clients that all fail are starved after 10/n rounds.
const starvedAfter = 10

func (s *starved) observe(h *hearing) {
	if h.f.holders() != 0 || h.f.down|h.f.leftovers() != 0 || !h.f.keyed && h.f.dead != 0 {
		s.finish(h)
		return
	}
	if h.e.Kind != history.Refuse {
		return
	}
	if s.refused == 0 {
		s.since = h.at
	}
	s.refused++
	s.who.add(client8(h.e.Client))
}

// finish ends the row, and reports it if it was long enough.
func (s *starved) finish(h *hearing) {
	if s.refused >= starvedAfter {
		h.report(Finding{Verdict: Starved, Clients: s.who.appendTo(nil), From: s.since, To: h.at})
	}
	*s = starved{}
}
