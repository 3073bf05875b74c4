package promela

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/simulator/internal/codec"
	"locklab/simulator/process"
	"locklab/simulator/zookeeper"
)

// ensemble is the content of a ZooKeeper, and what is on its way from it to the clients, written
// from the ZooKeeper Programmer's Guide ("The ZooKeeper Data Model", "ZooKeeper Sessions",
// "ZooKeeper Watches") and the recipe "Locks". Of package zookeeper it has the words in which
// the code of a lock asks and is answered, and nothing that acts on them. When sessions end,
// connections break and messages arrive is up to world.pml.
type ensemble struct {
	words   *zookeeper.Executor
	line    string     // path of the znode at which clients queue for the lock
	all     []contents // by number
	number  map[string]int
	answers map[uint32]news
}

// contents is a state of it. It does not change once it has a number.
type contents struct {
	zxid    int64 // the last transaction
	session int64 // the last one that has begun
	znodes  []znode
	peers   []peer
}

type znode struct {
	path, data string
	// Transactions: that made it, that last changed its data, and its children.
	czxid, mzxid, pzxid int64
	version             int32
	made                int32 // children, ever
	owner               int64 // session of an ephemeral; 0: it is none
}

// peer is a client: its session on the server, and its library.
type peer struct {
	session int64
	alive   bool
	left    []zookeeper.Watch // watches that the server has: on data, or on children
	sent    []zookeeper.Event // on their way, in order
	waits   []wait            // the library's: watches that it has left and not heard of
}

// wait is a watch, and the transactions that had made its znode and last changed what it looks
// at, as the reply to the request that left it said.
type wait struct {
	zookeeper.Watch
	made, changed int64
}

// news is received by a client at once: events, and a reply behind them.
type news struct {
	events []zookeeper.Event
	code   zookeeper.Code
	stat   zookeeper.Stat
}

// ended among the events is the library's news that a session has ended; the code learns it
// from no server.
const ended zookeeper.EventType = 0

// What an ensemble does, or what happens to it; as in world.pml.
const (
	serves   = iota // it runs a request, and answers
	runs            // it runs a request whose sender has no connection any more
	notifies        // the events on their way arrive
	replies         // an answer arrives
	cut             // a connection breaks
	connects        // a client connects again
	ends            // a session ends
	dies            // a client dies, and its library with it
	besides         // as serves, but the events stay on their way: other threads of the client wait
)

// newEnsemble has one on which the lock has been used before: by a session that made the
// znodes of the line, and has ended. Then every client has begun one.
func newEnsemble(words *zookeeper.Executor, line string, clients int) *ensemble {
	e := &ensemble{words: words, line: line, number: map[string]int{}, answers: map[uint32]news{}}
	s := contents{znodes: []znode{{path: "/"}}, peers: make([]peer, clients)}
	s.begin()
	for at := 1; at <= len(line); at++ {
		if at == len(line) || line[at] == '/' {
			s.create(0, zookeeper.Request{Path: line[:at]})
		}
	}
	s.zxid++ // that session ends
	for c := range s.peers {
		s.peers[c].session, s.peers[c].alive = s.begin(), true
	}
	e.intern(s)
	return e
}

// begin begins a session.
func (s *contents) begin() int64 {
	s.zxid++
	s.session++
	return s.session
}

// intern numbers contents.
func (e *ensemble) intern(s contents) int {
	key := codec.Key(s)
	n, ok := e.number[key]
	if !ok {
		n = len(e.all)
		e.all = append(e.all, s)
		e.number[key] = n
	}
	return n
}

