package simulator

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
	"locklab/simulator/zookeeper"
)

// zooTable is what the ensemble does, as far as it is known: (shape, act) ->
// (shape, answer). An entry is computed by the package zookeeper, once.
type zooTable struct {
	room    *table.Room
	timeout time.Duration // of a session
	first   zookeeper.State
	names   map[string]string // of lines

	shapes    []zooShape
	shapeID   map[string]uint32
	requests  []zooRequest
	requestID map[zookeeper.Request]uint32
	answers   []zooAnswer
	answerID  map[string]uint32
	watches   []zookeeper.Watch
	watchID   map[zookeeper.Watch]uint32
	memories  []zooMemory
	memoryID  map[string]uint32
	effects   map[zooAct]*zooEffect
}

// zooShape is an ensemble without time: what it holds, and what is on its way
// to the clients.
type zooShape struct {
	state zookeeper.State
	links [MaxClients]zooLink
	lines []zookeeper.Line
}

// zooLink is what the ensemble has to do with one client.
type zooLink struct {
	session zookeeper.SessionID
	// news are on their way to the client, in the order in which they were sent.
	// They reach it before whatever is sent later.
	news []zookeeper.Event
}

// sessionEnded among the news is not the ensemble's word but what the client's
// library makes of the refusal of its session.
const sessionEnded zookeeper.EventType = 0

func (k *zooLink) sessionEnded() bool {
	return slices.ContainsFunc(k.news, func(e zookeeper.Event) bool { return e.Type == sessionEnded })
}

// zooRequest is one that a client has sent.
type zooRequest struct {
	zookeeper.Request
	text []string // as histories show it
}

// zooAnswer is what reaches a client at once: news, and behind them the reply to
// its request, if it waits for one.
type zooAnswer struct {
	news  []zookeeper.Event
	reply zookeeper.Reply
	text  string
}

// zooMemory is what a client's library must know to connect again: the watches
// that have not fired, and the last transaction that it has heard of with one.
type zooMemory struct {
	seen    int64
	watches []zookeeper.Watch
}

// zooAct is one thing that an ensemble of a certain shape may do or suffer.
type zooAct struct {
	shape  uint32
	arg    uint32
	kind   zooActKind
	client int8
}

type zooActKind uint8

const (
	zooServe   zooActKind = iota // request arg of client
	zooLate                      // the same, on a connection that has broken
	zooTell                      // the news for client reach it
	zooCut                       // client's connection breaks
	zooConnect                   // client connects again, with memory arg
	zooEnd                       // client's session ends
)

// zooEffect is what an act does to a shape.
type zooEffect struct {
	to      uint32
	answer  uint32
	refused bool // the session has ended before
	lines   []lineChange
	fired   []zooFired
}

// lineChange is one line whose first has become another.
type lineChange struct {
	key           string // what histories call it
	before, after string // names
	gone          bool   // the former first has left the line, and was not overtaken
	owner         int8   // client of the new one; 0: none, or of no client
}

// zooFired is a watch of a client that has fired.
type zooFired struct {
	client int8
	path   string
	what   string
}

func newZooTable(s *NodeConfig, r *table.Room) *zooTable {
	t := &zooTable{
		room: r, timeout: s.Session, first: s.Znodes, names: s.Lines,
		shapeID: map[string]uint32{}, requestID: map[zookeeper.Request]uint32{}, answerID: map[string]uint32{},
		watchID: map[zookeeper.Watch]uint32{}, memoryID: map[string]uint32{}, effects: map[zooAct]*zooEffect{},
	}
	if len(t.first.Paths()) == 0 {
		t.first = zookeeper.New()
	}
	t.clear()
	return t
}

// clear forgets everything and keeps the room.
func (t *zooTable) clear() {
	t.shapes, t.requests, t.answers = table.Emptied(t.shapes), table.Emptied(t.requests), table.Emptied(t.answers)
	t.watches, t.memories = table.Emptied(t.watches), table.Emptied(t.memories)
	clear(t.shapeID)
	clear(t.requestID)
	clear(t.answerID)
	clear(t.watchID)
	clear(t.memoryID)
	clear(t.effects)
	t.internMemory(zooMemory{}) // 0: knows nothing
}

