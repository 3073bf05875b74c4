package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
)

// lockRoot is the znode above those of all keys.
const lockRoot = "/locks"

// lockPath is the znode under which the clients of key queue. It is persistent and never
// deleted, so that the numbers of its children do not start again.
func lockPath(key string) string { return lockRoot + "/" + url.PathEscape(key) }

// A place is a client's own znode in a queue.
type place struct {
	zk     lock.ZooKeeper
	parent string
	name   string
}

func (p *place) path() string { return p.parent + "/" + p.name }

// join creates the last place in the queue under parent. With a guid, unique to this attempt, the place is protected:
// if the answer to create is lost, join searches the queue for it. If that fails too, a guaranteedSession goes on
// searching, to delete it. Without a guid, an error other than ErrSessionEnded may leave a place that no client knows.
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
	// Search even if the caller has cancelled ctx, in order not to leave the place behind.
	names, searchErr := zk.Children(context.WithoutCancel(ctx), parent)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, guid) }); i >= 0 {
		return &place{zk, parent, names[i]}, nil
	}
	if errors.Is(searchErr, lock.ErrNoNode) { // no queue, so no place
		searchErr = nil
	}
	if s, ok := zk.(*guaranteedSession); ok && searchErr != nil {
		s.findAndDelete(ctx, parent, guid)
	}
	return nil, errors.Join(lock.Unknown("create", path, err), searchErr)
}

// makePath creates the znodes of path that do not exist.
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

// find returns the queue, given the names of the parent's children, and the index of the place in
// it. It returns ErrNoNode if the place is gone.
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

// readQueue reads the queue from the ensemble; see find.
func (p *place) readQueue(ctx context.Context) (queue []string, own int, err error) {
	names, err := p.zk.Children(ctx, p.parent)
	if err != nil {
		return nil, 0, lock.Unknown("children", p.parent, err)
	}
	return p.find(names)
}

// number splits a place's name into the client's part and the number that the ensemble added, which may be negative.
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

// earlier orders places by their numbers. Numbers are unique until a parent has had 2^31 children.
func earlier(a, b string) int {
	_, m, _ := number(a)
	_, n, _ := number(b)
	if m != n {
		return int(max(-1, min(1, m-n)))
	}
	return strings.Compare(a, b)
}

// watch sets a watch on another place of the queue. It returns ErrNoNode if that place is gone.
func (p *place) watch(ctx context.Context, name string) (lock.Watch, error) {
	path := p.parent + "/" + name
	w, err := p.zk.WatchNode(ctx, path)
	if err != nil && !errors.Is(err, lock.ErrNoNode) {
		return nil, lock.Unknown("get", path, err)
	}
	return w, err
}

// leave gives the place up, even if the caller has cancelled ctx, and returns cause. If that is
// ErrNotAcquired but the place may still exist, it returns the error of the deletion.
func (p *place) leave(ctx context.Context, cause error) error {
	err := p.remove(context.WithoutCancel(ctx))
	switch {
	case err == nil || errors.Is(err, lock.ErrNotHeld):
		return cause
	case errors.Is(cause, lock.ErrNotAcquired):
		return err
	}
	return errors.Join(cause, err)
}

// remove deletes the place. It returns ErrNotHeld if the place was gone.
func (p *place) remove(ctx context.Context) error {
	return p.notHeldIfGone("delete", p.zk.Delete(ctx, p.path()))
}

// notHeldIfGone reads the error of a command on the place.
func (p *place) notHeldIfGone(command string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lock.ErrNoNode), errors.Is(err, lock.ErrSessionEnded):
		return lock.ErrNotHeld
	}
	return lock.Unknown(command, p.path(), err)
}
