package verdict

import (
	"time"

	"locklab/simulator/history"
)

// STARVED, of one client: it was refused, asked again and again, and at least ten
// times somebody else had entered between two of its refusals. Clients: the one
// that waited. It lasts from its first refusal to its Enter, its death, or the
// end of the run.
//
// "Without bound" is more than a run can show; ten is more than any order of
// arrival explains. In a queue a client is overtaken at most once by each of the
// others that were there before it, and a lab has no more than seven others.
//
// That somebody else entered several times between two refusals counts once:
// whoever asks seldom has himself to blame for that. A lock that is taken again
// by its holder overtakes nobody.
type overtaken struct {
	waiting, passed clients // refused and not yet inside; …and somebody has entered since the last refusal
	inside          clients // before the event
	rounds          [MaxClients]int
	since           [MaxClients]time.Duration
}

// overtakenAfter is how many rounds make STARVED.
const overtakenAfter = 10

func (o *overtaken) observe(h *hearing) {
	c := client8(h.e.Client)
	switch h.e.Kind {
	case history.Refuse:
		switch {
		case !o.waiting.has(c):
			o.waiting.add(c)
			o.since[c-1] = h.at
		case o.passed.has(c):
			o.rounds[c-1]++
		}
		o.passed.remove(c)
	case history.Enter:
		o.close(h, c)
		if !o.inside.has(c) {
			o.passed |= o.waiting
		}
	case history.Crash, history.Done:
		o.close(h, c)
	}
	o.inside = h.f.inside
}

// close ends the wait of c, and reports it if it was overtaken too often.
func (o *overtaken) close(h *hearing, c client8) {
	if o.rounds[c-1] >= overtakenAfter {
		h.report(Finding{Verdict: Starved, Clients: []int{int(c)}, From: o.since[c-1], To: h.at})
	}
	o.waiting.remove(c)
	o.passed.remove(c)
	o.rounds[c-1], o.since[c-1] = 0, 0
}

func (o *overtaken) finish(h *hearing) {
	for s := o.waiting; s != 0; s &= s - 1 {
		o.close(h, s.first())
	}
}
