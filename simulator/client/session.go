package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/zookeeper"
)

// Session is a simulated session as the locks know one.
type Session struct{ s *zookeeper.Session }

// do sends a request.
func (z Session) do(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, error) {
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, err
	}
	reply, err := z.s.Do(r)
	return reply, lockError(err)
}

// lockError is an error in the terms of the locks.
func lockError(err error) error {
	known := error(nil)
	switch {
	case errors.Is(err, zookeeper.NoNode):
		known = lock.ErrNoNode
	case errors.Is(err, zookeeper.NodeExists):
		known = lock.ErrNodeExists
	case errors.Is(err, zookeeper.SessionExpired):
		known = lock.ErrSessionEnded
	default:
		return err
	}
	return fmt.Errorf("%w (%w)", known, err)
}

func (z Session) Create(ctx context.Context, path string, kind lock.Znode) (string, error) {
	r := zookeeper.Request{Op: zookeeper.Create, Path: path}
	if kind == lock.EphemeralSequential {
		r.Mode = zookeeper.Ephemeral | zookeeper.Sequential
	}
	reply, err := z.do(ctx, r)
	return reply.Path, err
}

func (z Session) Delete(ctx context.Context, path string) error {
	_, err := z.do(ctx, zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion})
	return err
}

func (z Session) Exists(ctx context.Context, path string) (uint64, error) {
	reply, err := z.do(ctx, zookeeper.Request{Op: zookeeper.Exists, Path: path})
	return uint64(reply.Stat.Czxid), err
}

func (z Session) Children(ctx context.Context, path string) ([]string, error) {
	reply, err := z.do(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, err
}

func (z Session) WatchNode(ctx context.Context, path string) (lock.Watch, error) {
	_, watch, err := z.watch(ctx, zookeeper.Request{Op: zookeeper.GetData, Path: path})
	return watch, err
}

func (z Session) WatchChildren(ctx context.Context, path string) ([]string, lock.Watch, error) {
	reply, watch, err := z.watch(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, watch, err
}

func (z Session) watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, lock.Watch, error) {
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, nil, err
	}
	reply, left, err := z.s.Watch(r)
	if err != nil {
		return reply, nil, lockError(err)
	}
	return reply, watch{left}, nil
}

type watch struct{ w *zookeeper.ClientWatch }

func (z watch) Wait(ctx context.Context, patience time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	fired, err := z.w.Wait(patience)
	return fired, lockError(err)
}
