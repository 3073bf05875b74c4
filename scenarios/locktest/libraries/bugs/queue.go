package bugs

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"

	"github.com/go-zookeeper/zk"
)

var everybody = zk.WorldACL(zk.PermAll)

// retry calls f again as long as the connection breaks, up to four times.
func retry(f func() error) (err error) {
	for range 4 {
		if err = f(); !errors.Is(err, zk.ErrConnectionClosed) {
			return err
		}
	}
	return err
}

// ensure creates a znode and those above it, where they are missing.
func ensure(conn *zk.Conn, node string) error {
	if node == "/" {
		return nil
	}
	if err := ensure(conn, path.Dir(node)); err != nil {
		return err
	}
	if _, err := conn.Create(node, nil, 0, everybody); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	return nil
}

// queueOf returns the names of the places in a queue, the first one first.
func queueOf(conn *zk.Conn, parent string) (places []string, err error) {
	err = retry(func() error {
		places, _, err = conn.Children(parent)
		return err
	})
	slices.SortFunc(places, func(a, b string) int { return cmp.Compare(a[len(a)-10:], b[len(b)-10:]) })
	return places, err
}

// errGone means that the caller's place has disappeared with its session.
var errGone = errors.New("bugs: the place in the queue is gone, as the session is")

// await waits until own, the path of a place, is the first of its queue. It reports false if ctx ends before.
func await(ctx context.Context, conn *zk.Conn, own string) (bool, error) {
	parent, name := path.Split(own)
	parent = path.Clean(parent)
	for {
		places, err := queueOf(conn, parent)
		if err != nil {
			return false, err
		}
		switch i := slices.Index(places, name); {
		case i < 0:
			return false, errGone
		case i == 0:
			return true, nil
		default:
			var gone <-chan zk.Event
			err := retry(func() (err error) {
				_, _, gone, err = conn.GetW(path.Join(parent, places[i-1])) // which watches no place that is gone
				return err
			})
			if errors.Is(err, zk.ErrNoNode) {
				continue
			}
			if err != nil {
				return false, err
			}
			select {
			case <-gone:
			case <-ctx.Done():
				return false, remove(conn, own)
			}
		}
	}
}

// remove deletes a place. That it was gone is no error.
func remove(conn *zk.Conn, own string) error {
	err := retry(func() error { return conn.Delete(own, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
