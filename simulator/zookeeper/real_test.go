package zookeeper_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"locklab/simulator/effort"
	"locklab/simulator/realserver/servertest"
	. "locklab/simulator/zookeeper"
)

// A step is one action in a random case. Its numbers are taken modulo the number of
// options, so that a case stays valid if steps are removed.
type step struct {
	kind            stepKind
	who, path, more uint8
}

type stepKind uint8

const (
	request stepKind = iota
	closes           // a session ends at its own request
	expires          // a session is ended from elsewhere
	leaves           // a connection breaks
	returns          // and is made again
)

// anyByte is as often large as small; the numbers of rapid are mostly small.
var anyByte = rapid.Custom(func(t *rapid.T) (b uint8) {
	for range 8 {
		b <<= 1
		if rapid.Bool().Draw(t, "bit") {
			b++
		}
	}
	return b
})

// steps are those of a case, in two levels: so it is long, and can be shrunk to few steps.
var steps = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
	kind := request
	if k := anyByte.Draw(t, "kind"); k < 64 {
		kind = []stepKind{closes, expires, leaves, leaves, leaves, returns, returns, returns}[k%8]
	}
	return step{kind, anyByte.Draw(t, "who"), anyByte.Draw(t, "path"), anyByte.Draw(t, "more")}
}), 1, 20), 5, 20)

// TestRealServer plays random steps of several sessions on a State and on a real
// ZooKeeper: replies, errors, children, versions, transaction numbers, watches
// and their order must agree after every step. A case that shows a difference is shrunk.
func TestRealServer(t *testing.T) {
	effort.OnlyPushed(t, "it starts ZooKeepers")
	addr := servertest.ZooKeeper(t, t.TempDir())
	played := map[string]int{} // what the steps have met, so that a tame generator fails
	effort.Cases(t, 50, 120)
	rapid.Check(t, func(t *rapid.T) {
		if err := play(addr, slices.Concat(steps.Draw(t, "steps")...), played); err != nil {
			t.Fatal(err)
		}
	})
	for _, what := range []string{
		NoNode.Error(), BadVersion.Error(), NoChildrenForEphemerals.Error(), NodeExists.Error(), NotEmpty.Error(),
		"event 1", "event 2", "event 3", "event 4", "closes", "expires", "returns to 1 or more events",
	} {
		if played[what] < 3 {
			t.Errorf("%q was met %d times: the steps are too tame", what, played[what])
		}
	}
}

// A stage is one case, on both sides.
type stage struct {
	addr     string
	root     string
	state    State
	offset   int64 // of the real server's transaction numbers
	sessions []*client
	names    map[int64]SessionID // the real server's sessions
	said     []string            // the steps so far, in words
	played   map[string]int
}

func newStage(addr, root string) *stage {
	return &stage{addr: addr, root: root, state: New(), names: map[int64]SessionID{}, played: map[string]int{}}
}

// A client is one session on both sides.
type client struct {
	id     SessionID
	conn   *zk.Conn
	line   *servertest.Line
	seen   int64          // as a client library keeps it
	wait   map[Watch]bool // as a client library keeps it
	told   []Event        // by the State, not yet compared
	away   bool
	events chan Event // from the real server

	ready   chan struct{} // the real client has its session, once a connection
	expired chan struct{} // the real client has heard that its session ended
}

// cases numbers the roots, so that every case has its own part of the tree.
var cases int

// play plays one case and returns the first difference.
func play(addr string, steps []step, played map[string]int) (err error) {
	cases++
	s := newStage(addr, fmt.Sprintf("/case%d", cases))
	s.played = played
	defer func() {
		for _, c := range s.sessions { // none may end in the midst of the next case
			if e := c.end(addr); err == nil {
				err = e
			}
		}
		if err != nil {
			err = fmt.Errorf("%w\nafter\n  %s", err, strings.Join(s.said, "\n  "))
		}
	}()
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	for range 2 {
		if err := s.connect(); err != nil {
			return err
		}
	}
	for _, st := range steps {
		if err := s.step(st); err != nil {
			return err
		}
	}
	return nil
}

// begin makes the root of the case, whose transaction tells the offset.
func (s *stage) begin() error {
	c := s.sessions[0]
	if _, err := c.conn.Create(s.root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		return err
	}
	_, stat, err := c.conn.Exists(s.root)
	if err != nil {
		return err
	}
	s.apply(c, Request{Op: Create, Path: s.root})
	s.offset = stat.Czxid - s.state.Zxid()
	return nil
}

// connect begins a session on both sides, whose time-out is longer than any test.
func (s *stage) connect() error { return s.connectFor(time.Minute) }

