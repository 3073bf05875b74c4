package zookeeper

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// A Config is the settings of an ensemble. They have been checked.
type Config struct {
	Session time.Duration     // the time-out of the clients' sessions, on the ensemble's clock
	Znodes  State             // what it holds at the start; the zero State is only a root
	Lines   map[string]string // what histories call the znodes at which clients queue; others go by their paths
	Clock   clock.State       // at the start
	// Wires says that the code of clients opens connections, and sessions on them. Else
	// each has a [Session] from the start.
	Wires bool
}

var (
	_ world.Kind       = (*Kind)(nil)
	_ world.Sessions   = (*Kind)(nil)
	_ world.Patient    = (*Kind)(nil)
	_ world.Dialer     = (*Kind)(nil)
	_ world.Timekeeper = (*Kind)(nil)
)

// A Kind is the ensemble of a simulator: a memo table of what it does, (contents,
// act) -> (contents, answer). An entry is computed by a State, once.
type Kind struct {
	// Real does what the ensemble does on a real one; nil: there is none. To be set before the
	// first world.
	Real Real

	config    Config
	memo      *memo.Memo
	creations bool          // see CountCreations
	asked     time.Duration // see Asked

	contents *memo.Table[string, contents]
	requests *memo.Table[wireRequest, storedRequest]
	answers  *memo.Table[string, storedAnswer]
	watches  *memo.Table[Watch, Watch]
	memories *memo.Table[string, memory]
	effects  memo.Map[act, *effect]
	orbit    memo.Orbit[act]
	group    world.Group[EnsembleState]
}

// contents is an ensemble without time: what it holds, and what is on its way to
// the clients.
type contents struct {
	state State
	peers [maxSessions]peer
	lines []Line
	// begun is how many sessions each client has begun on its connections.
	begun [world.MaxClients]uint16
}

// maxSessions is how many sessions clients may have at once. Session's are at the place
// of their client; those of code that opens connections are anywhere.
const maxSessions = 16

// peer is what the ensemble has to do with one client, or with one of its sessions.
type peer struct {
	session SessionID
	on      wireRef // its latest connection, if code opens them
	up      bool    // that stands
	// events are on their way to the client, in the order in which they were sent.
	// They reach it before whatever is sent later.
	events []Event
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
	text []string // as histories show it
}

// storedAnswer is what reaches a client at once: events, and behind them the reply
// to its request, if it waits for one.
type storedAnswer struct {
	events []Event
	reply  Reply
	text   string
	left   stamp // of what the request has left a watch on
}

// memory is what a client's library must know to connect again: the watches that have
// not fired, and which of them have missed something. That can be told by left, what each
// looked at when it was left, or by seen, the last transaction of which the client has
// heard: a watch that has not fired had missed nothing then, because its event would
// have come first. A [Session] has left, and code that opens connections tells seen.
type memory struct {
	watches []Watch
	left    []stamp
	seen    int64
}

// last is a transaction that the client has heard of, and by which none of its watches had
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
	kind     actKind
	client   int8 // its place among the peers, from 1
}

type actKind uint8

const (
	actServe       actKind = iota // request arg of client
	actServeOrphan                // the same, on a connection that has broken
	actNotify                     // the events for client reach it
	actCut                        // client's connection breaks
	actConnect                    // client connects again, with memory arg
	actEnd                        // client's session ends
	actServeBeside                // as actServe, but events stay on their way: another thread of client may wait for them
)

// answers says whether what such an act answers reaches the client.
func (a actKind) answers() bool { return a == actServe || a == actServeBeside || a == actNotify }

// serves says whether such an act runs a request.
func (a actKind) serves() bool { return a == actServe || a == actServeOrphan || a == actServeBeside }

