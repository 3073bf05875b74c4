package verdict

import "locklab/simulator/history"

// LIE: a release reported that the lock was still its own (Released with Claims
// and OK), although it had ended before: expired, removed, or somebody else's.
// Clients: who was lied to.
//
// The statement is about the moment at which the lock was given back. That is
// the first Change of the key's value by that client during its release, and
// the facts just before it decide; without such a Change (a counter in the
// process that went down by one), those at the Release. Judging at the Release
// alone would believe a GET-then-DEL that found its own token, slept through
// the expiry, and deleted the next owner's key; judging after the first change
// would call every quorum release a lie from its third node on, for it has
// deleted its own majority by then. Prolonging is not giving back: a renewal in
// flight during the release decides nothing.
//
// "Still its own" is: the client owns the key on a quorum of nodes. A stamp
// that has lapsed but that nobody took over is still its own. Where the key
// never changed at all, the lock does not live on it (sessions, queues of
// nodes), and nothing can be said; nor can it of a lock that lets several in, of
// whom only the first owns the key.
//
// Entering claims nothing that could be false here: what is wrong with it is
// OVERLAP.
type lie struct {
	own     clients // releasing, and the lock was its own when it was given back
	decided clients // releasing, and own needs no second look
}

func (l *lie) observe(h *hearing) {
	c := client8(h.e.Client)
	switch h.e.Kind {
	case history.Release:
		l.look(h, c)
	case history.Change:
		if h.f.releasing.has(c) && !l.decided.has(c) && h.e.Key == h.c.key && h.e.Before != h.e.After {
			l.look(h, c)
			l.decided.add(c)
		}
	case history.Released:
		if h.e.Claims && h.e.OK && !l.own.has(c) && h.f.keyed && h.c.room[c-1] == 1 {
			h.instant(Lie, int(c))
		}
		l.forget(c)
	case history.Crash:
		l.forget(c)
	}
}

func (l *lie) look(h *hearing, c client8) {
	l.forget(c)
	if h.c.majority(h.f.owned(c)) {
		l.own.add(c)
	}
}

func (l *lie) forget(c client8) {
	l.own.remove(c)
	l.decided.remove(c)
}