// connectFor begins one that ends so long after its client has fallen silent: on the real server
// only after Line.Silence, so that a client that is slow loses nothing.
func (s *stage) connectFor(timeout time.Duration) error {
	c := &client{wait: map[Watch]bool{}, events: make(chan Event, 1000), line: servertest.NewLine(),
		ready: make(chan struct{}, 100), expired: make(chan struct{}, 100)}
	var err error
	// See servertest.Line for the repeated address.
	c.conn, _, err = zk.Connect([]string{s.addr, s.addr, s.addr}, time.Minute,
		zk.WithDialer(c.line.Dial), zk.WithLogger(silent{}),
		zk.WithEventCallback(func(e zk.Event) {
			switch {
			case e.State == zk.StateHasSession && e.Type == zk.EventSession:
				c.ready <- struct{}{}
			case e.State == zk.StateExpired && e.Type == zk.EventSession:
				c.expired <- struct{}{}
			case e.Type >= zk.EventNodeCreated && e.Type <= zk.EventNodeChildrenChanged:
				c.events <- Event{Type: EventType(e.Type), Path: e.Path}
			}
		}))
	if err != nil {
		return err
	}
	c.line.Pass <- struct{}{}
	<-c.ready
	s.state, c.id = s.state.Connect()
	s.names[c.conn.SessionID()] = c.id
	s.sessions = append(s.sessions, c)
	return nil
}

// step plays st on both sides and compares.
func (s *stage) step(st step) error {
	at := int(st.who) % len(s.sessions)
	c := s.sessions[at]
	ordered := true
	switch {
	case st.kind == request && !c.away:
		if err := s.ask(c, s.request(st)); err != nil {
			return err
		}
	case st.kind == closes && !c.away, st.kind == expires:
		s.said = append(s.said, fmt.Sprintf("s%d ends", c.id))
		c.away = c.away || st.kind == expires
		if err := c.end(s.addr); err != nil {
			return err
		}
		s.played[map[stepKind]string{closes: "closes", expires: "expires"}[st.kind]]++
		var fired []Event
		s.state, _, fired = s.state.Close(c.id)
		s.deliver(fired)
		s.sessions = slices.Delete(s.sessions, at, at+1)
		if err := s.connect(); err != nil {
			return err
		}
		ordered = false // among several ephemerals
	case st.kind == leaves && !c.away:
		s.leave(c)
	case st.kind == returns && c.away:
		s.comeBack(c)
		ordered = false // a client keeps its watches in a map
	}
	return s.compareEvents(ordered)
}

// leave breaks the connection of the session.
func (s *stage) leave(c *client) {
	s.said = append(s.said, fmt.Sprintf("s%d leaves", c.id))
	c.away = true
	c.line.HangUp()
	s.state = s.state.Disconnect(c.id)
}

// comeBack connects the session again, with the watches that it waits for.
func (s *stage) comeBack(c *client) {
	s.said = append(s.said, fmt.Sprintf("s%d returns", c.id))
	c.away = false
	c.line.Pass <- struct{}{}
	<-c.ready
	var watches []Watch
	for w := range c.wait {
		watches = append(watches, w)
	}
	slices.SortFunc(watches, func(a, b Watch) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	if len(watches) > 0 {
		<-c.line.Rearmed
	}
	var fired []Event
	s.state, _, fired = s.state.Reconnect(c.id, c.seen, watches)
	s.deliver(fired)
	if len(fired) > 0 {
		s.played["returns to 1 or more events"]++
	}
}

// ask plays r on both sides and compares the replies.
func (s *stage) ask(c *client, r Request) error {
	s.said = append(s.said, fmt.Sprintf("s%d: %+v", c.id, r))
	want := s.real(c, r)
	got := s.apply(c, r)
	if got.Code != OK {
		s.played[got.Code.Error()]++
	}
	got.Zxid = 0 // a real client keeps it to itself
	slices.Sort(got.Children)
	slices.Sort(want.Children)
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the State answers\n  %+v\nZooKeeper answers\n  %+v", got, want)
	}
	return nil
}

// end ends the session on the server: by its own request, or from elsewhere if
// its connection is not there or not to be used.
func (c *client) end(addr string) error {
	defer c.line.Cut(c.conn)
	if c.away {
		return c.line.Expire(addr)
	}
	c.conn.Close() // returns when the server has answered
	return nil
}