func (t *zooTable) size() int {
	return len(t.shapes) + len(t.requests) + len(t.answers) + len(t.watches) + len(t.memories) + len(t.effects)
}

// begin is the shape in which every one of so many clients has its session.
func (t *zooTable) begin(clients int) uint32 {
	s := zooShape{state: t.first}
	for c := range clients {
		s.state, s.links[c].session = s.state.Connect(0, t.timeout)
	}
	return t.internShape(s)
}

func (t *zooTable) internShape(s zooShape) uint32 {
	key := s.state.AppendKey(nil, 0)
	for c := range s.links {
		key = binary.AppendVarint(key, int64(s.links[c].session))
		key = appendNews(key, s.links[c].news)
	}
	s.lines = s.state.Lines()
	return table.Intern(t.room, t.shapeID, string(key), &t.shapes, s, "entries of a ZooKeeper's table")
}

func appendNews(key []byte, news []zookeeper.Event) []byte {
	key = binary.AppendUvarint(key, uint64(len(news)))
	for _, e := range news {
		key = table.AppendText(binary.AppendVarint(key, int64(e.Type)), e.Path)
	}
	return key
}

func (t *zooTable) internRequest(r zookeeper.Request) uint32 {
	return table.Intern(t.room, t.requestID, r, &t.requests, zooRequest{r, requestText(r)}, "entries of a ZooKeeper's table")
}

func (t *zooTable) internWatch(w zookeeper.Watch) uint32 {
	return table.Intern(t.room, t.watchID, w, &t.watches, w, "entries of a ZooKeeper's table")
}

func (t *zooTable) internMemory(m zooMemory) uint32 {
	key := binary.AppendVarint(nil, m.seen)
	for _, w := range m.watches {
		key = table.AppendText(binary.AppendVarint(key, int64(w.Kind)), w.Path)
	}
	return table.Intern(t.room, t.memoryID, string(key), &t.memories, m, "entries of a ZooKeeper's table")
}

func (t *zooTable) internAnswer(a zooAnswer) uint32 {
	r := a.reply
	key := table.AppendText(appendNews(nil, a.news), a.text)
	key = binary.AppendVarint(binary.AppendVarint(key, int64(r.Code)), r.Zxid)
	key = binary.AppendUvarint(table.AppendText(table.AppendText(key, r.Path), r.Data), uint64(len(r.Children)))
	for _, c := range r.Children {
		key = table.AppendText(key, c)
	}
	key = fmt.Append(key, r.Stat) // numbers only
	return table.Intern(t.room, t.answerID, string(key), &t.answers, a, "entries of a ZooKeeper's table")
}

// act looks up what an act does.
func (t *zooTable) act(a zooAct, forgetful bool) *zooEffect {
	eff := t.effects[a]
	if eff == nil || forgetful {
		eff = t.run(a)
		t.effects[a] = eff
	}
	return eff
}

