package verdict

import "locklab/simulator/history"

// WRONG-DEL: a command removed, replaced, prolonged or shortened a live grant that is not
// that of the lease under which it was sent, on any one node. Clients: the one that did it,
// the owner of the grant (the same one, if the grant is that of another lease of its own).
//
// A grant is live while its owner is acquiring the lock, has it, or gives it back. Rules:
//
//   - Ownership goes by lease, and not by client: a DEL that was sent under an old lease
//     and arrives under a new one deletes what it was not meant for, and so does a daemon
//     of the old lease that prolongs the new one. A client that enters on what an earlier
//     attempt left makes it the grant of its new lease. A value that two leases of one
//     client have made, one after the other without a gap, belongs to both (a reentrant
//     lock whose count goes on).
//   - A command that changes neither the value nor the time to live is no Change, and does
//     no wrong.
//   - A client may do what it likes with its lease's own grant, and with one that is left: of
//     a dead client, of a refused attempt, of a release that failed. Removing it
//     harms no client.
//   - The grant of a client that is still acquiring is live, though the client may
//     yet be refused for another reason: the server has granted it, and no other
//     client had a right to take it away.
//   - The owner is the client that made the value, whatever the value is. If tokens
//     are not unique, the comparison of a compare-and-delete succeeds on another
//     client's grant, and that is WRONG-DEL.
//   - A key without a time to live may belong to a lock that keeps its expiry as a
//     stamp in the value, TTL after the value was made. To replace the value at that
//     time or later is a takeover of a lapsed lease, as the protocol has it (if the
//     old holder is still inside, OVERLAP says so). To replace it earlier is wrong;
//     that includes the loser of a GETSET race, which overwrites the winner's fresh
//     stamp. To delete it is wrong at any age, because a delete cannot know what it
//     deletes: of two clients that both saw the lapsed stamp, the second deletes the
//     first one's grant. What a ZooKeeper holds has no stamp.
//   - To prolong is as wrong as to shorten: a daemon that outlives its lock and renews
//     whatever it finds keeps the next owner's key alive after that owner's death.
//   - Where several may hold the lock its key has what all of them have put there: whose it is
//     cannot be told, and nothing is judged. Of other locks a value may mean that the lock is free
//     ([history.History].Holder): the free token of a pool, or a record without an owner. It is no grant, and to
//     replace it, or to take it away, does no harm. A record that is written again with the same owner is the same
//     grant, whoever writes it. One without a time to live that names a new owner is a takeover at any age: how
//     long a record stands without a change is for the protocol to say, and OVERLAP says if that is wrong.
//   - Changes without a command (eviction, a restart without data, a failover) are no client's doing.
func wrongDel(in *input) {
	e := in.event
	if e.Kind != history.Change || e.Client == 0 || e.Key != in.run.Key || in.run.room(in.client()) != 1 {
		return
	}
	g := &in.reading.grant[e.Node-1]
	if g.owner == 0 || g.left || g.isOf(in.client(), e.Lease) || takesOver(in, g) {
		return
	}
	in.instant(WrongDel, e.Client, int(g.owner))
}

// takesOver reports whether the change replaces a stamp that has lapsed.
func takesOver(in *input, g *grant) bool {
	replaced := !in.turn.free && in.event.After != in.event.Before && g.forever
	if in.run.Holder != nil {
		return replaced && in.turn.made
	}
	return replaced && in.run.stamp() > 0 && in.at >= g.lapse
}
