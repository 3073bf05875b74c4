package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
)

// lockRoot is the znode above all locks.
const lockRoot = "/locks"

// lockPath is the znode under which the clients of key queue. It is persistent
// and never removed, so that its children are numbered without a new start.
func lockPath(key string) string { return lockRoot + "/" + url.PathEscape(key) }

// A place is a client's own znode in a queue.
type place struct {
	zk     lock.ZooKeeper
	parent string
	name   string
}

func (p *place) path() string { return p.parent + "/" + p.name }

// join takes the last place in the queue below parent. With guid, which no other
// attempt has, it is a protected place: if the answer is lost, a look at the
// queue tells whether it was taken all the same. Without, an error other than
// ErrSessionEnded may leave a place behind of which nobody knows.
func join(ctx context.Context, zk lock.ZooKeeper, parent, guid, name string) (*place, error) {
	if guid != "" {
		guid = "_c_" + guid + "-"
	}
	path := parent + "/" + guid + name + "-"
	created, err := zk.Create(ctx, path, lock.EphemeralSequential)
	if errors.Is(err, lock.ErrNoNode) {
		if err := makePath(ctx, zk, parent); err != nil {
			return nil, err
		}
		created, err = zk.Create(ctx, path, lock.EphemeralSequential)
	}
	switch {
	case err == nil:
		return &place{zk, parent, strings.TrimPrefix(created, parent+"/")}, nil
	case guid == "" || errors.Is(err, lock.ErrSessionEnded):
		return nil, lock.Unknown("create", path, err)
	}
	// A caller who gave up does not want to leave it behind either.
	names, lookErr := zk.Children(context.WithoutCancel(ctx), parent)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, guid) }); i >= 0 {
		return &place{zk, parent, names[i]}, nil
	}
	if errors.Is(lookErr, lock.ErrNoNode) { // no queue, no place
		lookErr = nil
	}
	return nil, errors.Join(lock.Unknown("create", path, err), lookErr)
}

// makePath makes sure that path exists.
func makePath(ctx context.Context, zk lock.ZooKeeper, path string) error {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if _, err := zk.Create(ctx, path[:i], lock.Persistent); err != nil && !errors.Is(err, lock.ErrNodeExists) {
			return lock.Unknown("create", path[:i], err)
		}
	}
	return nil
}

// find is the queue, given the names of the parent's children, and the index of
// the place in it. It returns ErrNoNode if the place is gone.
func (p *place) find(names []string) (queue []string, own int, err error) {
	queue = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, _, ok := number(name)
		return !ok
	})
	slices.SortFunc(queue, earlier)
	own = slices.Index(queue, p.name)
	if own < 0 {
		return nil, 0, fmt.Errorf("%w any more: %q", lock.ErrNoNode, p.path())
	}
	return queue, own, nil
}

// look finds the queue as it is now.
func (p *place) look(ctx context.Context) (queue []string, own int, err error) {
	names, err := p.zk.Children(ctx, p.parent)
	if err != nil {
		return nil, 0, lock.Unknown("children", p.parent, err)
	}
	return p.find(names)
}

// number splits the name of a place into what the client called it and the
// number that the ensemble gave it, which may have a sign.
func number(name string) (stem string, n int64, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i > 0 && name[i-1] == '-' {
		i--
	}
	if i < 0 {
		return name, 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	return name[:i], n, err == nil
}

// earlier orders places by their numbers. Only a parent that has had 2^31
// children gives a number twice.
func earlier(a, b string) int {
	_, m, _ := number(a)
	_, n, _ := number(b)
	if m != n {
		return int(max(-1, min(1, m-n)))
	}
	return strings.Compare(a, b)
}

// watch leaves a watch on another place of the queue.
func (p *place) watch(ctx context.Context, name string) (lock.Watch, error) {
	path := p.parent + "/" + name
	w, err := p.zk.WatchNode(ctx, path)
	if err != nil && !errors.Is(err, lock.ErrNoNode) {
		return nil, lock.Unknown("get", path, err)
	}
	return w, err
}

// leave gives the place up because of why, and says so. A caller who gave up
// must not leave it behind.
func (p *place) leave(ctx context.Context, why error) error {
	err := p.remove(context.WithoutCancel(ctx))
	switch {
	case err == nil || errors.Is(err, lock.ErrNotHeld):
		return why
	case errors.Is(why, lock.ErrNotAcquired): // so it was, but the place may still stand
		return err
	}
	return errors.Join(why, err)
}

// remove deletes the place. It returns ErrNotHeld if it was gone.
func (p *place) remove(ctx context.Context) error {
	return p.known("delete", p.zk.Delete(ctx, p.path()))
}

// known is what the answer to a command on the place says of it.
func (p *place) known(command string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lock.ErrNoNode), errors.Is(err, lock.ErrSessionEnded):
		return lock.ErrNotHeld
	}
	return lock.Unknown(command, p.path(), err)
}

// A wait is what is left of an Await's patience, on the client's own clock.
type wait struct {
	clock lock.Clock
	left  time.Duration
	until time.Time
}

// newWait begins now. Without patience nobody looks at the clock.
func newWait(clock lock.Clock, patience time.Duration) *wait {
	if patience <= 0 {
		return &wait{}
	}
	return &wait{clock, patience, clock.Now().Add(patience)}
}

// over says that there is no time left: ErrNotAcquired, or nil.
func (w *wait) over() error {
	if w.left <= 0 {
		return lock.ErrNotAcquired
	}
	return nil
}

// on blocks until watch fires. It returns ErrNotAcquired when patience ends first.
func (w *wait) on(ctx context.Context, watch lock.Watch) error {
	fired, err := watch.Wait(ctx, w.left)
	w.left = w.until.Sub(w.clock.Now())
	switch {
	case err != nil:
		return fmt.Errorf("algorithms: waiting in line: %w", err)
	case !fired:
		return lock.ErrNotAcquired
	}
	return nil
}

var (
	_ lock.Reporter = (*placeLease)(nil)
	_ lock.Checker  = (*placeLease)(nil)
	_ lock.Fencer   = (*fencedPlaceLease)(nil)
)

// A placeLease is a place whose turn has come.
type placeLease struct{ place *place }

// Release gives the place up, and returns ErrNotHeld if it was gone: the session
// has ended, or somebody removed it.
func (l *placeLease) Release(ctx context.Context) error { return l.place.remove(ctx) }

// Check returns ErrNotHeld if the place is gone. It asks the ensemble.
func (l *placeLease) Check(ctx context.Context) error {
	_, err := l.place.zk.Exists(ctx, l.place.path())
	return l.place.known("exists", err)
}

// Reports implements [Reporter].
func (l *placeLease) Reports() {}

// A fencedPlaceLease is one that excludes everybody else.
type fencedPlaceLease struct {
	placeLease
	czxid uint64
}

// FencingToken is the number of the transaction that created the place. Whoever
// is served later came later, so it has a higher one.
func (l *fencedPlaceLease) FencingToken() uint64 { return l.czxid }

// fenced is the lease of a place whose turn has come. The look for the token is
// also the last one that can see the place gone.
func (p *place) fenced(ctx context.Context) (lock.Lease, error) {
	czxid, err := p.zk.Exists(ctx, p.path())
	if err != nil {
		return nil, p.leave(ctx, lock.Unknown("exists", p.path(), err))
	}
	return &fencedPlaceLease{placeLease{p}, czxid}, nil
}