// run finds out. What is known of a shape is shared, so that nothing of it may
// be changed in its place.
func (t *zooTable) run(a zooAct) *zooEffect {
	before := t.shapes[a.shape]
	s, eff := before, &zooEffect{}
	own := &s.links[a.client-1]
	var fired []zookeeper.Event
	switch a.kind {
	case zooServe, zooLate:
		r := t.requests[a.arg].Request
		var reply zookeeper.Reply
		s.state, reply, fired = s.state.Apply(0, own.session, r)
		if eff.refused = reply.Code == zookeeper.SessionExpired; eff.refused {
			return &zooEffect{to: a.shape, refused: true}
		}
		if a.kind == zooLate { // what it leaves behind is left on a connection that is none
			s.state = s.state.Disconnect(own.session)
			eff.answer = t.internAnswer(zooAnswer{text: replyToText(r, reply)})
			break
		}
		news := slices.Clone(own.news)
		for _, e := range fired {
			if e.Session == own.session {
				news = append(news, e)
			}
		}
		own.news = nil
		eff.answer = t.internAnswer(zooAnswer{news, known(r, reply), replyToText(r, reply)})
	case zooTell:
		eff.answer = t.internAnswer(zooAnswer{news: own.news})
		own.news = nil
	case zooCut:
		s.state = s.state.Disconnect(own.session)
		own.lose()
	case zooConnect:
		m := t.memories[a.arg]
		if own.sessionEnded() { // it has not yet been said that the watches are gone
			m = zooMemory{}
		}
		var code zookeeper.Code
		s.state, code, fired = s.state.Reconnect(0, own.session, m.seen, m.watches)
		if eff.refused = code != zookeeper.OK; eff.refused {
			own.news = []zookeeper.Event{{Type: sessionEnded}}
			s.state, own.session = s.state.Connect(0, t.timeout)
		}
	case zooEnd:
		var code zookeeper.Code
		s.state, code, fired = s.state.Close(own.session)
		eff.refused = code != zookeeper.OK
		own.lose()
	}
	for _, e := range fired {
		c := slices.IndexFunc(s.links[:], func(k zooLink) bool { return k.session == e.Session })
		if c < 0 { // a session of before the run, of no client
			continue
		}
		eff.fired = append(eff.fired, zooFired{int8(c + 1), e.Path, eventText(e.Type)})
		if k := &s.links[c]; a.kind != zooServe || c+1 != int(a.client) {
			k.news = append(slices.Clip(k.news), e)
		}
	}
	eff.to = t.internShape(s)
	eff.lines = t.lineChanges(&before, &t.shapes[eff.to])
	return eff
}

// known is what of a reply a client is told: see Session.Do. The last transaction
// is kept with a watch only. A watch that has not fired has seen no change up to
// the latest reply, so what was the last when it was left serves as well.
func known(r zookeeper.Request, reply zookeeper.Reply) (t zookeeper.Reply) {
	t = zookeeper.Reply{Code: reply.Code, Path: reply.Path, Data: reply.Data, Children: reply.Children}
	if r.Op == zookeeper.Exists {
		t.Stat.Czxid = reply.Stat.Czxid
	}
	if r.Watch {
		t.Zxid = reply.Zxid
	}
	return t
}

// lose drops the news on a connection that breaks. That a session has ended is
// known to the client's library, and is not lost.
func (k *zooLink) lose() {
	ended := k.sessionEnded()
	k.news = nil
	if ended {
		k.news = []zookeeper.Event{{Type: sessionEnded}}
	}
}

// lineChanges lists the lines that have another first, in the order of their
// paths.
func (t *zooTable) lineChanges(from, to *zooShape) (changes []lineChange) {
	path := func(l zookeeper.Line, path string) int { return cmp.Compare(l.Parent, path) }
	look := func(s *zooShape, parent string) (l zookeeper.Line) {
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
		if name, ok := t.names[parent]; ok {
			ch.key = name
		}
		ch.gone = a.First != "" && !slices.Contains(to.state.Paths(), strings.TrimSuffix(parent, "/")+"/"+a.First)
		if b.First != "" {
			ch.owner = int8(slices.IndexFunc(to.links[:], func(k zooLink) bool { return k.session == b.Owner }) + 1)
		}
		changes = append(changes, ch)
	}
	return changes
}

// heard says whether the news hold what ends a wait for watch w.
func (k *zooLink) heard(w zookeeper.Watch) bool {
	return slices.ContainsFunc(k.news, func(e zookeeper.Event) bool { return ends(e, w) })
}

// ends says whether event e is the end of watch w.
func ends(e zookeeper.Event, w zookeeper.Watch) bool {
	switch e.Type {
	case sessionEnded:
		return true
	case zookeeper.NodeDeleted:
		return e.Path == w.Path
	}
	return e.Path == w.Path && (e.Type == zookeeper.NodeChildrenChanged) == (w.Kind == zookeeper.WatchChildren)
}

