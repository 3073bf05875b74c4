package bugs

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Curator10 is InterProcessMutex of Netflix Curator.
//
//	Old    1.0.0
//	Fixed  since October 2011, after issue 3
//	https://github.com/Netflix/curator/issues/3
//
// A place in the queue is an ephemeral, sequential znode, and Curator repeats a create whose answer was lost with the
// connection. The session went on, and with it the place that the first create had made: nobody knew its name, and all
// who came after it waited for it, its own client too. The repair puts a GUID into the name, and looks for it before
// it creates.
//
// The port is for one thread, and repeats at once.
type Curator10 struct {
	conn      *zk.Conn
	path, own string
	version   Version
}

// NewCurator10 returns a lock whose queue is at the path.
func NewCurator10(v Version, conn *zk.Conn, path string) *Curator10 {
	return &Curator10{conn: conn, path: path, version: v}
}

// Acquire waits until the caller has the lock or ctx ends.
func (l *Curator10) Acquire(ctx context.Context) (bool, error) {
	prefix := "lock-"
	if l.version == Fixed {
		prefix = newToken() + "-lock-"
	}
	if err := retry(func() error { return ensure(l.conn, l.path) }); err != nil {
		return false, err
	}
	tried := false
	err := retry(func() (err error) {
		if tried && l.version == Fixed {
			if l.own, err = find(l.conn, l.path, prefix); l.own != "" || err != nil {
				return err
			}
		}
		tried = true
		l.own, err = l.conn.Create(path.Join(l.path, prefix), nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
		return err
	})
	if err != nil {
		return false, err
	}
	return await(ctx, l.conn, l.own)
}

// find returns the path of the place in a queue whose name begins so, "" if there is none.
func find(conn *zk.Conn, parent, prefix string) (string, error) {
	places, err := queueOf(conn, parent)
	for _, place := range places {
		if strings.HasPrefix(place, prefix) {
			return path.Join(parent, place), err
		}
	}
	return "", err
}

// Release gives the lock back.
func (l *Curator10) Release(context.Context) (bool, error) {
	err := retry(func() error { return l.conn.Delete(l.own, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}
