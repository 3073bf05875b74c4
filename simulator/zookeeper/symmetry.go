package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	world "locklab/simulator/node"
)

// A search that treats clients as interchangeable needs an ensemble that does not depend on which
// is which: see [memo.Check].

// renamedEffect is an act with the clients renamed, whose effect is then known.
func (x *Executor) renamedEffect(a act, to *history.Names) (act, error) {
	b := x.renamedAct(a, to)
	if x.effects[b] == nil {
		x.effects[b] = x.run(b)
	}
	return b, nil
}

// renamedAct is an act with the clients renamed.
func (x *Executor) renamedAct(a act, to *history.Names) act {
	a.client = int8(to[a.client])
	a.contents = x.contents.Renamed(a.contents, to)
	switch {
	case a.kind.serves():
		a.arg = x.requests.Renamed(a.arg, to)
	case a.kind == ActConnect:
		a.arg = x.memories.Renamed(a.arg, to)
	}
	return a
}

// commute reports whether the effect of b, which is a renamed, is that of a, renamed.
func (x *Executor) commute(a, b act, to *history.Names) bool {
	p, q := x.effects[a], x.effects[b]
	if p.refused != q.refused || !x.contents.Same(p.to, q.to, to) {
		return false
	}
	if a.kind.answers() && !p.refused && !x.answers.Same(p.answer, q.answer, to) {
		return false
	}
	lines := func(a, b lineChange) bool {
		return to.Rename(a.key) == b.key && a.gone == b.gone && int8(to[a.owner]) == b.owner
	}
	fired := func(a, b firing) bool {
		return int8(to[a.client]) == b.client && to.Rename(a.path) == b.path && a.what == b.what
	}
	return sameSet(p.lines, q.lines, lines) && sameSet(p.fired, q.fired, fired)
}

// sameSet reports whether two lists without doubles hold the same.
func sameSet[E any](x, y []E, same func(a, b E) bool) bool {
	return len(x) == len(y) && !slices.ContainsFunc(x, func(a E) bool {
		return !slices.ContainsFunc(y, func(b E) bool { return same(a, b) })
	})
}

// actText returns the words for an act in an error message.
func (x *Executor) actText(a act) []string {
	if a.kind.serves() {
		return x.requests.At(a.arg).text
	}
	return []string{[...]string{ActNotify: "notify", ActCut: "disconnect", ActConnect: "connect", ActEnd: "end of a session"}[a.kind]}
}

// renamed is contents with the clients renamed: each has what the other had, but for the number of
// its session.
func (from contents) renamed(to *history.Names) contents {
	renamed := func(id SessionID) SessionID {
		if c := from.ofSession(id); c >= 0 && c < world.MaxClients {
			return from.peers[to[c+1]-1].session
		}
		return id // of before the run
	}
	s := codec.Replace(from, to.Rename)
	for i := range s.state.nodes {
		s.state.nodes[i].owner = renamed(s.state.nodes[i].owner)
	}
	slices.SortFunc(s.state.nodes, znode.compare)
	for i := range s.state.sessions {
		s.state.sessions[i] = renamed(s.state.sessions[i])
	}
	slices.Sort(s.state.sessions)
	for i := range s.state.watches {
		s.state.watches[i].session = renamed(s.state.watches[i].session)
	}
	slices.SortFunc(s.state.watches, watch.compare)
	sent := s.peers
	for c := range world.MaxClients {
		s.peers[to[c+1]-1].events = sent[c].events
	}
	return s
}

// sorted is an answer in which texts were replaced, with the children in the order in which an
// ensemble lists them.
func (a storedAnswer) sorted() storedAnswer {
	if len(a.reply.Children) > 0 {
		slices.SortFunc(a.reply.Children, byHash)
		a.text = replyText(Request{Op: GetChildren}, a.reply)
	}
	return a
}