// effect is what an act does to the contents.
type effect struct {
	to      uint32
	answer  uint32
	refused bool // the session has ended before
	lines   []lineChange
	fired   []firing
	alike   uint8 // so many clients, from the first, were found interchangeable; see Kind.Alike
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

// NewKind makes the ensemble of a simulator.
func NewKind(config Config, m *memo.Memo) *Kind {
	if len(config.Znodes.Paths()) == 0 {
		config.Znodes = New()
	}
	k := &Kind{config: config, memo: m, effects: memo.NewMap[act, *effect](m)}
	m.Asymmetric = true
	const what = "limit.of.zookeeper"
	k.contents = memo.NewTable(m, memo.Entries[string, contents]{What: what, Key: k.contentsKey, Fill: contents.lined, Rename: contents.renamed})
	k.memories = memo.NewTable(m, memo.Entries[string, memory]{What: what, Key: memory.key, Rename: memory.renamed, First: []memory{{}}})
	k.requests = memo.NewTable(m, memo.Entries[wireRequest, storedRequest]{What: what, Key: storedRequest.key, Fill: k.worded, Text: storedRequest.words, Rename: storedRequest.renamed})
	k.answers = memo.NewTable(m, memo.Entries[string, storedAnswer]{What: what, Key: storedAnswer.key, Text: storedAnswer.words, Rename: storedAnswer.renamed, Names: storedAnswer.named})
	k.watches = memo.NewTable(m, memo.Entries[Watch, Watch]{What: what, Key: Watch.key, Text: Watch.words, Rename: Watch.renamed})
	k.orbit = memo.Orbit[act]{Checked: func(a act) *uint8 { return &k.effects[a].alike }, Renamed: k.renamedEffect, Commutes: k.commute, Text: k.actText}
	return k
}

// CountCreations has the ensemble count transactions anew from now on: a transaction that creates a znode has the next number, others have none, and a client
// that begins another session has the former number of a session again. A znode's czxid
// still says which of two was created first, and no client learns of any other number. So
// contents recur that hold the same but for their past. Code that opens connections
// learns of all numbers, and nothing is counted anew for that.
//
// Where sessions are numbered as they begin, or code opens them, their numbers tell clients apart.
func (k *Kind) CountCreations(on bool) {
	k.creations = on && !k.config.Wires
	k.memo.Asymmetric = !k.creations
}

func (k *Kind) contentsKey(s contents) string {
	key := s.state.AppendKey(nil, 0)
	for c := range s.peers {
		key = binary.AppendVarint(key, int64(s.peers[c].session))
		key = appendEvents(key, s.peers[c].events)
		if on := s.peers[c].on; k.config.Wires {
			key = append(key, byte(on.client))
			key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(on.session)), uint64(on.conn))
			key = strconv.AppendBool(key, s.peers[c].up)
		}
	}
	for c := range s.begun {
		key = binary.AppendUvarint(key, uint64(s.begun[c]))
	}
	return string(key)
}

// lined is s with its lines.
func (s contents) lined() contents {
	s.lines = s.state.Lines()
	return s
}

func appendEvents(key []byte, events []Event) []byte {
	key = binary.AppendUvarint(key, uint64(len(events)))
	for _, e := range events {
		key = table.AppendText(binary.AppendVarint(key, int64(e.Type)), e.Path)
	}
	return key
}

func (r storedRequest) key() wireRequest { return r.wireRequest }

func (r storedRequest) words() []string { return r.text }

// worded is r with its text.
func (k *Kind) worded(r storedRequest) storedRequest {
	r.text = requestText(r.Request)
	if r.Op == opSetWatches {
		for _, w := range k.memories.At(r.memory).watches {
			r.text = append(r.text, w.Path)
		}
	}
	return r
}

func (k *Kind) internRequest(r Request) uint32 {
	return k.internStored(wireRequest{Request: r})
}

func (k *Kind) internStored(r wireRequest) uint32 {
	return k.requests.ID(storedRequest{wireRequest: r})
}

func (w Watch) key() Watch { return w }

func (w Watch) words() []string { return []string{w.Path} }

func (m memory) key() string {
	key := binary.AppendVarint(nil, m.seen)
	for _, w := range m.watches {
		key = table.AppendText(binary.AppendVarint(key, int64(w.Kind)), w.Path)
	}
	for _, s := range m.left {
		key = binary.AppendVarint(binary.AppendVarint(key, s.created), s.changed)
	}
	return string(key)
}

func (a storedAnswer) words() []string { return []string{a.text} }

func (a storedAnswer) key() string {
	r := a.reply
	key := table.AppendText(appendEvents(nil, a.events), a.text)
	key = binary.AppendVarint(binary.AppendVarint(key, int64(r.Code)), r.Zxid)
	key = binary.AppendUvarint(table.AppendText(table.AppendText(key, r.Path), r.Data), uint64(len(r.Children)))
	for _, c := range r.Children {
		key = table.AppendText(key, c)
	}
	return string(fmt.Append(key, r.Stat, a.left)) // numbers only
}

// Words is what clients and the ensemble exchange, and what the clients' libraries remember.
func (k *Kind) Words() world.Words {
	return world.Words{Requests: k.requests, Watches: k.watches, Answers: k.answers, Memories: k.memories}
}

// The words of clients. A model that is not this ensemble needs them to ask what their code
// does: see simulator.Simulator.Follow.

// Asks is what a request asks for.
func (k *Kind) Asks(o *process.Op) Request { return k.requests.At(o.Arg).Request }

// Watched is the watch that is waited for.
func (k *Kind) Watched(o *process.Op) Watch { return *k.watches.At(o.Arg) }

