package zookeeper

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/jute"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

var _ process.Wire = (*Wire)(nil)

// Wires are the connections that the code of one process opens, in one execution.
type Wires struct {
	kind     *Kind
	client   int8
	sessions uint16            // that it has begun
	conns    map[uint16]uint16 // by session: its connections
}

// Dial makes connections of process p that know nothing of those that p makes elsewhere.
func (k *Kind) Dial(p *process.Code) func(int) process.Wire {
	of := &Wires{kind: k, client: int8(p.ID()), conns: map[uint16]uint16{}}
	return func(int) process.Wire { return &Wire{of: of} }
}

// A Wire is the client's end of a connection to the ensemble, in ZooKeeper's protocol.
//
// Pings go nowhere: while a connection stands, the ensemble receives from the session. The request for a new session
// is answered at once, and the ensemble has the session from its first request on. The request to go on with a session
// goes to the ensemble, for the session may have ended.
type Wire struct {
	of   *Wires
	on   wireRef // zero: it has not asked for a session
	raw  []byte  // written, no whole message
	out  []call  // written, not yet sent
	busy bool    // now is under way
	now  call
	open bool // it has a session
	used bool // a request was sent
	over bool // nothing comes any more
}

// A wireRef is a connection of a session.
type wireRef struct {
	client  int8   // from 1; 0: none
	session uint16 // which of the process's, from 1
	conn    uint16 // which of the session's, from 1
}

// A call is a request as a client numbers it.
type call struct {
	wireRequest
	xid, code int32
}

// request is a request of which a client says no more than what it asks for.
func (c *Wire) request(op Op) wireRequest { return wireRequest{Request: Request{Op: op}, on: c.on} }

// codeNames are those of op codes that the ensemble does not know.
var codeNames = map[int32]string{
	6: "getACL", 7: "setACL", 13: "check", 14: "multi", 15: "create2", 16: "reconfig", 17: "checkWatches",
	18: "removeWatches", 19: "createContainer", 20: "deleteContainer", 21: "createTTL", 22: "multiRead", 100: "auth",
	102: "sasl", 103: "getEphemerals", 104: "getAllChildrenNumber", 105: "setWatches2", 106: "addWatch", 107: "whoAmI",
}

// Pings is true: code ends no read by its own deadline while the ensemble answers pings.
func (c *Wire) Pings() bool { return true }

// Unsent reports whether there is something to be sent.
func (c *Wire) Unsent() bool { return len(c.out) > 0 || len(c.raw) > 0 }

// Write takes what a client wrote, whole messages or parts of them.
func (c *Wire) Write(b []byte) (answers []byte, err error) {
	c.raw = append(c.raw, b...)
	if isRedis(c.raw) {
		return nil, &process.ProtocolError{Err: i18n.Errorf("error.wire.redis", "bytes", fmt.Sprintf("%.40q", c.raw))}
	}
	for {
		message, rest, whole := jute.Frame(c.raw)
		switch {
		case jute.TooLong(c.raw):
			return answers, noMessage(c.raw)
		case !whole:
			return answers, nil
		}
		r := &jute.Reader{B: message}
		var answer []byte
		if c.on == (wireRef{}) {
			answer, err = c.connect(r)
		} else {
			err = c.take(r)
		}
		if err == nil && r.Short {
			err = noMessage(message)
		}
		if err != nil {
			return answers, err
		}
		answers = append(answers, answer...)
		c.raw = append(c.raw[:0], rest...)
	}
}

// Bye says that the session has ended, so that the client stops waiting for watches.
func (c *Wire) Bye(b []byte) (answers []byte) {
	message, _, _ := jute.Frame(b)
	var asks jute.Connect
	(&jute.Reader{B: message}).Get(&asks)
	if c.on != (wireRef{}) || asks.Session == 0 {
		return nil
	}
	return c.connected(false)
}

// isRedis reports whether a client speaks to a Redis: a command is an array.
func isRedis(b []byte) bool { return len(b) > 1 && b[0] == '*' && b[1] >= '0' && b[1] <= '9' }

func noMessage(b []byte) error {
	return i18n.Errorf("error.wire.zookeeper.message", "bytes", fmt.Sprintf("%.40q", b))
}

// connect is the request with which a connection begins. A new session is answered at once.
func (c *Wire) connect(r *jute.Reader) (answer []byte, err error) {
	var asks jute.Connect
	if r.Get(&asks); r.Short {
		return nil, nil
	}
	k, timeout := c.of.kind, time.Duration(asks.Timeout)*time.Millisecond
	if k.asked != 0 && k.asked != timeout {
		return nil, i18n.Errorf("error.wire.zookeeper.timeouts",
			"one", min(k.asked, timeout), "other", max(k.asked, timeout))
	}
	k.asked = timeout
	on, id := wireRef{client: c.of.client, session: uint16(asks.Session)}, asks.Session
	if c.on = on; id != 0 && (id != sessionName(on) || on.session > c.of.sessions) {
		return nil, i18n.Errorf("error.wire.zookeeper.session", "client", on.client, "id", fmt.Sprintf("%#x", id))
	}
	if id == 0 {
		c.of.sessions++
		c.on.session, c.open = c.of.sessions, true
	}
	c.of.conns[c.on.session]++
	c.on.conn = c.of.conns[c.on.session]
	if c.open {
		return c.connected(true), nil
	}
	c.out = append(c.out, call{wireRequest: c.request(opConnect)})
	return nil, nil
}

// Asked is the time-out that clients wanted for their sessions, if any has. What they are given is Config.Session.
func (k *Kind) Asked() []world.Length {
	if k.asked == 0 {
		return nil
	}
	return []world.Length{{Of: world.Session, D: k.asked}}
}

