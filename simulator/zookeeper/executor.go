package zookeeper

import (
	"slices"

	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
)

// An Executor is an ensemble's memo table, (contents, act) -> (contents, answer). A State computes an entry, once.
type Executor struct {
	config    Config
	memo      *memo.Memo
	creations bool // see Kind.CountCreations

	contents *memo.Table[string, contents]
	requests *memo.Table[wireRequest, storedRequest]
	answers  *memo.Table[string, storedAnswer]
	watches  *memo.Table[Watch, Watch]
	memories *memo.Table[string, memory]
	effects  intern.Map[act, *effect]
	checks   memo.Effects[act]
}

func newExecutor(config Config, m *memo.Memo) *Executor {
	x := &Executor{config: config, memo: m, effects: memo.NewMap[act, *effect](m)}
	m.Asymmetric = true
	const what = "limit.of.zookeeper"
	x.contents = memo.NewTable(m, memo.Entries[string, contents]{
		What: what, Key: codec.Key[contents], Fill: contents.lined, Map: contents.mapped,
	})
	x.memories = memo.NewTable(m, memo.Entries[string, memory]{
		What: what, Key: codec.Key[memory], Map: memory.mapped, First: []memory{{}},
	})
	x.requests = memo.NewTable(m, memo.Entries[wireRequest, storedRequest]{
		What: what, Fill: x.worded,
		Key:  func(r storedRequest) wireRequest { return r.wireRequest },
		Text: func(r storedRequest) []string { return r.text },
	})
	x.answers = memo.NewTable(m, memo.Entries[string, storedAnswer]{
		What: what, Key: codec.Key[storedAnswer], Map: storedAnswer.mapped, Sort: storedAnswer.sorted,
		Text: func(a storedAnswer) []string { return []string{a.text} },
	})
	x.watches = memo.NewTable(m, memo.Entries[Watch, Watch]{
		What: what,
		Key:  func(w Watch) Watch { return w },
		Text: func(w Watch) []string { return []string{w.Path} },
	})
	x.checks = memo.Effects[act]{
		Checked: func(a act) *memo.Checked { return &x.effects[a].checked },
		Stamps:  func(act) (asked, kept clock.Stamps) { return clock.NoStamps, clock.NoStamps }, // none could be moved
		Map:     x.mapped, Commutes: x.commute, Named: x.named, Text: x.actText,
	}
	return x
}

// act is one thing that an ensemble of certain contents may do, or that happens to it.
type act struct {
	contents uint32
	arg      uint32
	kind     ActKind
	client   int8 // its place among the peers, from 1
}

// An ActKind is what an ensemble does.
type ActKind uint8

const (
	ActServe       ActKind = iota // request arg of client
	ActServeOrphan                // the same, on a connection that has broken
	ActNotify                     // the events for client reach it
	ActCut                        // client's connection breaks
	ActConnect                    // client connects again, with memory arg
	ActEnd                        // client's session ends
	ActServeBeside                // as ActServe, but events stay in flight: another thread of client may wait for them
)

// answers reports whether the answer of such an act reaches the client.
func (a ActKind) answers() bool { return a == ActServe || a == ActServeBeside || a == ActNotify }

// serves reports whether such an act runs a request.
func (a ActKind) serves() bool { return a == ActServe || a == ActServeOrphan || a == ActServeBeside }

// An effect is the result of an act on the contents.
type effect struct {
	to      uint32
	answer  uint32
	refused bool // the session has ended before
	lines   []lineChange
	fired   []firing
	checked memo.Checked
}

// firing is a watch of a client that has fired.
type firing struct {
	client int8
	path   string
	what   string
}

// look finds out what an act does.
func (x *Executor) look(a act) *effect {
	eff := x.effects[a]
	if eff == nil || x.memo.Plain {
		eff = x.run(a)
		x.effects[a] = eff
	}
	if err := x.checks.Check(x.memo, a); err != nil {
		x.memo.Room.Note(err)
	}
	return eff
}

// run computes it.
func (x *Executor) run(a act) *effect {
	before := *x.contents.At(a.contents)
	s, c, eff := before, before.state.change(), &effect{}
	if x.creations {
		c.zxid += anew
	}
	switch own := s.at(a.client); a.kind {
	case ActServe, ActServeOrphan, ActServeBeside:
		if eff.answer, eff.refused = x.serve(a, &s, c); eff.refused {
			return &effect{to: a.contents, refused: true}
		}
	case ActNotify:
		eff.answer = x.answers.ID(storedAnswer{events: own.events})
		own.events = nil
	case ActCut:
		c.disconnect(own.session)
		own.lose()
		own.up = false
	case ActConnect:
		eff.refused = !x.connect(a, own, c)
	case ActEnd:
		eff.refused = c.close(own.session) != OK
		own.lose()
		if x.config.Wires {
			*own = peer{}
		}
	}
	eff.fired = s.send(c.fired, a)
	if s.state = c.State; x.creations {
		s.state.countCreations(&before.state)
	}
	eff.to = x.contents.ID(s)
	eff.lines = x.lineChanges(&before, x.contents.At(eff.to))
	return eff
}

// serve runs a request of a client's library, or one on a connection. A library's is refused if its session has ended.
func (x *Executor) serve(a act, s *contents, c *change) (answer uint32, refused bool) {
	q, own, wires := x.requests.At(a.arg), s.at(a.client), x.config.Wires
	if wires && own.session == 0 {
		c.State, own.session = c.Connect()
		s.begun[q.on.client-1] = q.on.session
	}
	id, reply := own.session, Reply{}
	switch q.Op {
	case opConnect, opHangUp:
		c.disconnect(id)
		own.lose()
	case opSetWatches:
		m := x.memories.At(q.memory)
		c.handIn(id, m.watches, since(m.seen))
	case opClose:
		c.close(id)
	default:
		if reply = c.apply(id, q.Request); reply.Code == SessionExpired {
			return 0, true
		}
	}
	sent := answerTo(q.Request, reply)
	if wires {
		sent.reply, sent.left = s.onWire(q.Request, reply), stamp{}
	}
	switch a.kind {
	case ActServeOrphan: // its watch is left on a connection that is gone
		c.disconnect(id)
		own.lose()
		sent = storedAnswer{text: sent.text}
	case ActServe:
		sent.events = slices.Concat(own.events, sentTo(id, c.fired))
		own.events = nil
	}
	switch {
	case q.Op == opClose:
		*own = peer{}
	case wires:
		own.on, own.up = q.on, a.kind == ActServe && q.Op != opHangUp
	}
	return x.answers.ID(sent), false
}

// connect connects a client's library again. If its session has ended, it begins another one, and alive is false.
func (x *Executor) connect(a act, own *peer, c *change) (alive bool) {
	last, m := own.session, *x.memories.At(a.arg)
	if own.sessionEnded() { // the library does not know yet that the watches are gone
		m = memory{}
	}
	if c.Alive(last) {
		c.disconnect(last) // whatever the old connection had left is gone
		c.handIn(last, m.watches, func(at int, is stamp) bool { return is != m.left[at] })
		return true
	}
	own.events = []Event{{Type: sessionEnded}}
	c.State, own.session = c.Connect()
	if x.creations {
		c.nameLast(last)
		own.session = last
	}
	return false
}
