package bugs

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/go-zookeeper/zk"
)

// Curator41 is a lock of Apache Curator with protected creation, as LeaderLatch and InterProcessMutex have it.
//
//	Old    4.1.0
//	Fixed  4.2.0, commit ea505f5: CURATOR-498
//	https://github.com/apache/curator/issues/1018
//	https://issues.apache.org/jira/browse/CURATOR-498
//
// When a create has no answer, Curator looks for its GUID and takes what it finds for its place. When the connection
// stays away it gives the session up and begins a new one. The place that it then found was of the old session: it
// disappeared with that, and another client got the lock beside the one that believed in it. The repair takes a place
// only if it is of the present session.
//
// The port gives the connection up when a create has no answer, and begins a new session two thirds of a time-out
// later, where Curator tries to connect until then. It looks at the owner of the znode, where Curator compares the
// session with that of its first attempt.
type Curator41 struct {
	connect   func() (*zk.Conn, error)
	timeout   time.Duration // of sessions
	conn      *zk.Conn
	path, own string
	version   Version
}

// NewCurator41 returns a lock whose queue is at the path. It makes its sessions, which have the time-out, by connect,
// and ends the last one in Close.
func NewCurator41(v Version, connect func() (*zk.Conn, error), path string, timeout time.Duration) *Curator41 {
	return &Curator41{connect: connect, timeout: timeout, path: path, version: v}
}

// Acquire waits until the caller has the lock or ctx ends.
func (l *Curator41) Acquire(ctx context.Context) (got bool, err error) {
	if l.conn, err = l.connect(); err != nil {
		return false, err
	}
	if err := retry(func() error { return ensure(l.conn, l.path) }); err != nil {
		return false, err
	}
	if err := l.create(newToken() + "-lock-"); err != nil {
		return false, err
	}
	return await(ctx, l.conn, l.own)
}

// create makes a place in the queue.
func (l *Curator41) create(prefix string) (err error) {
	for range 4 {
		l.own, err = l.conn.Create(path.Join(l.path, prefix), nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
		if !errors.Is(err, zk.ErrConnectionClosed) {
			return err
		}
		l.conn.Close()
		time.Sleep(l.timeout * 2 / 3)
		if l.conn, err = l.connect(); err != nil {
			return err
		}
		found, err := l.find(prefix)
		if found || err != nil {
			return err
		}
	}
	return err
}

// find looks for a place that create has made.
func (l *Curator41) find(prefix string) (bool, error) {
	own, err := find(l.conn, l.path, prefix)
	if own == "" || err != nil {
		return false, err
	}
	if l.version == Fixed {
		_, stat, err := l.conn.Exists(own)
		if err != nil || stat.EphemeralOwner != l.conn.SessionID() {
			return false, err
		}
	}
	l.own = own
	return true, nil
}

// Release gives the lock back.
func (l *Curator41) Release(context.Context) (bool, error) {
	err := retry(func() error { return l.conn.Delete(l.own, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}

// Close ends the session.
func (l *Curator41) Close() {
	if l.conn != nil {
		l.conn.Close()
	}
}
