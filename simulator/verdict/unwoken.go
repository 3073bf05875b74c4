package verdict

import (
	"time"

	"locklab/simulator/history"
)

// BLOCKED and DEADLOCK, where nothing stands in the way: the lock is free, no server is
// down and no key is left behind, and who asks is neither let in nor refused. It
// waits for a message that was sent before it listened, or that nobody sends.
//
// The interval begins when all that is so, and ends when it is so no longer, for
// example with an Enter of anybody. From a lease on it is BLOCKED: no lock that asks
// again by itself, however seldom, leaves that much time. Where the run was stopped by
// its horizon it is DEADLOCK from two leases on. Clients: who waited from its beginning.
//
// A client that is paused keeps itself waiting, and is no part of it.
type unwoken struct {
	waiting clients
	since   time.Duration
	paused  clients
}

func (u *unwoken) observe(h *hearing) {
	switch h.e.Kind {
	case history.Pause:
		u.paused.add(client8(h.e.Client))
	case history.Resume, history.Crash:
		u.paused.remove(client8(h.e.Client))
	}
	still := clients(0)
	if h.f.free() && !h.c.barring(h.f.down|h.f.leftovers()) && (h.f.keyed || h.f.dead == 0) {
		still = h.f.acquiring &^ u.paused
	}
	switch {
	case u.waiting&still == 0:
		u.end(h, Blocked)
		u.waiting, u.since = still, h.at
	default:
		u.waiting &= still
	}
}

func (u *unwoken) end(h *hearing, w Word) {
	if u.waiting != 0 && h.c.ttl > 0 && h.at-u.since >= h.c.ttl {
		h.report(Finding{Verdict: w, Clients: u.waiting.appendTo(nil), From: u.since, To: h.at})
	}
}

func (u *unwoken) finish(h *hearing, horizon bool) {
	if horizon && h.at-u.since >= 2*h.c.ttl {
		u.end(h, Deadlock)
		return
	}
	u.end(h, Blocked)
}