// act is a change of contents, as world.pml needs it: the contents then, the answer, and
// what becomes of the line. ask is the request that the code of client c, from 1, has made,
// and got the answer to it, where there is one.
func (e *ensemble) act(at, what, c int, ask *process.Op, got uint32) []int {
	s := e.all[at]
	s.znodes, s.peers = slices.Clone(s.znodes), slices.Clone(s.peers)
	for i := range s.peers {
		p := &s.peers[i]
		p.left, p.sent, p.waits = slices.Clone(p.left), slices.Clone(p.sent), slices.Clone(p.waits)
	}
	p, reply := &s.peers[c-1], uint32(0)
	switch what {
	case serves, besides, runs:
		r := e.words.Asks(ask)
		said := s.run(c, r)
		if what == runs { // nobody hears of it
			p.left = nil
			break
		}
		var events []zookeeper.Event
		if what == serves {
			events, p.sent = p.sent, nil
		}
		reply = e.words.Tell(events, &r, said)
		e.answers[reply] = news{events, said.Code, said.Stat}
	case notifies:
		reply = e.words.Tell(p.sent, nil, zookeeper.Reply{})
		p.hear(p.sent)
		p.sent = nil
	case replies:
		a := e.answers[got]
		p.hear(a.events)
		p.remember(e.words.Asks(ask), a)
	case cut:
		p.left = nil
		p.lose()
	case connects:
		s.connect(p)
	case ends:
		s.end(p)
	case dies:
		p.waits = nil
	}
	was, name := e.all[at].first(e.line)
	now, present := s.first(e.line)
	row := []int{e.intern(s), int(reply), 0, 0, 0, 0, 0}
	if name != present || was != now {
		there := slices.ContainsFunc(s.znodes, func(n znode) bool { return n.path == name })
		row[2] = is(name != "" && !there)
		row[3] = is(present != "")
		row[4] = is(name != present || !there)
		row[5] = slices.IndexFunc(s.peers, func(p peer) bool { return p.session == now }) + 1
	}
	for line := range lines(e.all[at].znodes, s.znodes) {
		_, was := e.all[at].first(line)
		_, now := s.first(line)
		if line != e.line && was != now && (line > e.line || name == present) {
			row[6] = 1
		}
	}
	return row
}

// lines are the paths at which clients are in line.
func lines(held ...[]znode) map[string]bool {
	set := map[string]bool{}
	for _, n := range slices.Concat(held...) {
		if n.owner != 0 {
			set[above(n.path)] = true
		}
	}
	return set
}

// alive are the clients with a session.
func (e *ensemble) alive(at int) (set int) {
	for c, p := range e.all[at].peers {
		set |= is(p.alive) << c
	}
	return set
}

// endsWait reports whether what is on its way ends a wait for a watch.
func (e *ensemble) endsWait(at, c int, o *process.Op) bool {
	w := e.words.Watched(o)
	return slices.ContainsFunc(e.all[at].peers[c-1].sent, func(v zookeeper.Event) bool { return concerns(v, w) })
}

// concerns reports whether a library has an event end a watch: its znode is gone, or what it
// looks at has changed.
func concerns(v zookeeper.Event, w zookeeper.Watch) bool {
	switch {
	case v.Type == ended:
		return true
	case v.Path != w.Path:
		return false
	case v.Type == zookeeper.NodeChildrenChanged:
		return w.Kind == zookeeper.WatchChildren
	case v.Type == zookeeper.NodeDeleted:
		return true
	}
	return w.Kind != zookeeper.WatchChildren
}

func (p *peer) hear(events []zookeeper.Event) {
	for _, v := range events {
		p.waits = slices.DeleteFunc(p.waits, func(w wait) bool { return concerns(v, w.Watch) })
	}
}

// remember keeps the watch that a request has left.
func (p *peer) remember(r zookeeper.Request, a news) {
	absent := a.code == zookeeper.NoNode && r.Op == zookeeper.Exists
	if !r.Watch || a.code != zookeeper.OK && !absent {
		return
	}
	w := wait{zookeeper.Watch{Kind: zookeeper.WatchData, Path: r.Path}, a.stat.Czxid, a.stat.Mzxid}
	switch {
	case absent:
		w.Kind = zookeeper.WatchCreation
	case r.Op == zookeeper.GetChildren:
		w.Kind, w.changed = zookeeper.WatchChildren, a.stat.Pzxid
	}
	if !slices.ContainsFunc(p.waits, func(o wait) bool { return o.Watch == w.Watch }) {
		p.waits = append(p.waits, w)
	}
}