// Tell numbers what reaches a client at once: events, of which an EventType of 0 is the end of
// its session, and behind them the reply to r, if r is not nil.
func (k *Kind) Tell(events []Event, r *Request, reply Reply) (answer uint32) {
	a := storedAnswer{events: events}
	if r != nil {
		slices.SortFunc(reply.Children, byHash)
		a.reply, a.text = known(*r, reply), replyText(*r, reply)
		if w, leaves := r.leaves(reply.Code); leaves {
			n := znode{czxid: reply.Stat.Czxid, mzxid: reply.Stat.Mzxid, pzxid: reply.Stat.Pzxid}
			a.left = n.stamp(w.Kind)
		}
	}
	return k.answers.ID(a)
}

// look finds out what an act does.
func (k *Kind) look(a act) *effect {
	eff := k.effects[a]
	if eff == nil || k.memo.Plain {
		eff = k.run(a)
		k.effects[a] = eff
	}
	if eff.alike < k.memo.Alike {
		if err := memo.Check(k.memo, a, &k.orbit); err != nil {
			k.memo.Room.Exceeded = err
		}
	}
	return eff
}

// run computes it. Everything that belongs to contents is shared: it is copied
// before it is changed.
func (k *Kind) run(a act) *effect {
	before := *k.contents.At(a.contents)
	s, eff := before, &effect{}
	if k.creations {
		s.state.zxid += anew
	}
	own := &s.peers[a.client-1]
	var fired []Event
	switch a.kind {
	case actServe, actServeOrphan, actServeBeside:
		if k.config.Wires {
			fired = k.runOnWire(a, &s, own, eff)
			break
		}
		r := k.requests.At(a.arg).Request
		var reply Reply
		s.state, reply, fired = s.state.Apply(0, own.session, r)
		if eff.refused = reply.Code == SessionExpired; eff.refused {
			return &effect{to: a.contents, refused: true}
		}
		if a.kind == actServeOrphan { // its watch is left on a connection that is gone
			s.state = s.state.Disconnect(own.session)
			eff.answer = k.answers.ID(storedAnswer{text: replyText(r, reply)})
			break
		}
		answer := storedAnswer{reply: known(r, reply), text: replyText(r, reply)}
		if w, leaves := r.leaves(reply.Code); leaves {
			answer.left = s.state.stamp(w)
		}
		if a.kind == actServe {
			answer.events = slices.Clone(own.events)
			for _, e := range fired {
				if e.Session == own.session {
					answer.events = append(answer.events, e)
				}
			}
			own.events = nil
		}
		eff.answer = k.answers.ID(answer)
	case actNotify:
		eff.answer = k.answers.ID(storedAnswer{events: own.events})
		own.events = nil
	case actCut:
		s.state = s.state.Disconnect(own.session)
		own.lose()
		own.up = false
	case actConnect:
		m := *k.memories.At(a.arg)
		if own.sessionEnded() { // the library does not know yet that the watches are gone
			m = memory{}
		}
		var code Code
		s.state, code, fired = s.state.reconnect(0, own.session, m.watches, func(at int, is stamp) bool { return is != m.left[at] })
		if eff.refused = code != OK; eff.refused {
			own.events = []Event{{Type: sessionEnded}}
			last := own.session
			s.state, own.session = s.state.Connect(0, k.config.Session)
			if k.creations {
				s.state, own.session = s.state.nameLast(last), last
			}
		}
	case actEnd:
		var code Code
		s.state, code, fired = s.state.Close(own.session)
		eff.refused = code != OK
		own.lose()
		if k.config.Wires {
			*own = peer{}
		}
	}
	for _, e := range fired {
		c := s.ofSession(e.Session)
		if c < 0 { // a session of before the run, of no client
			continue
		}
		eff.fired = append(eff.fired, firing{s.clientAt(c), e.Path, eventText(e.Type)})
		if p := &s.peers[c]; a.kind != actServe || c+1 != int(a.client) {
			p.events = append(slices.Clip(p.events), e)
		}
	}
	if k.creations {
		s.state = s.state.countCreations(&before.state)
	}
	eff.to = k.contents.ID(s)
	eff.lines = k.lineChanges(&before, k.contents.At(eff.to))
	return eff
}

// ofSession is the place of a session among the peers; -1: it is nobody's.
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

// known is what of a reply a client is told: see Session.Do.
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
func (k *Kind) lineChanges(from, to *contents) (changes []lineChange) {
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
		if name, ok := k.config.Lines[parent]; ok {
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

// hears says whether the events hold what ends a wait for watch w.
func (p *peer) hears(w Watch) bool {
	return slices.ContainsFunc(p.events, func(e Event) bool { return ends(e, w) })
}

// ends says whether event e is the end of watch w.
func ends(e Event, w Watch) bool {
	switch e.Type {
	case sessionEnded:
		return true
	case NodeDeleted:
		return e.Path == w.Path
	}
	return e.Path == w.Path && (e.Type == NodeChildrenChanged) == (w.Kind == WatchChildren)
}

// Has reports whether a state names contents that there are.
func (k *Kind) Has(s world.State) bool { return k.contents.Has(s.(EnsembleState).contents) }
