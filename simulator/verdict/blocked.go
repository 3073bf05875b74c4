package verdict

import (
	"time"

	"locklab/simulator/history"
)

// BLOCKED and DEADLOCK: nobody held the lock, and yet it was refused.
//
// The lock is free when no living client is inside, leaving or releasing, and
// none is acquiring with a grant that a server has already given it. It is
// barred when so many nodes are down, or hold a key that nobody believes in
// (of the dead, the refused, the failed), that the others are no quorum. From
// the moment at which it is both, through everything that happens, to the next
// Enter of anybody, it is BLOCKED, provided that somebody is refused while it
// is both. Clients: those whose leftovers barred it first, then the one first
// refused.
//
// Choices:
//
//   - A hand-over, in which nobody is refused, or is refused because of the
//     holder that has gone meanwhile, leaves nothing behind and is not BLOCKED.
//   - A refusal does not count against the orphan that it leaves itself.
//   - One attempt that lasts from before the interval to its end, by a lock that
//     waits by itself, was refused all that time.
//   - The clients of a split vote block each other with live grants; that is
//     contention, and STARVED if it never ends.
//   - A taker-over who loses makes the lock look taken for a moment. That does
//     not interrupt the interval: it is refused in the end.
//   - A client that hangs inside holds the lock. That may be bad work, but it
//     is no fault of the lock's.
//   - Refused by a server that is down is BLOCKED too. One server out of five
//     does not bar a quorum lock; one out of one bars any other.
//   - Where the key never changed at all, the lock does not live on it
//     (sessions, queues of nodes): it counts as barred from a crash or
//     exception of a client that was not idle until the next Enter.
//
// When the run ends first: if the leftovers have gone, it was BLOCKED until
// then. If the run was stopped by its horizon with the lock still free, at least
// two attempts were refused, and the wait has reached twice the TTL, it is
// DEADLOCK: any expiry, and any takeover after it, would have come. Forever, then: the keys that bar
// have no time to live or are prolonged by a living process, and no server
// that comes back can change that. Otherwise UNKNOWN: with more time the same
// run might have been BLOCKED or a DEADLOCK.
type blocked struct {
	open    bool
	cleared bool // open, somebody was refused, and nothing bars any longer

	since, until time.Duration // when it became free and barred; when it cleared
	refused      int           // attempts refused meanwhile
	first        client8       // the first of them
	culprits     clients       // whose leftovers barred at since
	waiting      clients       // who asks since before then, and has not been answered
	asked        clients       // who was asking before the event

	busy   clients // who was not idle before the event
	ghosts clients // who of them crashed or failed, on a lock that does not live on the key
}

func (b *blocked) observe(h *hearing) {
	b.haunt(h)
	if h.e.Kind == history.Enter {
		b.end(h, h.at)
		*b = blocked{busy: b.busy, asked: h.f.acquiring}
		return
	}
	free, barred := h.f.free(), b.barred(h)
	if b.waiting &= h.f.acquiring; b.waiting != 0 && b.refused == 0 && free && !barred {
		b.refused, b.first = 1, b.waiting.first()
	}
	switch {
	case !free: // granted to somebody, who may yet be refused
	case barred && b.open:
		b.cleared = false
		if h.e.Kind == history.Refuse {
			b.refused++
			if b.refused == 1 {
				b.first = client8(h.e.Client)
			}
		}
	case barred:
		b.open, b.since, b.culprits, b.waiting = true, h.at, b.leavers(h), b.asked&h.f.acquiring
	case b.refused == 0:
		b.open, b.since, b.culprits, b.waiting = false, 0, 0, 0
	case !b.cleared:
		b.cleared, b.until = true, h.at
	}
	b.asked = h.f.acquiring
}

// haunt remembers who may have left something behind that is not the key. The
// facts are those after the event: whoever failed looks idle in them already.
func (b *blocked) haunt(h *hearing) {
	if h.e.Kind == history.Crash || h.e.Kind == history.Leave && h.e.Note == history.Exception {
		b.ghosts |= b.busy & only(client8(h.e.Client))
	}
	b.busy = h.f.active()
}

// barred says whether nobody can acquire, and why is not that somebody has it.
func (b *blocked) barred(h *hearing) bool {
	if !h.f.keyed && b.ghosts != 0 {
		return true
	}
	return h.c.barring(h.f.down | h.f.leftovers())
}

// leavers are those whose leftovers bar, as far as known.
func (b *blocked) leavers(h *hearing) clients {
	if !h.f.keyed {
		return b.ghosts
	}
	var s clients
	for _, g := range h.f.grant[:h.c.nodes] {
		if g.left {
			s.add(g.owner)
		}
	}
	return s
}

// end reports BLOCKED until to, if anybody was refused.
func (b *blocked) end(h *hearing, to time.Duration) {
	if b.refused > 0 {
		h.report(Finding{Verdict: Blocked, Clients: b.clients(), From: b.since, To: to})
	}
}

func (b *blocked) clients() []int {
	list := b.culprits.appendTo(nil)
	if !b.culprits.has(b.first) {
		list = append(list, int(b.first))
	}
	return list
}

func (b *blocked) finish(h *hearing, l *leases, horizon bool) {
	switch {
	case b.refused == 0:
	case b.cleared:
		b.end(h, b.until)
	case horizon && h.f.free() && b.refused >= 2 && h.at-b.since >= 2*h.c.ttl:
		h.report(Finding{
			Verdict: Deadlock, Clients: b.clients(), From: b.since, To: h.at,
			Forever: h.c.barring(l.timeless() | l.prolonged(h.f)), // free: all keys are leftovers
		})
	default:
		h.report(Finding{Verdict: Unknown, Clients: b.clients(), From: b.since, To: h.at})
	}
}
