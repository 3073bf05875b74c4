package zookeeper

import (
	"slices"

	world "locklab/simulator/node"
)

// A search that treats clients as interchangeable needs an ensemble that does not depend on
// which is which: if the clients change places in the contents and in an act, the new contents
// and the answer are the same, renamed. Every effect is checked when it is used for the first
// time, in all its renamed forms, as package redisnode does it.

// Alike has every effect checked from now on: that so many clients, from the first, are
// interchangeable. Where they are not, the step ends with an *AsymmetricError. Below 2 nothing
// is checked.
func (k *Kind) Alike(clients int) { k.alike = uint8(clients) }

// interchange checks all renamed forms of an act.
func (k *Kind) interchange(a act) {
	orbit := []act{a}
	k.effects[a].alike = k.alike
	for i := 0; i < len(orbit); i++ {
		x := orbit[i]
		for c := uint8(1); c < k.alike; c++ {
			swap := world.Swap(c, c+1)
			y := k.renamedAct(x, swap)
			eff := k.effects[y]
			if eff == nil {
				eff = k.run(y)
				k.effects[y] = eff
			}
			if !k.commutes(x.kind, k.effects[x], eff, swap) {
				for _, z := range orbit { // the next search must find that again
					k.effects[z].alike = 0
				}
				k.room.Exceeded = &world.AsymmetricError{Command: k.actText(x)}
				return
			}
			if eff.alike < k.alike {
				eff.alike = k.alike
				orbit = append(orbit, y)
			}
		}
	}
}

// renamedAct is an act with the clients renamed.
func (k *Kind) renamedAct(a act, to *world.Names) act {
	a.contents, a.client = k.renameContents(a.contents, to), int8(to[a.client])
	switch {
	case a.kind.serves():
		a.arg, _ = k.RenameRequest(a.arg, to)
	case a.kind == actConnect:
		a.arg = k.RenameMemory(a.arg, to)
	}
	return a
}

// commutes says whether y, the effect of a renamed act, is x, that of the act, renamed.
func (k *Kind) commutes(kind actKind, x, y *effect, to *world.Names) bool {
	if x.refused != y.refused || k.renameContents(x.to, to) != y.to {
		return false
	}
	if kind.answers() && !x.refused && k.RenameAnswer(x.answer, to) != y.answer {
		return false
	}
	lines := func(a, b lineChange) bool {
		return to.Rename(a.key) == b.key && a.gone == b.gone && int8(to[a.owner]) == b.owner
	}
	fired := func(a, b firing) bool {
		return int8(to[a.client]) == b.client && to.Rename(a.path) == b.path && a.what == b.what
	}
	return sameSet(x.lines, y.lines, lines) && sameSet(x.fired, y.fired, fired)
}

// sameSet says whether two lists without doubles hold the same.
func sameSet[E any](x, y []E, same func(a, b E) bool) bool {
	return len(x) == len(y) && !slices.ContainsFunc(x, func(a E) bool {
		return !slices.ContainsFunc(y, func(b E) bool { return same(a, b) })
	})
}

// actText is what an act is called in an error message.
func (k *Kind) actText(a act) []string {
	if a.kind.serves() {
		return k.requests[a.arg].text
	}
	return []string{[...]string{actNotify: "notify", actCut: "disconnect", actConnect: "connect", actEnd: "end of a session"}[a.kind]}
}
