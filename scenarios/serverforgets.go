package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// What races share in which a server loses the lock.

// holderAndRival are the clients: c2 writes before c1 does and is inside when c1 leaves.
func holderAndRival(s settings) clients {
	return clients{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL * 2 / 5}}
}

// forgottenInside reports whether a server lost c1's lock while c1 was inside, and another
// client asked for it then.
func forgottenInside(h *history.History) bool {
	return race.InOrder(h, c1Enters, race.LosesKey, race.OthersSend(1), c1Leaves)
}
