package verdict

import "locklab/simulator/history"

// WRONG-DEL: a command of one client removed, replaced, prolonged or shortened
// a live grant of another, on any one node. Clients: who did it, whose grant it
// was.
//
// A grant is live while its owner is asking for the lock or has it, or is
// giving it back. Choices:
//
//   - What a client does with its own grant is its own affair, and so is a
//     grant that is left: of a dead client, of a refused attempt, of a release
//     that went wrong. Clearing such a thing away hurts nobody.
//   - The grant of a client that is still acquiring is live, though it may yet
//     be refused for another reason: the server has said yes, and whoever takes
//     that away had no right to.
//   - Ownership goes by who made the value, not by what it is. With a token
//     that is not unique, the "compare" of compare-and-delete succeeds on
//     somebody else's grant, and that is WRONG-DEL.
//   - A key without a time to live may be a lock that carries its expiry as a
//     stamp in its value, and the lease asked for is what the stamp promises.
//     Replacing the value at TTL or later after it was made is then a takeover
//     of a lapsed lease, as the protocol has it (if the old holder is still
//     inside, OVERLAP says so). Before that it is wrong: that is also the loser
//     of a GETSET race, who overwrites the winner's fresh stamp. Deleting is
//     wrong at any age, for a delete cannot know what it hits: of two clients
//     that both saw the lapsed stamp, the second deletes the first one's grant.
//   - A prolonging is as wrong as a shortening: a daemon that outlives its lock
//     and renews whatever it finds keeps the next owner's key alive after that
//     owner's death.
//   - What happens to data without a command (eviction, a wiped restart, a
//     failover) is nobody's doing.
type wrongDel struct{}

func (wrongDel) observe(h *hearing) {
	e := h.e
	if e.Kind != history.Change || e.Client == 0 || e.Key != h.c.key {
		return
	}
	n := e.Node - 1
	g := h.f.grant[n]
	if g.owner == 0 || g.left || g.owner == client8(e.Client) || takesOver(h, n) {
		return
	}
	h.instant(WrongDel, e.Client, int(g.owner))
}

// takesOver says whether the change replaces a stamp that has lapsed.
func takesOver(h *hearing, n int) bool {
	replaced := h.e.After != "" && h.e.After != h.e.Before
	return replaced && h.f.grant[n].forever && h.c.ttl > 0 && h.at >= h.f.lapse[n]
}
