package lock

import (
	"context"
	"errors"
	"time"
)

// ZooKeeper is what the locks need of one session with an ensemble: [OnConn]
// makes one of a real client.
//
// Every method sends one request and waits for its answer. An error that is none
// of ErrNoNode, ErrNodeExists and ErrSessionEnded (a broken connection, above
// all) leaves open whether the request was run. The session outlives its
// connections: it ends when the ensemble has heard nothing for the session's
// time-out, by the ensemble's clock, and its ephemeral znodes with it.
type ZooKeeper interface {
	// Create makes an empty znode and returns its path. That of an
	// EphemeralSequential one is path and a number, by which the ensemble orders
	// the children of one parent: of 32 bits with sign, filled with zeros to ten
	// places. It returns ErrNoNode if there is no parent.
	Create(ctx context.Context, path string, kind Znode) (created string, err error)
	// Delete removes a znode, or returns ErrNoNode.
	Delete(ctx context.Context, path string) error
	// Exists returns the number of the transaction that created the znode, or
	// ErrNoNode. Numbers of transactions grow over the whole ensemble.
	Exists(ctx context.Context, path string) (czxid uint64, err error)
	// Children lists the names of the znode's children, in no order.
	Children(ctx context.Context, path string) (names []string, err error)
	// WatchNode leaves a watch for a change or the end of the znode. If it is not
	// there it leaves none and returns ErrNoNode.
	WatchNode(ctx context.Context, path string) (Watch, error)
	// WatchChildren is Children, and leaves a watch for a child that comes or goes.
	WatchChildren(ctx context.Context, path string) (names []string, watch Watch, err error)
}

// A Watch fires once, when what it looks at has changed; by then more may have.
// It is kept over broken connections. One that nobody waits for any more stays
// with the ensemble until it fires or the session ends.
type Watch interface {
	// Wait blocks until the watch has fired, for at most patience on the client's
	// own clock. It returns ErrSessionEnded when the watch will not fire any more.
	Wait(ctx context.Context, patience time.Duration) (fired bool, err error)
}

// A Znode is a kind of znode.
type Znode int

const (
	Persistent          Znode = iota // stays until somebody deletes it
	EphemeralSequential              // ends with the session that created it, and is numbered
)

// How an ensemble refuses.
var (
	ErrNoNode       = errors.New("algorithms: no such znode")
	ErrNodeExists   = errors.New("algorithms: the znode exists")
	ErrSessionEnded = errors.New("algorithms: the ZooKeeper session has ended")
)