// request is the request of st: about paths that exist, or might.
func (s *stage) request(st step) Request {
	paths := []string{s.root, s.root + "/a", s.root + "/b", s.root + "/a/x", s.root + "/a/x/y"}
	for _, p := range s.state.Paths() {
		if strings.HasPrefix(p, s.root+"/") && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	r := Request{Op: allOps[1+st.more%7], Path: paths[int(st.path)%len(paths)], Version: AnyVersion}
	bit := func(i uint) bool { return st.who>>i&1 == 1 }
	switch r.Op {
	case Create:
		r.Mode = Mode(st.who >> 6)
		r.Data = fmt.Sprint(st.path)
		if r.Mode&Sequential != 0 {
			// Beside the root of the case is not ours to count.
			r.Path += []string{"/", "/n-", "-"}[int(st.path)%min(3, strings.Count(r.Path, "/")+1)]
		}
	case Delete, SetData:
		if bit(7) {
			r.Version = int32(st.who >> 5 & 1)
		}
		if r.Op == SetData {
			r.Data = fmt.Sprint(st.path)
		}
	case Exists, GetData, GetChildren:
		r.Watch = bit(7) || bit(6)
	}
	return r
}

// apply plays r on the State, and keeps what a client library would.
func (s *stage) apply(c *client, r Request) Reply {
	var reply Reply
	var fired []Event
	s.state, reply, fired = s.state.Apply(c.id, r)
	s.deliver(fired)
	c.seen = reply.Zxid
	switch {
	case r.Watch && r.Op == Exists && reply.Code == NoNode:
		c.wait[Watch{WatchCreation, r.Path}] = true
	case r.Watch && reply.Code == OK && r.Op == GetChildren:
		c.wait[Watch{WatchChildren, r.Path}] = true
	case r.Watch && reply.Code == OK:
		c.wait[Watch{WatchData, r.Path}] = true
	}
	return reply
}

// deliver passes events to their sessions, as a client library does.
func (s *stage) deliver(fired []Event) {
	for _, e := range fired {
		for _, c := range s.sessions {
			if c.id != e.Session {
				continue
			}
			c.told = append(c.told, Event{Type: e.Type, Path: e.Path})
			for _, kind := range map[EventType][]WatchKind{
				NodeCreated:         {WatchCreation},
				NodeDataChanged:     {WatchCreation, WatchData},
				NodeChildrenChanged: {WatchChildren},
				NodeDeleted:         {WatchCreation, WatchData, WatchChildren},
			}[e.Type] {
				delete(c.wait, Watch{kind, e.Path})
			}
		}
	}
}

// compareEvents sends a request in every session: the events that arrive before the reply are all there will be.
func (s *stage) compareEvents(ordered bool) error {
	for _, c := range s.sessions {
		if c.away {
			continue
		}
		if _, _, err := c.conn.Exists("/"); err != nil {
			return err
		}
		s.apply(c, Request{Op: Exists, Path: "/"})
		got := c.told
		c.told = nil
		var want []Event
		for len(c.events) > 0 {
			want = append(want, <-c.events)
		}
		for _, e := range want {
			s.played[fmt.Sprintf("event %d", e.Type)]++
		}
		if !ordered {
			for _, list := range [][]Event{got, want} {
				slices.SortFunc(list, func(a, b Event) int {
					return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Type, b.Type))
				})
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("s%d hears of the State\n  %+v\nand of ZooKeeper\n  %+v", c.id, got, want)
		}
	}
	return nil
}

// real plays r on the server.
func (s *stage) real(c *client, r Request) (reply Reply) {
	var err error
	var stat *zk.Stat
	switch r.Op {
	case Create:
		reply.Path, err = c.conn.Create(r.Path, []byte(r.Data), int32(r.Mode), zk.WorldACL(zk.PermAll))
	case Delete:
		err = c.conn.Delete(r.Path, r.Version)
	case SetData:
		stat, err = c.conn.Set(r.Path, []byte(r.Data), r.Version)
	case Sync:
		reply.Path, err = c.conn.Sync(r.Path)
	case Exists:
		var there bool
		if r.Watch {
			there, stat, _, err = c.conn.ExistsW(r.Path)
		} else {
			there, stat, err = c.conn.Exists(r.Path)
		}
		if err == nil && !there {
			err = zk.ErrNoNode
		}
	case GetData:
		var data []byte
		if r.Watch {
			data, stat, _, err = c.conn.GetW(r.Path)
		} else {
			data, stat, err = c.conn.Get(r.Path)
		}
		reply.Data = string(data)
	case GetChildren:
		if r.Watch {
			reply.Children, stat, _, err = c.conn.ChildrenW(r.Path)
		} else {
			reply.Children, stat, err = c.conn.Children(r.Path)
		}
	}
	if err != nil {
		return Reply{Code: code(err)}
	}
	if len(reply.Children) == 0 {
		reply.Children = nil
	}
	if stat != nil {
		reply.Stat = Stat{
			Czxid: stat.Czxid - s.offset, Mzxid: stat.Mzxid - s.offset, Pzxid: stat.Pzxid - s.offset,
			Version: stat.Version, Cversion: stat.Cversion, Owner: s.names[stat.EphemeralOwner],
			DataLength: int(stat.DataLength), NumChildren: int(stat.NumChildren),
		}
	}
	return reply
}

func code(err error) Code {
	for code, is := range map[Code]error{
		BadArguments: zk.ErrBadArguments, NoNode: zk.ErrNoNode, BadVersion: zk.ErrBadVersion,
		NodeExists: zk.ErrNodeExists, NoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals, NotEmpty: zk.ErrNotEmpty,
		SessionExpired: zk.ErrSessionExpired,
	} {
		if errors.Is(err, is) {
			return code
		}
	}
	return -1 // no State answers so
}

type silent struct{}

func (silent) Printf(string, ...any) {}
