package zookeeper

import (
	"context"

	"locklab/algorithms/lock"
)

var (
	_ lock.Checker = (*placeLease)(nil)
	_ lock.Fencer  = (*fencedPlaceLease)(nil)
)

// A placeLease is a place whose turn has come.
type placeLease struct {
	lock.Reporting
	place *place
}

// Release gives the place up. It returns ErrNotHeld if it was gone: the session has ended or another client deleted it.
func (l *placeLease) Release(ctx context.Context) error { return l.place.remove(ctx) }

// Check returns ErrNotHeld if the place is gone. It asks the ensemble.
func (l *placeLease) Check(ctx context.Context) error {
	_, err := l.place.zk.Exists(ctx, l.place.path())
	return l.place.notHeldIfGone("exists", err)
}

// A fencedPlaceLease excludes every other client.
type fencedPlaceLease struct {
	placeLease
	czxid uint64
}

// FencingToken is the id of the transaction that created the place. A client that gets the lock
// later has joined the queue later, so its token is higher.
func (l *fencedPlaceLease) FencingToken() uint64 { return l.czxid }

// fenced returns the lease of a place whose turn has come. Reading the token is the last check that the place exists.
func (p *place) fenced(ctx context.Context) (lock.Lease, error) {
	czxid, err := p.zk.Exists(ctx, p.path())
	if err != nil {
		return nil, p.leave(ctx, lock.Unknown("exists", p.path(), err))
	}
	return &fencedPlaceLease{placeLease{place: p}, czxid}, nil
}
