package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"locklab/algorithms/lock"
)

// OnConn returns the session of a real client. Its znodes are readable and writable for everybody.
// clock is the client's own: patience is measured on it. The caller owns conn and closes it.
//
// The client reconnects by itself and keeps its watches. While it has no connection, a request waits for one even if
// its context is cancelled: the context is checked before a request is sent, and while waiting for a watch. When the
// session has ended the client starts a new one. The places of the old session are gone, and the locks notice that.
func OnConn(conn *zk.Conn, clock lock.Clock) lock.ZooKeeper { return &session{conn, clock} }

type session struct {
	conn  *zk.Conn
	clock lock.Clock
}

// ask sends a request, unless ctx has ended. Its errors are those of the package lock.
func ask(ctx context.Context, send func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return refusal(send())
}

// refusal translates err to the errors of the package lock.
func refusal(err error) error {
	for _, r := range []struct{ theirs, ours error }{
		{zk.ErrNoNode, lock.ErrNoNode},
		{zk.ErrNodeExists, lock.ErrNodeExists},
		{zk.ErrSessionExpired, lock.ErrSessionEnded},
	} {
		if errors.Is(err, r.theirs) {
			return fmt.Errorf("%w (%w)", r.ours, err)
		}
	}
	return err
}

func (s *session) Create(ctx context.Context, path string, kind lock.Znode) (created string, err error) {
	flags := int32(0)
	if kind == lock.EphemeralSequential {
		flags = zk.FlagEphemeral | zk.FlagSequence
	}
	err = ask(ctx, func() (err error) {
		created, err = s.conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
		return err
	})
	return created, err
}

func (s *session) Delete(ctx context.Context, path string) error {
	const anyVersion = -1
	return ask(ctx, func() error { return s.conn.Delete(path, anyVersion) })
}

func (s *session) Exists(ctx context.Context, path string) (czxid uint64, err error) {
	err = ask(ctx, func() error {
		there, stat, err := s.conn.Exists(path)
		if err == nil && !there {
			return zk.ErrNoNode
		} else if err == nil {
			czxid = uint64(stat.Czxid)
		}
		return err
	})
	return czxid, err
}

func (s *session) Children(ctx context.Context, path string) (names []string, err error) {
	err = ask(ctx, func() (err error) {
		names, _, err = s.conn.Children(path)
		return err
	})
	return names, err
}

func (s *session) WatchNode(ctx context.Context, path string) (lock.Watch, error) {
	watch := &connWatch{clock: s.clock}
	err := ask(ctx, func() (err error) {
		_, _, watch.events, err = s.conn.GetW(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	return watch, nil
}

func (s *session) WatchChildren(ctx context.Context, path string) (names []string, _ lock.Watch, err error) {
	watch := &connWatch{clock: s.clock}
	err = ask(ctx, func() (err error) {
		names, _, watch.events, err = s.conn.ChildrenW(path)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return names, watch, nil
}

type connWatch struct {
	events <-chan zk.Event
	clock  lock.Clock
}

func (w *connWatch) Wait(ctx context.Context, patience time.Duration) (fired bool, err error) {
	over := make(chan struct{})
	timer := w.clock.AfterFunc(patience, func() { close(over) })
	defer timer.Stop()
	select {
	case event, ok := <-w.events:
		switch {
		case !ok: // it has fired before
			return true, nil
		case event.Err != nil:
			return false, fmt.Errorf("%w (%w)", lock.ErrSessionEnded, event.Err)
		}
		return true, nil
	case <-over:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
