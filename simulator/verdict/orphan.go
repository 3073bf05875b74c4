package verdict

import (
	"time"

	"locklab/simulator/history"
)

// ORPHAN: the key stands, on a quorum of nodes, by the grant of a living
// client that does not believe in it (it was refused, it met an error, it has
// given the lock back, it had an exception), and nobody else believes to have
// the lock. It lasts until the key goes or is somebody else's, until its owner
// enters after all, or until the run ends. Clients: the owner.
//
// Choices:
//
//   - A dead owner's key is not ORPHAN but BLOCKED: the dead believe nothing,
//     and expiry is made for them.
//   - While somebody is inside, leaving or releasing there is no orphan. The
//     loser of a GETSET race leaves its stamp over the winner's; as long as the
//     winner works, that key keeps the others out rightly.
//   - An orphan counts if another client was refused while it stood, or if it
//     outlasts the run. Otherwise every release that gives up on a slow answer
//     would be one for the milliseconds until its command arrives.
//   - Forever: it outlasts the run, and has no time to live on a quorum.
type orphan struct {
	open  clients                   // whose orphans stand
	felt  clients                   // …and refused somebody
	since [MaxClients]time.Duration // …and since when
}

func (p *orphan) observe(h *hearing) {
	if h.e.Kind == history.Refuse {
		p.felt |= p.open &^ only(client8(h.e.Client))
	}
	now := standing(h)
	if now == p.open {
		return
	}
	for s := p.open &^ now; s != 0; s &= s - 1 {
		p.close(h, s.first())
	}
	for s := now &^ p.open; s != 0; s &= s - 1 {
		p.since[s.first()-1] = h.at
	}
	p.open = now
}

// Haunted says whether e, which s has not yet observed, refuses a client while a
// ORPHAN of another stands. It is no part of the state: a search that wants to
// know whether one was ever felt asks at every step.
func (s *Safety) RefusedByOrphan(c *Case, e *history.Event) bool {
	return e.Kind == history.Refuse && standing(&hearing{c: c, f: &s.facts})&^only(client8(e.Client)) != 0
}

// close ends the orphan of c, and reports it if it was felt.
func (p *orphan) close(h *hearing, c client8) {
	if p.felt.has(c) {
		h.report(Finding{Verdict: Orphan, Clients: []int{int(c)}, From: p.since[c-1], To: h.at})
	}
	p.felt.remove(c)
	p.since[c-1] = 0
}

func (p *orphan) finish(h *hearing, l *leases) {
	for s := p.open; s != 0; s &= s - 1 {
		c := s.first()
		h.report(Finding{
			Verdict: Orphan, Clients: []int{int(c)}, From: p.since[c-1], To: h.at,
			Forever: h.c.majority(h.f.owned(c) & l.timeless()),
		})
	}
}

// standing are the clients whose orphans stand now.
func standing(h *hearing) clients {
	left := h.f.leftovers()
	if left == 0 || h.f.holders() != 0 {
		return 0
	}
	var s clients
	for n := range h.c.nodes {
		o := h.f.grant[n].owner
		if !h.f.dead.has(o) && h.c.majority(left&h.f.owned(o)) {
			s.add(o)
		}
	}
	return s
}
