package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	world "locklab/simulator/node"
	"locklab/simulator/translate"
)

// mapped is an act in a translation, whose effect is then known.
func (x *Executor) mapped(a act, t *translate.Translation) (act, error) {
	b := a
	b.client, b.contents = t.Client(a.client), x.contents.Map(a.contents, t)
	switch {
	case a.kind.serves():
		b.arg = x.requests.Map(a.arg, t)
	case a.kind == ActConnect:
		b.arg = x.memories.Map(a.arg, t)
	}
	if x.effects[b] == nil {
		x.effects[b] = x.run(b)
	}
	return b, nil
}

// named are the clients that a request names, and the contents.
func (x *Executor) named(a act) (asked, kept history.ClientSet) {
	if a.kind.serves() {
		asked = x.requests.Named(a.arg)
	}
	return asked, x.contents.Named(a.contents)
}

// commute reports whether the effect of b, which is a in a translation, is that of a in it.
func (x *Executor) commute(a, b act, t *translate.Translation) bool {
	p, q := x.effects[a], x.effects[b]
	if p.refused != q.refused || !x.contents.Same(p.to, q.to, t) {
		return false
	}
	if a.kind.answers() && !p.refused && !x.answers.Same(p.answer, q.answer, t) {
		return false
	}
	lines := func(a, b lineChange) bool {
		return t.Text(a.key) == b.key && a.gone == b.gone && t.Client(a.owner) == b.owner
	}
	fired := func(a, b firing) bool {
		return t.Client(a.client) == b.client && t.Text(a.path) == b.path && a.what == b.what
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
	return []string{[...]string{
		ActNotify: "notify", ActCut: "disconnect", ActConnect: "connect", ActEnd: "end of a session",
	}[a.kind]}
}

// mapped is contents in a translation. Renamed clients have what the others had, but for their sessions' numbers.
//
// All numbers of an ensemble only grow: those of transactions, and those in the names of sequential znodes. What it
// does depends on their order: of two znodes with different czxids, of two children of one znode with different
// numbers, and of a znode now and when a watch was left on it. So with others in the same order it does the same, but
// for these. A session that begins in place of one that has ended has the number of that; see Kind.CountCreations,
// without which no number is another.
func (from contents) mapped(t *translate.Translation) contents {
	s := translate.Value(from, t)
	renamed := func(id SessionID) SessionID {
		if c := from.ofSession(id); c > 0 && c <= world.MaxClients {
			return from.at(t.Client(c)).session
		}
		return id // of before the run
	}
	s.state.zxid = t.Number(history.Creations, s.state.zxid, true)
	for i := range s.state.nodes {
		n := &s.state.nodes[i]
		n.owner = renamed(n.owner)
		n.czxid = t.Number(history.Creations, n.czxid, false)
		n.mzxid, n.pzxid = t.Number(history.Changes, n.mzxid, false), t.Number(history.Changes, n.pzxid, false)
		if n.creates > 0 {
			n.creates = int32(t.Number(history.Places, int64(n.creates-1), true)) + 1
		}
	}
	for i := range s.state.sessions {
		s.state.sessions[i] = renamed(s.state.sessions[i])
	}
	for i := range s.state.watches {
		s.state.watches[i].session = renamed(s.state.watches[i].session)
	}
	slices.SortFunc(s.state.nodes, znode.compare)
	slices.Sort(s.state.sessions)
	slices.SortFunc(s.state.watches, watch.compare)
	sent := s.peers
	for c := range int8(world.MaxClients) {
		s.at(t.Client(c + 1)).events = sent[c].events
	}
	return s
}

// sorted is an answer in which texts were replaced, with the children in the order in which an ensemble lists them.
func (a storedAnswer) sorted() storedAnswer {
	if len(a.reply.Children) > 0 {
		slices.SortFunc(a.reply.Children, byHash)
		a.text = replyText(Request{Op: GetChildren}, a.reply)
	}
	return a
}

// Numbers of transactions that only grow keep states apart that come to the same. Here
// they are counted anew, so that states recur: see Kind.CountCreations.

// anew is above the counted numbers. An act begins there, so that what it numbers can be told from what was there.
const anew = 1 << 40

// countCreations counts the numbers of s, which one act has made of before and whose znodes are its own, anew: a znode
// that the act has created has the next number, and mzxid and pzxid of every znode say how often they have changed
// since then. One act creates at most one znode.
func (s *State) countCreations(before *State) {
	s.zxid = before.zxid
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.czxid > anew {
			s.zxid++
			n.czxid, n.mzxid, n.pzxid = s.zxid, 0, 0
			continue
		}
		at, _ := before.find(n.path)
		if n.mzxid > anew {
			n.mzxid = before.nodes[at].mzxid + 1
		}
		if n.pzxid > anew {
			n.pzxid = before.nodes[at].pzxid + 1
		}
	}
}

// nameLast calls the newest session, which has nothing yet, id, which no other session is called.
func (c *change) nameLast(id SessionID) {
	c.newest--
	c.sessions = c.sessions[:len(c.sessions)-1]
	at, _ := c.session(id)
	c.sessions = slices.Insert(c.sessions, at, id)
}

// mapped is an answer in a translation, before its children are in order.
func (from storedAnswer) mapped(t *translate.Translation) storedAnswer {
	a := translate.Value(from, t)
	a.left = a.left.mapped(t)
	if czxid := &a.reply.Stat.Czxid; *czxid != 0 && t.Count != nil {
		*czxid = t.Number(history.Creations, *czxid, false)
		a.text = replyText(Request{Op: Exists}, a.reply)
	}
	return a
}

// mapped is a memory in a translation.
func (from memory) mapped(t *translate.Translation) memory {
	m := translate.Value(from, t)
	for i := range m.left {
		m.left[i] = m.left[i].mapped(t)
	}
	return m
}

func (s stamp) mapped(t *translate.Translation) stamp {
	return stamp{t.Number(history.Creations, s.created, false), t.Number(history.Changes, s.changed, false)}
}