// lose loses what is on its way, but not what the library knows itself.
func (p *peer) lose() {
	p.sent = slices.DeleteFunc(p.sent, func(v zookeeper.Event) bool { return v.Type != ended })
}

// connect: a session that lives goes on, and the library hands in its watches. Those that
// have missed something fire. For one that has ended there is a new one, without watches.
func (s *contents) connect(p *peer) {
	p.left = nil
	if !p.alive {
		p.session, p.alive = s.begin(), true
		p.sent, p.waits = []zookeeper.Event{{Type: ended}}, nil
		return
	}
	for _, w := range p.waits {
		n, there := s.find(w.Path)
		missed := func(t zookeeper.EventType) { p.sent = append(p.sent, zookeeper.Event{Type: t, Path: w.Path}) }
		switch {
		case w.Kind == zookeeper.WatchCreation && there:
			missed(zookeeper.NodeCreated)
		case w.Kind != zookeeper.WatchCreation && !there:
			missed(zookeeper.NodeDeleted)
		case w.Kind == zookeeper.WatchData && (s.znodes[n].mzxid != w.changed || s.znodes[n].czxid != w.made):
			missed(zookeeper.NodeDataChanged)
		case w.Kind == zookeeper.WatchChildren && (s.znodes[n].pzxid != w.changed || s.znodes[n].czxid != w.made):
			missed(zookeeper.NodeChildrenChanged)
		default:
			p.leave(w.Path, w.Kind == zookeeper.WatchChildren)
		}
	}
}

// leave leaves a watch on the server: one on data also sees its znode come.
func (p *peer) leave(path string, children bool) {
	w := zookeeper.Watch{Kind: zookeeper.WatchData, Path: path}
	if children {
		w.Kind = zookeeper.WatchChildren
	}
	if !slices.Contains(p.left, w) {
		p.left = append(p.left, w)
		slices.SortFunc(p.left, func(a, b zookeeper.Watch) int {
			return strings.Compare(fmt.Sprint(a.Path, a.Kind), fmt.Sprint(b.Path, b.Kind))
		})
	}
}

// end is one transaction: the session's watches and ephemerals go with it.
func (s *contents) end(p *peer) {
	s.zxid++
	p.alive, p.left = false, nil
	p.lose()
	for i := 0; i < len(s.znodes); {
		if s.znodes[i].owner == p.session {
			s.remove(i)
		} else {
			i++
		}
	}
}

func (s *contents) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.znodes, path,
		func(n znode, path string) int { return strings.Compare(n.path, path) })
}

func above(path string) string {
	if up := path[:strings.LastIndexByte(path, '/')]; up != "" {
		return up
	}
	return "/"
}

// run runs a request of client c. A write is a transaction, also one that is refused.
func (s *contents) run(c int, r zookeeper.Request) (reply zookeeper.Reply) {
	switch r.Op {
	case zookeeper.Create:
		reply.Path, reply.Code = s.create(c, r)
	case zookeeper.Delete, zookeeper.SetData:
		s.zxid++
		i, there := s.find(r.Path)
		switch {
		case !there:
			reply.Code = zookeeper.NoNode
		case r.Version != zookeeper.AnyVersion && r.Version != s.znodes[i].version:
			reply.Code = zookeeper.BadVersion
		case r.Op == zookeeper.SetData:
			n := &s.znodes[i]
			n.data, n.mzxid, n.version = r.Data, s.zxid, n.version+1
			s.fire(r.Path, zookeeper.NodeDataChanged, zookeeper.WatchData)
		case len(s.children(r.Path)) > 0:
			reply.Code = zookeeper.NotEmpty
		default:
			s.remove(i)
		}
	case zookeeper.Exists, zookeeper.GetData, zookeeper.GetChildren:
		i, there := s.find(r.Path)
		if r.Watch && (there || r.Op == zookeeper.Exists) {
			s.peers[c-1].leave(r.Path, r.Op == zookeeper.GetChildren)
		}
		if there {
			n := &s.znodes[i]
			reply.Stat = zookeeper.Stat{Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid}
		}
		switch {
		case !there:
			reply.Code = zookeeper.NoNode
		case r.Op == zookeeper.Exists:
		case r.Op == zookeeper.GetData:
			reply.Data = s.znodes[i].data
		default:
			reply.Children = s.children(r.Path)
		}
	}
	return reply
}

