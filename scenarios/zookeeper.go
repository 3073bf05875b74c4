package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locklab/algorithms"
	"locklab/simulator"
	"locklab/simulator/zookeeper"
)

// onZooKeeper says whether a lock is one on a ZooKeeper.
func onZooKeeper(entry algorithms.Entry) bool { return entry.Line != nil }

// servers is how many a lock wants: an ensemble is one.
func servers(entry algorithms.Entry) int { return max(entry.Nodes, 1) }

// nodes are the servers of a lock: so many like one, or an ensemble whose sessions
// last for ttl.
func nodes(entry algorithms.Entry, ttl time.Duration, like simulator.NodeSetup, n int) []simulator.NodeSetup {
	if onZooKeeper(entry) {
		return []simulator.NodeSetup{{Session: ttl}}
	}
	return slices.Repeat([]simulator.NodeSetup{like}, n)
}

// keyOf is what histories call the lock.
func keyOf(entry algorithms.Entry) string {
	if onZooKeeper(entry) {
		return entry.Line(key)
	}
	return key
}

// holders is for how many of a lock's clients there is room inside, as histories
// say it.
func holders(entry algorithms.Entry, clients int) []int {
	if entry.Holders == 0 {
		return nil
	}
	return slices.Repeat([]int{entry.Holders}, clients)
}

// zooSession is a lab's session as the locks know one.
type zooSession struct{ s *simulator.Session }

// do sends a request.
func (z zooSession) do(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, error) {
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, err
	}
	reply, err := z.s.Do(r)
	return reply, zooError(err)
}

// zooError is an error in the terms of the locks.
func zooError(err error) error {
	ours := error(nil)
	switch {
	case errors.Is(err, zookeeper.NoNode):
		ours = algorithms.ErrNoNode
	case errors.Is(err, zookeeper.NodeExists):
		ours = algorithms.ErrNodeExists
	case errors.Is(err, zookeeper.SessionExpired):
		ours = algorithms.ErrSessionEnded
	default:
		return err
	}
	return fmt.Errorf("%w (%w)", ours, err)
}

func (z zooSession) Create(ctx context.Context, path string, kind algorithms.Znode) (string, error) {
	r := zookeeper.Request{Op: zookeeper.Create, Path: path}
	if kind == algorithms.EphemeralSequential {
		r.Mode = zookeeper.Ephemeral | zookeeper.Sequential
	}
	reply, err := z.do(ctx, r)
	return reply.Path, err
}

func (z zooSession) Delete(ctx context.Context, path string) error {
	_, err := z.do(ctx, zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion})
	return err
}

func (z zooSession) Exists(ctx context.Context, path string) (uint64, error) {
	reply, err := z.do(ctx, zookeeper.Request{Op: zookeeper.Exists, Path: path})
	return uint64(reply.Stat.Czxid), err
}

func (z zooSession) Children(ctx context.Context, path string) ([]string, error) {
	reply, err := z.do(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, err
}

func (z zooSession) WatchNode(ctx context.Context, path string) (algorithms.Watch, error) {
	_, watch, err := z.watch(ctx, zookeeper.Request{Op: zookeeper.GetData, Path: path})
	return watch, err
}

func (z zooSession) WatchChildren(ctx context.Context, path string) ([]string, algorithms.Watch, error) {
	reply, watch, err := z.watch(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, watch, err
}

func (z zooSession) watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, algorithms.Watch, error) {
	if err := ctx.Err(); err != nil {
		return zookeeper.Reply{}, nil, err
	}
	reply, watch, err := z.s.Watch(r)
	if err != nil {
		return reply, nil, zooError(err)
	}
	return reply, zooWatch{watch}, nil
}

type zooWatch struct{ w *simulator.Watch }

func (z zooWatch) Wait(ctx context.Context, patience time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	fired, err := z.w.Wait(patience)
	return fired, zooError(err)
}
