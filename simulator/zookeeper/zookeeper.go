// Package zookeeper is a ZooKeeper ensemble as a value.
//
// A [State] is what an ensemble holds: an operation returns the next State, the reply, and the watches that it fires.
// It has no clock, no socket and no thread, and knows nothing of the simulator: its caller ends the sessions whose
// time is over (State.Close), and carries replies and events, or loses them.
//
// A [Kind] is a simulator's ensemble: States in a memo table, the clients' sessions and connections, and messages on
// their way; an [EnsembleState] is its part of a world (ensemble.go says what is simulated). A [Session] is what a
// client's code uses (client.go); code that opens connections speaks ZooKeeper's protocol on a [Wire] (wire.go).
//
// # The behaviour of a State
//
// The behaviour is that of the ZooKeeper Programmer's Guide, sections "The ZooKeeper Data Model" (znodes, versions,
// "Ephemeral Nodes", "Sequence Nodes"), "ZooKeeper Sessions" and "ZooKeeper Watches" ("Semantics of Watches", "What
// ZooKeeper Guarantees about Watches"). Where the guide is silent, as on which of two errors is reported, it is that
// of the server 3.8, with which a test compares it. The order in which the server runs requests is the order of the
// calls here: an ensemble agrees on one order of writes ("Consistency Guarantees", sequential consistency), and a read
// of the one server that is simulated never lags, so that sync has nothing to wait for.
//
// What is left out: access control, quotas and the reserved znodes below /zookeeper; containers and znodes with a TTL;
// persistent and recursive watches; multi; the wall-clock times ctime and mtime in a Stat; the password of a session.
//
// Where a State and a Kind differ from a server 3.8:
//   - A Kind ends a session at its time-out to the nanosecond. A server rounds the end
//     up to its next tick, and bounds a time-out to 2 to 20 ticks (tickTime in
//     the Administrator's Guide).
//   - The children of a znode are listed in the order of a hash of their names.
//     A server promises no order either, so that code which forgets to sort fails
//     on both; the orders differ.
//   - The ephemerals of a session that ends go in the order of their paths, all
//     in one transaction. On a server their order in it is that of a hash table.
//   - A session that ends by its own request receives nothing more. A server still
//     sends what its own end fired.
//   - SetCounter puts a counter where only 2^31 creations would bring it.
package zookeeper

import (
	"cmp"

	"locklab/simulator/internal/jute"
)

// A SessionID names a session. The first one is 1; 0 is none.
type SessionID int64

// AnyVersion in a Request matches every version.
const AnyVersion int32 = -1

// A Mode says what kind of znode a create makes: 0 is a plain, persistent one.
type Mode uint8

// Modes can be added up. The numbers are those of the protocol.
const (
	Ephemeral  Mode = 1 // goes when the session that created it ends; has no children
	Sequential Mode = 2 // its parent's counter is appended to its name
)

// An Op is what a Request asks for. The numbers are those of the protocol.
type Op int32

const (
	Ping        = Op(jute.Ping)        // nothing: a sign of life of the session
	Create      = Op(jute.Create)      // Path, Data, Mode
	Delete      = Op(jute.Delete)      // Path, Version
	Exists      = Op(jute.Exists)      // Path, Watch
	GetData     = Op(jute.GetData)     // Path, Watch
	SetData     = Op(jute.SetData)     // Path, Data, Version
	GetChildren = Op(jute.GetChildren) // Path, Watch
	Sync        = Op(jute.Sync)        // Path; answered when the server has caught up: at once
)

// A Request is what a session sends. It is comparable.
type Request struct {
	Op      Op
	Path    string
	Data    string
	Mode    Mode
	Version int32 // the version that the znode must have, or AnyVersion
	Watch   bool  // leave a watch: fires once, as Watch.Kind says
}

// A Reply is what the server answers. Fields that the operation does not fill, or that an error leaves empty, are zero.
type Reply struct {
	Code     Code
	Zxid     int64    // the last transaction that the server had run, this one included
	Path     string   // Create: the name that the znode got; Sync: as asked
	Data     string   // GetData
	Children []string // GetChildren: names, not paths, in no useful order. The caller must not change it
	Stat     Stat     // Exists, GetData, SetData, GetChildren
}

// A Stat is what the server knows of a znode ("ZooKeeper Stat Structure").
type Stat struct {
	Czxid       int64     // the transaction that created it
	Mzxid       int64     // the one that last set its data
	Pzxid       int64     // the one that last created or deleted a child
	Version     int32     // changes of its data
	Cversion    int32     // creations and deletions of children
	Owner       SessionID // the session of an ephemeral, or 0
	DataLength  int
	NumChildren int
}

// A Code is how an operation ended. Codes other than OK are errors; the numbers are those of the protocol.
type Code int32

