package verdict

import "locklab/simulator/history"

// LIE: a release reported that the lock was still the client's own (Released with
// Claims and OK), although the client had lost it before: it had expired, or was
// removed or taken over. Clients: the one that got the false report.
//
// The report is about the moment at which the lock was given back. That is the first
// Change of the key's value by that client during its release, and the reading just
// before it decides; without such a Change (a counter in the process that went down
// by one), the reading at the Release. Judging at the Release alone would believe a
// GET-then-DEL that found its own token, slept through the expiry, and deleted the
// next owner's key. Judging after the first Change would call every quorum release a
// lie from its third node on, because it has deleted its own majority by then. To
// prolong the key is not to give it back: a renewal in flight during the release
// decides nothing.
//
// The lock is the client's own if the client owns the key on a quorum of nodes. A
// stamp that has lapsed but that nobody took over is still its own. If the key never
// changed at all, the lock does not live on it (sessions, queues of nodes), and
// nothing can be said; nor of a lock that lets several in, where only the first owns
// the key.
//
// An Enter reports nothing that could be false here: a false one is OVERLAP.
type lie struct {
	own     clients // releasing, and the lock was its own when it was given back
	decided clients // releasing, and own needs no second look
}

func (l *lie) observe(in *input) {
	c := client8(in.event.Client)
	switch in.event.Kind {
	case history.Release:
		l.look(in, c)
	case history.Change:
		if in.reading.releasing.has(c) && !l.decided.has(c) && in.event.Key == in.run.key && in.event.Before != in.event.After {
			l.look(in, c)
			l.decided.add(c)
		}
	case history.Released:
		if in.event.Claims && in.event.OK && !l.own.has(c) && in.reading.keyChanged && in.run.room[c-1] == 1 {
			in.instant(Lie, int(c))
		}
		l.forget(c)
	case history.Crash:
		l.forget(c)
	}
}

func (l *lie) look(in *input, c client8) {
	l.forget(c)
	if in.run.majority(in.reading.owned(c)) {
		l.own.add(c)
	}
}

func (l *lie) forget(c client8) {
	l.own.remove(c)
	l.decided.remove(c)
}
