package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/zookeeper"
)

// Session makes what sends the requests of a ZooKeeper session a lock.ZooKeeper.
type Session struct{ Requester }

// A Requester sends a request to a simulated ensemble and waits for the reply. The errors are package zookeeper's.
type Requester interface {
	Do(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, error)
	// Watch also sets a watch on what is read.
	Watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, lock.Watch, error)
}

// do sends a request and waits for the reply.
func (s Session) do(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, error) {
	reply, err := s.Do(ctx, r)
	return reply, lockError(err)
}

// lockError wraps an error of the ensemble in the error that package lock has for it.
func lockError(err error) error {
	ours := error(nil)
	switch {
	case errors.Is(err, zookeeper.NoNode):
		ours = lock.ErrNoNode
	case errors.Is(err, zookeeper.NodeExists):
		ours = lock.ErrNodeExists
	case errors.Is(err, zookeeper.SessionExpired):
		ours = lock.ErrSessionEnded
	default:
		return err
	}
	return fmt.Errorf("%w (%w)", ours, err)
}

func (s Session) Create(ctx context.Context, path string, kind lock.Znode) (string, error) {
	r := zookeeper.Request{Op: zookeeper.Create, Path: path}
	if kind == lock.EphemeralSequential {
		r.Mode = zookeeper.Ephemeral | zookeeper.Sequential
	}
	reply, err := s.do(ctx, r)
	return reply.Path, err
}

func (s Session) Delete(ctx context.Context, path string) error {
	_, err := s.do(ctx, zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion})
	return err
}

func (s Session) Exists(ctx context.Context, path string) (uint64, error) {
	reply, err := s.do(ctx, zookeeper.Request{Op: zookeeper.Exists, Path: path})
	return uint64(reply.Stat.Czxid), err
}

func (s Session) Children(ctx context.Context, path string) ([]string, error) {
	reply, err := s.do(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, err
}

func (s Session) WatchNode(ctx context.Context, path string) (lock.Watch, error) {
	_, watch, err := s.Watch(ctx, zookeeper.Request{Op: zookeeper.GetData, Path: path})
	return watch, lockError(err)
}

func (s Session) WatchChildren(ctx context.Context, path string) ([]string, lock.Watch, error) {
	reply, watch, err := s.Watch(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, watch, lockError(err)
}

// requester sends the requests of a process of the simulator.
type requester struct{ session *zookeeper.Session }

func (s requester) Do(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, error) {
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, err
	}
	defer s.session.Heed(ctx)()
	return s.session.Do(r)
}

func (s requester) Watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, lock.Watch, error) {
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, nil, err
	}
	defer s.session.Heed(ctx)()
	reply, fires, err := s.session.Watch(r)
	if err != nil {
		return reply, nil, err
	}
	return reply, watch{s.session, fires}, nil
}

type watch struct {
	session *zookeeper.Session
	watch   *zookeeper.ClientWatch
}

func (w watch) Wait(ctx context.Context, patience time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer w.session.Heed(ctx)()
	fired, err := w.watch.Wait(patience)
	return fired, lockError(err)
}
