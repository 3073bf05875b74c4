package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// onZooKeeper says whether a lock is one on a ZooKeeper.
func onZooKeeper(entry algorithms.Entry) bool { return entry.Line != nil }

// servers is how many a lock wants: an ensemble is one.
func servers(entry algorithms.Entry) int { return max(entry.Nodes, 1) }

// nodes are the servers of a lock: so many like one, or an ensemble whose sessions
// last for ttl, and on which the lock has been used before.
func nodes(entry algorithms.Entry, ttl time.Duration, like simulator.NodeSetup, n int) []simulator.NodeSetup {
	if onZooKeeper(entry) {
		return []simulator.NodeSetup{{Session: ttl, Znodes: queuedAt(entry.Line(key)), Lines: map[string]string{entry.Line(key): key, entry.Line(otherKey): otherKey}}}
	}
	return slices.Repeat([]simulator.NodeSetup{like}, n)
}

// mentions says whether a command is about a key, or a znode below that of its
// lock.
func mentions(cmd []string, key string) bool {
	return slices.ContainsFunc(cmd, func(arg string) bool { return arg == key || strings.Contains(arg, "/"+key) })
}

// wholeEnsemble says why a scenario has no meaning on a ZooKeeper, of which no
// single server is looked at; empty: it has one.
func (sc Scenario) wholeEnsemble() Text {
	if sc.Replicas > 0 {
		return Text{
			EN: "the servers of a ZooKeeper ensemble agree before they answer: there is no replica that lags",
			ZH: "ZooKeeper 集群先达成一致再应答：没有落后的从库",
		}
	}
	if sc.Settings.Timeout > 0 {
		return sessionsPatience
	}
	if sc.Budget == nil {
		return Text{}
	}
	budget, _ := faults.ParseBudget(sc.Budget(1)) // Check has read it
	for _, a := range budget {
		switch a.Fault.(type) {
		case faults.NodeClock:
			return Text{
				EN: "a ZooKeeper counts the time of a session by a clock that does not jump",
				ZH: "ZooKeeper 用单调时钟给会话计时，时钟不会跳变",
			}
		case faults.Restart, faults.Hang:
			return Text{
				EN: "a ZooKeeper ensemble outlives the loss of one of its servers",
				ZH: "ZooKeeper 集群少一台服务器照常工作",
			}
		case faults.FailCall, faults.Evict, faults.Flush, faults.Delete:
			return Text{
				EN: "it befalls the keys and commands of a Redis, and this lock is on a ZooKeeper",
				ZH: "这是 Redis 的 key 和命令才会遇到的事，而这把锁在 ZooKeeper 上",
			}
		}
	}
	return Text{}
}

// sessionsPatience is why a race with the time-out of a command has no meaning on a
// ZooKeeper.
var sessionsPatience = Text{
	EN: "a client of a ZooKeeper waits for an answer as long as its session allows, and then drops the connection",
	ZH: "ZooKeeper 客户端等应答的时间由会话超时决定，等不到就断开连接",
}

// queuedAt is an ensemble on which somebody has queued below paths and gone.
func queuedAt(paths ...string) zookeeper.State {
	state, id := zookeeper.New().Connect(0, time.Second)
	for _, path := range paths {
		for i := 1; i <= len(path); i++ {
			if i == len(path) || path[i] == '/' {
				state, _, _ = state.Apply(0, id, zookeeper.Request{Op: zookeeper.Create, Path: path[:i]})
			}
		}
	}
	state, _, _ = state.Close(id)
	return state
}

// holders is for how many of a lock's clients there is room inside, as histories
// say it.
func holders(entry algorithms.Entry, clients int) []int {
	room := entry.Holders
	switch room {
	case 0:
		return nil
	case algorithms.AnyNumber:
		room = history.AnyNumber
	}
	return slices.Repeat([]int{room}, clients)
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
