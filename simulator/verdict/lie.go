package verdict

import "locklab/simulator/history"

// LIE: the lock told its client falsely that the lock is still its own, or that it is not. Clients: the one told.
//
// Three calls make such a statement (an event with Claims): a release (Release to Released), a renewal and a check (an
// Acquire with a Note, to the Enter or Refuse that answers it). An answer that the outcome is unknown states nothing.
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
// "Not yours" is not false either if the client lost a part of the lock later in the call, but not by its own command:
// of a majority, one server's key may expire while it deletes the others.
//
// So a transaction that fails because the key expired after it was watched, and counts as a release, has lied; so has a
// GET-then-DEL that found its own token, slept through the expiry, deleted the next owner's key and reported success;
// and so has a release that removed the client's own key by a request whose answer was lost, asked again, and reported
// "not held". A quorum release is judged before it deletes its own majority. A renewal that makes the key anew where it
// was gone has lied, because the lock was lost before.
//
// The client has the lock if the key is the grant of the call's lease on a quorum of nodes. A stamp that has lapsed but
// that no client took over is still its own. If the key never changed at all, the lock does not live on it (sessions,
// queues of nodes), and nothing can be said; nor of a lock that lets several in, where only the first owns the key.
//
// Any other Enter or Refuse states nothing about the client's own lease: a false Enter is OVERLAP.
//
// Of a client in a call the facts asking, decided, had and lacked are kept.
func lie(in *input) {
	e, me := in.event, in.me()
	look(in)
	if in.ofKey() {
		lose(in)
	}
	switch e.Kind {
	case history.Acquire:
		if e.Note != "" {
			begin(in)
			me.set(asking)
		}
	case history.Release:
		begin(in)
	case history.Change:
		calls := me.is(asking) || me.is(releasing) && in.turn.made
		if in.ofKey() && calls && !me.is(decided) && !in.reading.ofFormer(e) {
			begin(in)
			me.set(decided)
		}
	case history.Enter, history.Refuse:
		if me.is(asking) {
			answer(in)
		}
	case history.Released:
		answer(in)
	case history.Done, history.Crash:
		me.unset(ofCall)
	}
}

// look looks once more at the clients whose calls are not decided.
func look(in *input) {
	for s := in.reading.those(had|lacked) &^ in.reading.those(decided); s != 0; s &= s - 1 {
		untrue := had
		if in.holds(s.First(), 0) {
			untrue = lacked
		}
		in.reading.clients[s.First()-1].unset(untrue)
	}
}

// lose is a change of the key: it takes a part of the lock from a client that gives it back, unless that one did it.
func lose(in *input) {
	g := in.reading.grant[in.event.Node-1]
	own := g.owner == in.client() && !in.reading.ofFormer(in.event)
	if in.reading.those(decided).Has(g.owner) && !g.gone && !own && in.turn.made {
		in.reading.clients[g.owner-1].unset(had)
	}
}

// begin forgets what was before this moment.
func begin(in *input) {
	now := lacked
	if in.holds(in.client(), in.event.Lease) {
		now = had
	}
	in.me().turn(had|lacked, now)
}

// answer judges the answer to a call.
func answer(in *input) {
	me := in.me()
	untrue := me.is(had)
	switch release := !me.is(asking); {
	case in.event.OK && release && !me.is(decided):
		untrue = !in.holds(in.client(), 0)
	case in.event.OK:
		untrue = me.is(lacked)
	}
	if in.event.Claims && untrue && in.reading.keyChanged && in.run.room(in.client()) == 1 {
		in.instant(Lie, in.event.Client)
	}
	me.unset(ofCall)
}