const (
	OK                      Code = 0
	BadArguments            Code = -8
	NoNode                  Code = -101
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
)

// codes has the API's names of the codes, and what they say.
var codes = map[Code]struct{ name, text string }{
	OK:                      {"OK", "ok"},
	BadArguments:            {"BADARGUMENTS", "bad arguments"},
	NoNode:                  {"NONODE", "no such znode"},
	BadVersion:              {"BADVERSION", "another version than asked for"},
	NoChildrenForEphemerals: {"NOCHILDRENFOREPHEMERALS", "an ephemeral has no children"},
	NodeExists:              {"NODEEXISTS", "the znode exists"},
	NotEmpty:                {"NOTEMPTY", "the znode has children"},
	SessionExpired:          {"SESSIONEXPIRED", "the session has ended"},
}

// Known reports whether the code is one of these.
func (c Code) Known() bool { return codes[c].name != "" }

// Error says in words what the code means.
func (c Code) Error() string { return "zookeeper: " + codes[c].text }

// An EventType is what happened to the path of an Event.
type EventType uint8

// The numbers are those of the protocol.
const (
	NodeCreated         EventType = 1
	NodeDeleted         EventType = 2
	NodeDataChanged     EventType = 3
	NodeChildrenChanged EventType = 4
)

// An Event tells Session that a watch has fired. It reaches the session before any reply that the server gives it
// later ("What ZooKeeper Guarantees about Watches"); so among the events and replies to one session the order in which
// this package returns them is kept, an operation's events first.
type Event struct {
	Session SessionID
	Type    EventType
	Path    string
}

// A WatchKind says what a watch looks at.
type WatchKind uint8

const (
	// WatchData is left by GetData and Exists on an existing znode: it fires when data is set or the znode deleted.
	WatchData WatchKind = iota
	// WatchChildren is left by GetChildren: it fires when a child is created or deleted, or the znode deleted.
	WatchChildren
	// WatchCreation is left by Exists on a znode that is not there: it fires when the znode is created. The server
	// does not tell it from WatchData; a client that comes back must.
	WatchCreation
)

// A Watch is a client's memory of a watch that it has left and not seen fire.
type Watch struct {
	Kind WatchKind
	Path string
}

func (w Watch) compare(o Watch) int {
	return cmp.Or(cmp.Compare(w.Path, o.Path), cmp.Compare(w.Kind, o.Kind))
}

// leaves is the watch that the request leaves when it is answered by code, if it does.
func (r Request) leaves(code Code) (w Watch, leaves bool) {
	switch {
	case !r.Watch || code != OK && (r.Op != Exists || code != NoNode):
		return w, false
	case r.Op == GetChildren:
		return Watch{WatchChildren, r.Path}, true
	case code == NoNode:
		return Watch{WatchCreation, r.Path}, true
	}
	return Watch{WatchData, r.Path}, true
}

// A State is everything that the ensemble holds. It is a value that never changes, so a copy is a snapshot. The zero
// State is an ensemble without the root; use New.
type State struct {
	zxid     int64
	newest   SessionID
	nodes    []znode     // in the order of their paths
	sessions []SessionID // in order
	watches  []watch     // in order
}

// New is an ensemble in which only the root exists and no session.
func New() State { return State{nodes: []znode{{path: "/"}}} }

// Zxid is the last transaction run. Each write takes one, also one that fails, and so do a session's beginning and end.
func (s State) Zxid() int64 { return s.zxid }

// Apply runs what session asks for, and returns what the ensemble holds then, the answer, and the watches that fired.
// An ended session is answered SessionExpired, and nothing happens; a real server gives that answer when it reconnects.
func (s State) Apply(id SessionID, r Request) (State, Reply, []Event) {
	c := s.change()
	reply := c.apply(id, r)
	return c.State, reply, c.fired
}

func (c *change) apply(id SessionID, r Request) (reply Reply) {
	if !c.Alive(id) {
		return Reply{Code: SessionExpired, Zxid: c.zxid}
	}
	switch r.Op {
	case Ping:
	case Sync:
		reply.Path = r.Path
	case Create:
		reply = c.create(id, r)
	case Delete:
		reply.Code = c.delete(r)
	case SetData:
		reply = c.setData(r)
	case Exists, GetData, GetChildren:
		reply = c.read(r)
		if w, leaves := r.leaves(reply.Code); leaves {
			c.leave(id, w)
		}
	default:
		reply.Code = BadArguments
	}
	reply.Zxid = c.zxid
	return reply
}

// Paths lists the znodes, the root included, in the order of their paths.
func (s State) Paths() []string {
	paths := make([]string, len(s.nodes))
	for i := range s.nodes {
		paths[i] = s.nodes[i].path
	}
	return paths
}
