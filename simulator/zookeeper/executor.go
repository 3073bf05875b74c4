package zookeeper

import (
	"cmp"
	"slices"
	"strings"

	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// An Executor computes what an ensemble does: it is a memo table, (contents, act) -> (contents,
// answer). An entry is computed by a State, once.
type Executor struct {
	config    Config
	memo      *memo.Memo
	creations bool // see Kind.CountCreations

	contents *memo.Table[string, contents]
	requests *memo.Table[wireRequest, storedRequest]
	answers  *memo.Table[string, storedAnswer]
	watches  *memo.Table[Watch, Watch]
	memories *memo.Table[string, memory]
	effects  memo.Map[act, *effect]
	checks   memo.Effects[act]
}

func newExecutor(config Config, m *memo.Memo) *Executor {
	x := &Executor{config: config, memo: m, effects: memo.NewMap[act, *effect](m)}
	m.Asymmetric = true
	const what = "limit.of.zookeeper"
	x.contents = memo.NewTable(m, memo.Entries[string, contents]{What: what, Key: codec.Key[contents],
		Fill: contents.lined, Map: contents.mapped})
	x.memories = memo.NewTable(m, memo.Entries[string, memory]{What: what, Key: codec.Key[memory], Map: memory.mapped, First: []memory{{}}})
	x.requests = memo.NewTable(m, memo.Entries[wireRequest, storedRequest]{What: what, Key: storedRequest.key,
		Fill: x.worded, Text: storedRequest.words})
	x.answers = memo.NewTable(m, memo.Entries[string, storedAnswer]{What: what, Key: codec.Key[storedAnswer],
		Text: storedAnswer.words, Map: storedAnswer.mapped, Sort: storedAnswer.sorted})
	x.watches = memo.NewTable(m, memo.Entries[Watch, Watch]{What: what, Key: Watch.key, Text: Watch.words})
	x.checks = memo.Effects[act]{Checked: func(a act) *memo.Checked { return &x.effects[a].checked }, Map: x.mapped,
		Commutes: x.commute, Named: x.named, Stamps: x.stamps, Text: x.actText}
	return x
}

// contents is an ensemble without time: what it holds, and what is on its way to
// the clients.
type contents struct {
	state State
	peers [maxSessions]peer
	lines []Line `codec:"derived"`
	// begun is the number of sessions that each client has begun on its connections.
	begun [world.MaxClients]uint16
}

// maxSessions is the number of sessions that clients may have at once. Session's are at the place
// of their client; those of code that opens connections are anywhere.
const maxSessions = 16

// A peer is one client to the ensemble, or one of its sessions.
type peer struct {
	session SessionID
	on      wireRef // its latest connection, if code opens them
	up      bool    // that stands
	// events are on their way to the client, in the order in which they were sent.
	// They reach it before whatever is sent later. They do not name the session.
	events []Event
}

// sentTo returns those of the events that are sent to a session.
func sentTo(id SessionID, fired []Event) (events []Event) {
	for _, e := range fired {
		if e.Session == id {
			events = append(events, Event{Type: e.Type, Path: e.Path})
		}
	}
	return events
}

// sessionEnded among the events is not sent by the ensemble: the client's library
// makes it of the refusal of its session.
const sessionEnded EventType = 0

func (p *peer) sessionEnded() bool {
	return slices.ContainsFunc(p.events, func(e Event) bool { return e.Type == sessionEnded })
}

// wireRequest is a request that a client has sent; on a connection, if code opens them.
type wireRequest struct {
	Request
	on     wireRef
	memory uint32 // opSetWatches
}

// storedRequest is one that a client has sent.
type storedRequest struct {
	wireRequest
	text []string `codec:"derived"` // as histories show it
}

// A storedAnswer is a message to a client: events, and behind them the reply
// to its request, if it waits for one.
type storedAnswer struct {
	events []Event
	reply  Reply
	text   string
	left   stamp // of what the request has left a watch on
}

// A memory holds what a client's library must know to connect again: the watches that have
// not fired, and which of them have missed something. That can be told by left, what each
// looked at when it was left, or by seen, the last transaction that the client has
// observed: a watch that has not fired had missed nothing then, because its event would
// have come first. A [Session] has left, and code that opens connections sends seen.
type memory struct {
	watches []Watch
	left    []stamp
	seen    int64
}

// last returns a transaction that the client has observed, and by which none of its watches had
// missed anything.
func (m *memory) last() (last int64) {
	for _, s := range m.left {
		last = max(last, s.created, s.changed)
	}
	return last
}

// act is one thing that an ensemble of certain contents may do, or that happens to
// it.
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
	ActServeBeside                // as ActServe, but events stay on their way: another thread of client may wait for them
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

// lineChange is one line whose first has become another.
type lineChange struct {
	key           string // what histories call it
	before, after string // names
	gone          bool   // the former first has left the line, and was not overtaken
	owner         int8   // client of the new one; 0: none, or of no client
}

// firing is a watch of a client that has fired.
type firing struct {
	client int8
	path   string
	what   string
}

// lined is s with its lines.
func (s contents) lined() contents {
	s.lines = s.state.Lines()
	return s
}

func (r storedRequest) key() wireRequest { return r.wireRequest }

func (r storedRequest) words() []string { return r.text }

// worded is r with its text.
func (x *Executor) worded(r storedRequest) storedRequest {
	r.text = requestText(r.Request)
	if r.Op == opSetWatches {
		for _, w := range x.memories.At(r.memory).watches {
			r.text = append(r.text, w.Path)
		}
	}
	return r
}

func (x *Executor) internRequest(r Request) uint32 {
	return x.internStored(wireRequest{Request: r})
}

func (x *Executor) internStored(r wireRequest) uint32 {
	return x.requests.ID(storedRequest{wireRequest: r})
}

func (w Watch) key() Watch { return w }

func (w Watch) words() []string { return []string{w.Path} }

func (a storedAnswer) words() []string { return []string{a.text} }

// The words of clients. A model that is not this ensemble needs them to ask what their code
// does: see simulator.Simulator.Follow.

// Asks returns the request of an operation.
func (x *Executor) Asks(o *process.Op) Request { return x.requests.At(o.Arg).Request }

// Watched returns the watch that an operation waits for.
func (x *Executor) Watched(o *process.Op) Watch { return *x.watches.At(o.Arg) }

// Tell numbers what reaches a client at once: events, of which an EventType of 0 is the end of
// its session, and behind them the reply to r, if r is not nil.
func (x *Executor) Tell(events []Event, r *Request, reply Reply) (answer uint32) {
	a := storedAnswer{events: events}
	if r != nil {
		slices.SortFunc(reply.Children, byHash)
		a.reply, a.text = known(*r, reply), replyText(*r, reply)
		if w, leaves := r.leaves(reply.Code); leaves {
			n := znode{czxid: reply.Stat.Czxid, mzxid: reply.Stat.Mzxid, pzxid: reply.Stat.Pzxid}
			a.left = n.stamp(w.Kind)
		}
	}
	return x.answers.ID(a)
}

// look finds out what an act does.
func (x *Executor) look(a act) *effect {
	eff := x.effects[a]
	if eff == nil || x.memo.Plain {
		eff = x.run(a)
		x.effects[a] = eff
	}
	if err := x.checks.Check(x.memo, a); err != nil {
		x.memo.Room.Exceeded = err
	}
	return eff
}

// run computes it. Everything that belongs to contents is shared: it is copied
// before it is changed.
func (x *Executor) run(a act) *effect {
	before := *x.contents.At(a.contents)
	s, eff := before, &effect{}
	if x.creations {
		s.state.zxid += anew
	}
	own := &s.peers[a.client-1]
	var fired []Event
	switch a.kind {
	case ActServe, ActServeOrphan, ActServeBeside:
		if x.config.Wires {
			fired = x.runOnWire(a, &s, own, eff)
			break
		}
		if fired = x.runRequest(a, &s, own, eff); eff.refused {
			return &effect{to: a.contents, refused: true}
		}
	case ActNotify:
		eff.answer = x.answers.ID(storedAnswer{events: own.events})
		own.events = nil
	case ActCut:
		s.state = s.state.Disconnect(own.session)
		own.lose()
		own.up = false
	case ActConnect:
		fired = x.runConnect(a, &s, own, eff)
	case ActEnd:
		var code Code
		s.state, code, fired = s.state.Close(own.session)
		eff.refused = code != OK
		own.lose()
		if x.config.Wires {
			*own = peer{}
		}
	}
	eff.fired = s.send(fired, a)
	if x.creations {
		s.state = s.state.countCreations(&before.state)
	}
	eff.to = x.contents.ID(s)
	eff.lines = x.lineChanges(&before, x.contents.At(eff.to))
	return eff
}

// runRequest runs a request of a client's library.
func (x *Executor) runRequest(a act, s *contents, own *peer, eff *effect) (fired []Event) {
	r := x.requests.At(a.arg).Request
	var reply Reply
	s.state, reply, fired = s.state.Apply(own.session, r)
	if eff.refused = reply.Code == SessionExpired; eff.refused {
		return nil
	}
	answer := storedAnswer{reply: known(r, reply), text: replyText(r, reply)}
	if w, leaves := r.leaves(reply.Code); leaves {
		answer.left = s.state.stamp(w)
	}
	switch a.kind {
	case ActServeOrphan: // its watch is left on a connection that is gone
		s.state = s.state.Disconnect(own.session)
		answer = storedAnswer{text: answer.text}
	case ActServe:
		answer.events = slices.Concat(own.events, sentTo(own.session, fired))
		own.events = nil
	}
	eff.answer = x.answers.ID(answer)
	return fired
}

// runConnect connects a client's library again, which begins another session if its own has ended.
func (x *Executor) runConnect(a act, s *contents, own *peer, eff *effect) (fired []Event) {
	m := *x.memories.At(a.arg)
	if own.sessionEnded() { // the library does not know yet that the watches are gone
		m = memory{}
	}
	var code Code
	missed := func(at int, is stamp) bool { return is != m.left[at] }
	s.state, code, fired = s.state.reconnect(own.session, m.watches, missed)
	if eff.refused = code != OK; eff.refused {
		own.events = []Event{{Type: sessionEnded}}
		last := own.session
		s.state, own.session = s.state.Connect()
		if x.creations {
			s.state, own.session = s.state.nameLast(last), last
		}
	}
	return fired
}

// send puts the events that an act has fired on their way, but for those that its answer brings to
// their client.
func (s *contents) send(fired []Event, a act) (of []firing) {
	for _, e := range fired {
		c := s.ofSession(e.Session)
		if c < 0 { // a session of before the run, of no client
			continue
		}
		of = append(of, firing{s.clientAt(c), e.Path, eventText(e.Type)})
		if p := &s.peers[c]; a.kind != ActServe || c+1 != int(a.client) {
			p.events = append(slices.Clip(p.events), Event{Type: e.Type, Path: e.Path})
		}
	}
	return of
}

// ofSession returns the place of a session among the peers; -1: it has none.
func (s *contents) ofSession(id SessionID) int {
	return slices.IndexFunc(s.peers[:], func(p peer) bool { return p.session == id })
}

// clientAt is the client at a place among the peers; 0: there is none.
func (s *contents) clientAt(at int) int8 {
	if at >= 0 && s.peers[at].on.client != 0 {
		return s.peers[at].on.client
	}
	return int8(at + 1)
}

// known returns the part of a reply that a client observes: see Session.Do.
func known(r Request, reply Reply) (t Reply) {
	t = Reply{Code: reply.Code, Path: reply.Path, Data: reply.Data, Children: reply.Children}
	if r.Op == Exists {
		t.Stat.Czxid = reply.Stat.Czxid
	}
	return t
}

// lose drops the events on a connection that breaks. The client's library knows that
// a session has ended, and that is not lost.
func (p *peer) lose() {
	ended := p.sessionEnded()
	p.events = nil
	if ended {
		p.events = []Event{{Type: sessionEnded}}
	}
}

// lineChanges lists the lines that have another first, in the order of their
// paths.
func (x *Executor) lineChanges(from, to *contents) (changes []lineChange) {
	path := func(l Line, path string) int { return cmp.Compare(l.Parent, path) }
	look := func(s *contents, parent string) (l Line) {
		if i, ok := slices.BinarySearchFunc(s.lines, parent, path); ok {
			l = s.lines[i]
		}
		return l
	}
	all := make([]string, 0, len(from.lines)+len(to.lines))
	for _, l := range slices.Concat(from.lines, to.lines) {
		all = append(all, l.Parent)
	}
	slices.Sort(all)
	for _, parent := range slices.Compact(all) {
		a, b := look(from, parent), look(to, parent)
		if a == b {
			continue
		}
		ch := lineChange{key: parent, before: a.First, after: b.First}
		if name, ok := x.config.Lines[parent]; ok {
			ch.key = name
		}
		ch.gone = a.First != "" && !slices.Contains(to.state.Paths(), strings.TrimSuffix(parent, "/")+"/"+a.First)
		if b.First != "" {
			ch.owner = to.clientAt(to.ofSession(b.Owner))
		}
		changes = append(changes, ch)
	}
	return changes
}

// endsWait reports whether the events hold what ends a wait for watch w.
func (p *peer) endsWait(w Watch) bool {
	return slices.ContainsFunc(p.events, func(e Event) bool { return ends(e, w) })
}

// ends reports whether event e is the end of watch w.
func ends(e Event, w Watch) bool {
	switch e.Type {
	case sessionEnded:
		return true
	case NodeDeleted:
		return e.Path == w.Path
	}
	return e.Path == w.Path && (e.Type == NodeChildrenChanged) == (w.Kind == WatchChildren)
}