// requestText is a request as histories show it, in the words of the API.
func requestText(r zookeeper.Request) []string {
	text := []string{[...]string{
		zookeeper.Ping: "PING", zookeeper.Create: "CREATE", zookeeper.Delete: "DELETE", zookeeper.Exists: "EXISTS", zookeeper.GetData: "GETDATA",
		zookeeper.SetData: "SETDATA", zookeeper.GetChildren: "GETCHILDREN", zookeeper.Sync: "SYNC",
	}[r.Op]}
	if r.Path != "" {
		text = append(text, r.Path)
	}
	if r.Data != "" || r.Op == zookeeper.SetData {
		text = append(text, r.Data)
	}
	switch r.Mode {
	case zookeeper.Ephemeral:
		text = append(text, "EPHEMERAL")
	case zookeeper.Sequential:
		text = append(text, "PERSISTENT_SEQUENTIAL")
	case zookeeper.Ephemeral | zookeeper.Sequential:
		text = append(text, "EPHEMERAL_SEQUENTIAL")
	}
	if versioned := r.Op == zookeeper.Delete || r.Op == zookeeper.SetData; versioned && r.Version != zookeeper.AnyVersion {
		text = append(text, "VERSION", fmt.Sprint(r.Version))
	}
	if r.Watch {
		text = append(text, "WATCH")
	}
	return text
}

// replyToText is the reply to a request as histories show it.
func replyToText(r zookeeper.Request, reply zookeeper.Reply) string {
	if reply.Code != zookeeper.OK {
		return "(error) " + codeText[reply.Code]
	}
	switch r.Op {
	case zookeeper.Create:
		return reply.Path
	case zookeeper.Exists:
		return fmt.Sprintf("czxid %d", reply.Stat.Czxid)
	case zookeeper.GetData:
		return fmt.Sprintf("%q", reply.Data)
	case zookeeper.GetChildren:
		return "[" + strings.Join(reply.Children, ", ") + "]"
	}
	return "OK"
}

// codeText is what the API calls the ways in which a request is refused.
var codeText = map[zookeeper.Code]string{
	zookeeper.BadArguments: "BADARGUMENTS", zookeeper.NoNode: "NONODE", zookeeper.BadVersion: "BADVERSION", zookeeper.NodeExists: "NODEEXISTS",
	zookeeper.NoChildrenForEphemerals: "NOCHILDRENFOREPHEMERALS", zookeeper.NotEmpty: "NOTEMPTY", zookeeper.SessionExpired: "SESSIONEXPIRED",
}

func eventText(e zookeeper.EventType) string {
	return [...]string{
		zookeeper.NodeCreated: "created", zookeeper.NodeDeleted: "deleted",
		zookeeper.NodeDataChanged: "its data changed", zookeeper.NodeChildrenChanged: "a child came or went",
	}[e]
}

// zooMark is how far the tables had come.
type zooMark struct{ shapes, requests, answers, watches, memories int }

func (t *zooTable) mark() zooMark {
	return zooMark{len(t.shapes), len(t.requests), len(t.answers), len(t.watches), len(t.memories)}
}

// save writes what the tables held at m. What acts do is found out again.
func (t *zooTable) save(w *codec.Writer, m *zooMark) {
	w.Put(t.shapes[:m.shapes], t.requests[:m.requests], t.answers[:m.answers], t.watches[:m.watches], t.memories[:m.memories])
}

// load reads it, in the same order, so that everything gets its number again.
func (t *zooTable) load(r *codec.Reader) {
	var old zooTable
	r.Get(&old.shapes, &old.requests, &old.answers, &old.watches, &old.memories)
	for _, s := range old.shapes {
		t.internShape(s)
	}
	for _, q := range old.requests {
		t.internRequest(q.Request)
	}
	for _, a := range old.answers {
		t.internAnswer(a)
	}
	for _, w := range old.watches {
		t.internWatch(w)
	}
	for _, m := range old.memories {
		t.internMemory(m)
	}
}