func (s *contents) create(c int, r zookeeper.Request) (string, zookeeper.Code) {
	s.zxid++
	path := r.Path
	p, there := s.find(above(path))
	if !there {
		return "", zookeeper.NoNode
	}
	if r.Mode&zookeeper.Sequential != 0 {
		path += fmt.Sprintf("%010d", s.znodes[p].made)
	}
	i, exists := s.find(path)
	switch {
	case exists:
		return "", zookeeper.NodeExists
	case s.znodes[p].owner != 0:
		return "", zookeeper.NoChildrenForEphemerals
	}
	s.znodes[p].made++
	s.znodes[p].pzxid = s.zxid
	n := znode{path: path, data: r.Data, czxid: s.zxid, mzxid: s.zxid, pzxid: s.zxid}
	if r.Mode&zookeeper.Ephemeral != 0 {
		n.owner = s.peers[c-1].session
	}
	s.znodes = slices.Insert(s.znodes, i, n)
	s.fire(path, zookeeper.NodeCreated, zookeeper.WatchData)
	s.fire(above(path), zookeeper.NodeChildrenChanged, zookeeper.WatchChildren)
	return path, zookeeper.OK
}

func (s *contents) remove(i int) {
	path := s.znodes[i].path
	s.znodes = slices.Delete(s.znodes, i, i+1)
	p, _ := s.find(above(path))
	s.znodes[p].pzxid = s.zxid
	s.fire(path, zookeeper.NodeDeleted, zookeeper.WatchData, zookeeper.WatchChildren)
	s.fire(above(path), zookeeper.NodeChildrenChanged, zookeeper.WatchChildren)
}

// fire tells each session with such a watch once; the watches are gone then.
func (s *contents) fire(path string, what zookeeper.EventType, kinds ...zookeeper.WatchKind) {
	for c := range s.peers {
		p := &s.peers[c]
		before := len(p.left)
		p.left = slices.DeleteFunc(p.left, func(w zookeeper.Watch) bool {
			return w.Path == path &&
				slices.Contains(kinds, w.Kind)
		})
		if len(p.left) < before {
			p.sent = append(p.sent, zookeeper.Event{Type: what, Path: path})
		}
	}
}

func (s *contents) children(path string) (names []string) {
	for _, n := range s.znodes {
		if n.path != "/" && above(n.path) == path {
			names = append(names, strings.TrimPrefix(n.path[len(path):], "/"))
		}
	}
	return names
}

// first is the first of the line at a path: the ephemeral child with the lowest number, and
// whose it is. "": no client is in line. An ephemeral at the path itself is a line of its own.
func (s *contents) first(line string) (owner int64, path string) {
	lowest := int64(0)
	for _, n := range s.znodes {
		switch {
		case n.owner == 0:
		case n.path == line:
			return n.owner, n.path
		case n.path != "/" && above(n.path) == line && len(n.path) > 10:
			number, err := strconv.ParseInt(n.path[len(n.path)-10:], 10, 64)
			if err == nil && (path == "" || number < lowest) {
				owner, path, lowest = n.owner, n.path, number
			}
		}
	}
	return owner, path
}
