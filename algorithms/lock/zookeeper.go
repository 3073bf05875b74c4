package lock

import (
	"context"
	"errors"
	"time"
)

// ZooKeeper has the methods of a session with an ensemble that locks call.
// [locklab/algorithms/zookeeper.OnConn] makes one from a real client.
//
// Every method sends one request and waits for the answer. Any error other than ErrNoNode, ErrNodeExists and
// ErrSessionEnded (above all a broken connection) means that it is unknown whether the request was run. A session
// outlives its connections. It ends, and its ephemeral znodes with it, when the ensemble has not heard from the client
// for the session time-out, on the ensemble's clock.
type ZooKeeper interface {
	// Create makes an empty znode and returns its path. The path of an EphemeralSequential znode is path followed by a
	// number, by which the ensemble orders the children of one parent: a signed 32-bit integer, padded with zeros to
	// ten digits. Create returns ErrNoNode if there is no parent.
	Create(ctx context.Context, path string, kind Znode) (created string, err error)
	// Delete removes a znode, or returns ErrNoNode.
	Delete(ctx context.Context, path string) error
	// Exists returns the id of the transaction that created the znode (its czxid),
	// or ErrNoNode. Transaction ids increase over the whole ensemble.
	Exists(ctx context.Context, path string) (czxid uint64, err error)
	// Children lists the names of the znode's children, in no particular order.
	Children(ctx context.Context, path string) (names []string, err error)
	// WatchNode sets a watch on the znode, for a change of its data or its deletion.
	// If the znode does not exist, WatchNode sets no watch and returns ErrNoNode.
	WatchNode(ctx context.Context, path string) (Watch, error)
	// WatchChildren is Children, and sets a watch for a child that is created or deleted.
	WatchChildren(ctx context.Context, path string) (names []string, watch Watch, err error)
}

// A Watch fires once, after what it watches has changed; by then it may have changed again. It survives broken
// connections. The ensemble keeps a watch for which no caller waits any more until it fires or the session ends.
type Watch interface {
	// Wait blocks until the watch has fired, for at most patience on the client's
	// own clock. It returns ErrSessionEnded if the watch can no longer fire.
	Wait(ctx context.Context, patience time.Duration) (fired bool, err error)
}

// A Znode is a kind of znode.
type Znode int

const (
	Persistent          Znode = iota // stays until it is deleted
	EphemeralSequential              // ends with the session that created it, and is numbered
)

// The refusals of an ensemble.
var (
	ErrNoNode       = errors.New("lock: no such znode")
	ErrNodeExists   = errors.New("lock: the znode exists")
	ErrSessionEnded = errors.New("lock: the ZooKeeper session has ended")
)
