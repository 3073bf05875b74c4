package verdict

import (
	"time"

	"locklab/simulator/history"
)

// BLOCKED and DEADLOCK: no client held the lock, and still it was refused.
//
// The lock is free as [Reading.Free] has it. It is barred when so many nodes are down, or have a key that is left (its
// owner died, was refused or failed), that the others are no quorum. It is BLOCKED from the moment at which it is both
// to the next Enter of any client, whatever happens in between, provided that a client is refused while it is both.
// Clients: those whose keys barred it first, then the one that was refused first.
//
// Rules:
//
//   - A hand-over leaves nothing behind and is not BLOCKED: no client is refused, or
//     a client is refused because of the holder that has gone meanwhile.
//   - A refusal does not count if it is itself what left the key behind.
//   - If a lock waits by itself, one attempt that lasts from before the interval to
//     its end was refused all that time.
//   - The clients of a split vote block each other with live grants. That is
//     contention, and STARVED if it never ends.
//   - A client that tries to take the lock over and loses makes it look taken for a
//     moment. That does not interrupt the interval: the client is refused in the end.
//   - A client that hangs inside holds the lock. The lock is not to blame for that.
//   - A refusal because a server is down is BLOCKED too. One server out of five does
//     not bar a quorum lock; one out of one bars any other.
//   - If the key never changed at all, the lock does not live on it (sessions, queues
//     of nodes). It then counts as barred from a crash or exception of a client that
//     was not idle until the next Enter.
//
// If the run ends first: when the keys have gone, it was BLOCKED until then. It is DEADLOCK if the run was stopped by
// its horizon with the lock still free, at least two attempts were refused, and the wait has reached twice the TTL: any
// expiry, and any takeover after it, would have come. It is Forever if the keys that bar have no time to live or are
// prolonged by a living process; no server that comes back can change that. Otherwise it is UNKNOWN: with more time the
// same run might have been BLOCKED or a DEADLOCK.
type blocked struct {
	open    bool
	cleared bool // open, somebody was refused, and nothing bars any longer

	since, until time.Duration     // when it became free and barred; when it cleared
	refused      int               // attempts refused meanwhile
	first        uint8             // the first of them
	culprits     history.ClientSet // whose keys barred it at since
	waiting      history.ClientSet // asked before since and have no answer yet

	offKey history.ClientSet // crashed or failed, not idle; counts if the lock does not live on the key
}

func (b *blocked) observe(in *input) {
	if in.event.Kind == history.Crash || in.event.Kind == history.Leave && in.event.Note == history.Exception {
		b.offKey |= in.was.those(active) & history.Only(in.client()) // it may have left something that is not the key
	}
	if in.event.Kind == history.Enter {
		b.report(in, Blocked, in.at, false)
		*b = blocked{}
		return
	}
	asking, free, barred := in.reading.those(acquiring), in.reading.free(), b.barred(in)
	asked := in.was.those(acquiring) & asking
	if b.waiting &= asking; b.waiting != 0 && b.refused == 0 && free && !barred {
		b.refused, b.first = 1, b.waiting.First()
	}
	switch {
	case !free: // it is granted to a client, which may yet be refused
	case barred && b.open:
		b.cleared = false
		if in.event.Kind == history.Refuse {
			if b.refused++; b.refused == 1 {
				b.first = in.client()
			}
		}
	case barred:
		b.open, b.since, b.culprits, b.waiting = true, in.at, b.leftBy(in), asked
	case b.refused == 0:
		b.open, b.since, b.culprits, b.waiting = false, 0, 0, 0
	case !b.cleared:
		b.cleared, b.until = true, in.at
	}
}

// barred reports whether no client can acquire the lock although none need have it.
func (b *blocked) barred(in *input) bool {
	return !in.reading.keyChanged && b.offKey != 0 || in.reading.barred(in.run)
}

// leftBy are the clients whose keys or remains bar the lock, as far as known.
func (b *blocked) leftBy(in *input) history.ClientSet {
	if !in.reading.keyChanged {
		return b.offKey
	}
	var s history.ClientSet
	for _, g := range in.reading.grant[:in.run.Nodes] {
		if g.left {
			s.Add(g.owner)
		}
	}
	return s
}

// report reports what lasted until to, if a client was refused.
func (b *blocked) report(in *input, w Word, to time.Duration, forever bool) {
	if b.refused == 0 {
		return
	}
	clients := b.culprits.AppendTo(nil)
	if !b.culprits.Has(b.first) {
		clients = append(clients, int(b.first))
	}
	in.report(Finding{Verdict: w, Clients: clients, From: b.since, To: to, Forever: forever})
}

func (b *blocked) finish(in *input, l *leases, horizon bool) {
	switch {
	case b.cleared:
		b.report(in, Blocked, b.until, false)
	case horizon && in.reading.free() && b.refused >= 2 && in.at-b.since >= 2*in.run.TTL:
		// free: all keys are leftovers.
		b.report(in, Deadlock, in.at, in.run.barring(l.timeless()|l.prolonged(in.reading)))
	default:
		b.report(in, Unknown, in.at, false)
	}
}