// connected is the answer to connect. alive: the session has not ended.
func (c *Wire) connected(alive bool) []byte {
	granted := jute.Connected{Password: "password of lab!"}
	if alive {
		granted.Timeout, granted.Session = int32(c.of.kind.config.Session/time.Millisecond), sessionName(c.on)
	} else {
		granted.Password = string(make([]byte, len(granted.Password)))
	}
	return jute.Framed(jute.Put(nil, granted))
}

// sessionName returns the id by which a client knows a session.
func sessionName(on wireRef) int64 { return int64(on.client)<<32 | int64(on.session) }

// take takes a request.
func (c *Wire) take(r *jute.Reader) error {
	var q call
	r.Get(&q.xid, &q.code)
	q.wireRequest = c.request(Op(q.code))
	switch q.code {
	case jute.Ping:
		return nil
	case jute.Close:
	case jute.SetWatches:
		q.memory = c.of.kind.Executor.memories.ID(readMemory(r))
	case jute.Create:
		var acl []jute.ACL
		var mode int32
		r.Get(&q.Path, &q.Data, &acl, &mode)
		q.Mode = Mode(mode)
		switch {
		case slices.ContainsFunc(acl, func(a jute.ACL) bool { return a != jute.Open }):
			return i18n.Errorf("error.wire.zookeeper.acl", "path", q.Path)
		case mode < 0 || mode > 3:
			return i18n.Errorf("error.wire.zookeeper.mode", "path", q.Path, "mode", mode)
		}
	case jute.Delete:
		r.Get(&q.Path, &q.Version)
	case jute.SetData:
		r.Get(&q.Path, &q.Data, &q.Version)
	case jute.GetChildren2:
		q.Op = GetChildren
		fallthrough
	case jute.Exists, jute.GetData, jute.GetChildren:
		r.Get(&q.Path, &q.Watch)
	case jute.Sync:
		r.Get(&q.Path)
	default:
		return i18n.Errorf("error.wire.zookeeper.op", "code", q.code, "name", cmp.Or(codeNames[q.code], "?"))
	}
	c.out = append(c.out, q)
	return nil
}

// readMemory reads the watches that a client hands in.
func readMemory(r *jute.Reader) (m memory) {
	r.Get(&m.seen)
	for _, kind := range []WatchKind{WatchData, WatchCreation, WatchChildren} {
		var paths []string
		r.Get(&paths)
		for _, path := range paths {
			m.watches = append(m.watches, Watch{kind, path})
		}
	}
	slices.SortFunc(m.watches, Watch.compare) // clients keep them in maps
	return m
}

// Asks is the first request that has not been sent, else to listen.
func (c *Wire) Asks() (o process.Op, ok bool, err error) {
	x := c.of.kind.Executor
	switch {
	case c.over || c.busy:
		return process.Op{}, false, nil
	case len(c.out) > 0:
		c.now, c.out, c.busy, c.used = c.out[0], c.out[1:], true, true
		return process.Op{Kind: process.Request, Node: number, Arg: x.internRequest(c.now.wireRequest)}, true, nil
	case c.open:
		listen := x.internRequest(c.request(opListen))
		return process.Op{Kind: process.Listen, Node: number, Arg: listen, D: clock.Never}, true, nil
	}
	return process.Op{}, false, nil
}

// Close hangs up, if the ensemble thinks that the connection stands.
func (c *Wire) Close() bool {
	if c.over || c.busy || !c.used {
		c.over = true
		return false
	}
	c.out = []call{{wireRequest: c.request(opHangUp)}}
	return true
}

// Received returns what the client reads when s ends operation o.
func (c *Wire) Received(o process.Op, s process.Observation) (in []byte, err error) {
	if o.Kind == process.Request {
		c.busy = false
	}
	if err := s.Err("read"); err != nil {
		c.over = true
		return nil, err
	}
	a := c.of.kind.Executor.answers.At(uint32(s.Val))
	for _, e := range a.events {
		in = append(in, jute.Framed(jute.Put(nil, jute.News, int32(e.Type), int32(3), e.Path))...)
	}
	if o.Kind == process.Listen {
		return in, nil
	}
	switch c.now.Op {
	case opConnect:
		c.open = a.reply.Code == OK
		c.over = !c.open
		return append(in, c.connected(c.open)...), nil
	case opHangUp:
		c.over = true
		return nil, nil
	case opClose:
		c.over = true
	}
	return append(in, jute.Framed(c.reply(&a.reply))...), nil
}

// reply encodes the ensemble's answer to the request in flight, its transaction with a watch only, as to a Session.
func (c *Wire) reply(r *Reply) []byte {
	b := jute.Put(nil, jute.Header{XID: c.now.xid, Zxid: r.Zxid, Code: int32(r.Code)})
	if r.Code != OK {
		return b
	}
	switch c.now.code {
	case jute.Create, jute.Sync:
		return jute.Put(b, r.Path)
	case jute.Exists, jute.SetData:
		return putStat(b, &r.Stat)
	case jute.GetData:
		return putStat(jute.Put(b, r.Data), &r.Stat)
	case jute.GetChildren:
		return jute.Put(b, r.Children)
	case jute.GetChildren2:
		return putStat(jute.Put(b, r.Children), &r.Stat)
	}
	return b
}

// putStat writes a Stat whose Owner is what the owner's client calls its session.
func putStat(b []byte, s *Stat) []byte {
	const none = int64(0) // ctime and mtime: see State
	return jute.Put(b, s.Czxid, s.Mzxid, none, none, s.Version, s.Cversion, int32(0), int64(s.Owner),
		int32(s.DataLength), int32(s.NumChildren), s.Pzxid)
}
