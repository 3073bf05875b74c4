package verdict

import "locklab/simulator/history"

// LIE: the lock told its client that the lock is still its own, or that it is not, and that
// was false. Clients: the one that was told.
//
// Three calls make such a statement (an event with Claims): a release (Release to Released),
// a renewal and a check (an Acquire with a Note, to the Enter or Refuse that answers it). An
// answer that says that the outcome is unknown states nothing.
//
// The statement is about one moment of the call, which the client need not know:
//
//   - It is the client's first Change of the key during the call, with the reading just
//     before it. In a release a Change that only prolongs does not count: a renewal in
//     flight gives nothing back.
//   - Without such a Change a success of a release is about the moment of its answer. "Released"
//     says that the lock was the client's until this call gave it back: if the call has removed
//     nothing, and the client does not have the lock any more, it was lost otherwise. A lock that
//     is kept on purpose is still the client's.
//   - Any other statement without such a Change is about any moment of the call: "still yours" is
//     false only if the client did not have the lock at any of them, "not yours" only if it had
//     it at all of them.
//
// "Not yours" is not false either if the client lost a part of the lock later in the call,
// but not by its own command: of a majority, one server's key may expire while it deletes
// the others.
//
// So a transaction that fails because the key expired after it was watched, and counts as a
// release, has lied; so has a GET-then-DEL that found its own token, slept through the expiry,
// deleted the next owner's key and reported success; and so has a release that removed the
// client's own key by a request whose answer was lost, asked again, and reported "not held". A
// quorum release is judged before it deletes its own majority. A renewal that makes the key
// anew where it was gone has lied, because the lock was lost before.
//
// The client has the lock if the key is the grant of the call's lease on a quorum of nodes.
// A stamp that has lapsed but that no client took over is still its own. If the key never
// changed at all, the lock does not live on it (sessions, queues of nodes), and nothing can
// be said; nor of a lock that lets several in, where only the first owns the key.
//
// Any other Enter or Refuse states nothing about the client's own lease: a false Enter is
// OVERLAP.
type lie struct {
	asking  history.ClientSet // renewing or checking
	decided history.ClientSet // releasing or asking, and have changed the key: had and lacked stand
	had     history.ClientSet // have had the lock at all moments of the call, or until they gave it back
	lacked  history.ClientSet // have had it at none
}

func (l *lie) observe(in *input) {
	e, c := in.event, client8(in.event.Client)
	l.look(in)
	if (e.Kind == history.Change || e.Kind == history.Expire) && e.Key == in.run.key {
		l.lose(in)
	}
	switch e.Kind {
	case history.Acquire:
		if e.Note != "" {
			l.begin(in, c)
			l.asking.Add(c)
		}
	case history.Release:
		l.begin(in, c)
	case history.Change:
		asks := l.asking.Has(c)
		if c == 0 || e.Key != in.run.key || l.decided.Has(c) || in.reading.ofFormer(e) || !asks && (!in.reading.releasing.Has(c) || e.Before == e.After) {
			return
		}
		l.begin(in, c)
		l.decided.Add(c)
	case history.Enter, history.Refuse:
		if l.asking.Has(c) {
			l.end(in, c)
		}
	case history.Released:
		l.end(in, c)
	case history.Done, history.Crash:
		l.forget(c)
	}
}

// look looks once more at the clients whose calls are not decided.
func (l *lie) look(in *input) {
	for s := (l.had | l.lacked) &^ l.decided; s != 0; s &= s - 1 {
		if c := s.First(); in.holds(c, 0) {
			l.lacked.Remove(c)
		} else {
			l.had.Remove(c)
		}
	}
}

// lose is a change of the key: it takes a part of the lock from a client that is giving it
// back, unless that one did it.
func (l *lie) lose(in *input) {
	g := in.reading.grant[in.event.Node-1]
	if own := g.owner == client8(in.event.Client) && !in.reading.ofFormer(in.event); l.decided.Has(g.owner) && !g.gone && !own && in.event.Before != in.event.After {
		l.had.Remove(g.owner)
	}
}

// begin forgets what was before this moment.
func (l *lie) begin(in *input, c client8) {
	l.had.Remove(c)
	l.lacked.Remove(c)
	if in.holds(c, in.event.Lease) {
		l.had.Add(c)
	} else {
		l.lacked.Add(c)
	}
}

// end judges the answer to a call.
func (l *lie) end(in *input, c client8) {
	untrue := l.had.Has(c)
	switch release := !l.asking.Has(c); {
	case in.event.OK && release && !l.decided.Has(c):
		untrue = !in.holds(c, 0)
	case in.event.OK:
		untrue = l.lacked.Has(c)
	}
	if in.event.Claims && untrue && in.reading.keyChanged && in.run.room[c-1] == 1 {
		in.instant(Lie, int(c))
	}
	l.forget(c)
}

func (l *lie) forget(c client8) {
	l.asking.Remove(c)
	l.decided.Remove(c)
	l.had.Remove(c)
	l.lacked.Remove(c)
}
