package zookeeper

import (
	"slices"

	world "locklab/simulator/node"
)

// A search that treats clients as interchangeable needs an ensemble that does not depend on which
// is which: see [memo.Check].

// renamedEffect is an act with the clients renamed, whose effect is then known.
func (k *Kind) renamedEffect(a act, to *world.Names) (act, error) {
	b, err := k.renamedAct(a, to)
	if err == nil && k.effects[b] == nil {
		k.effects[b] = k.run(b)
	}
	return b, err
}

// renamedAct is an act with the clients renamed.
func (k *Kind) renamedAct(a act, to *world.Names) (_ act, err error) {
	a.client = int8(to[a.client])
	if a.contents, err = k.contents.Renamed(a.contents, to); err != nil {
		return a, err
	}
	switch {
	case a.kind.serves():
		a.arg, err = k.requests.Renamed(a.arg, to)
	case a.kind == actConnect:
		a.arg, err = k.memories.Renamed(a.arg, to)
	}
	return a, err
}

// commute reports whether the effect of b, which is a renamed, is that of a, renamed.
func (k *Kind) commute(a, b act, to *world.Names) bool {
	x, y := k.effects[a], k.effects[b]
	if x.refused != y.refused || !k.contents.Same(x.to, y.to, to) {
		return false
	}
	if a.kind.answers() && !x.refused && !k.answers.Same(x.answer, y.answer, to) {
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
		return k.requests.At(a.arg).text
	}
	return []string{[...]string{actNotify: "notify", actCut: "disconnect", actConnect: "connect", actEnd: "end of a session"}[a.kind]}
}
