package client

import (
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// Servers returns the servers of a lock: n servers like one, or a ZooKeeper ensemble with
// sessions of length ttl, on which the lock has been used before.
func Servers(entry lock.Entry, ttl time.Duration, like simulator.NodeConfig, n int) []simulator.NodeConfig {
	if entry.OnZooKeeper() {
		lines := map[string]string{entry.Line(Key): Key, entry.Line(OtherKey): OtherKey}
		return []simulator.NodeConfig{{Session: ttl, Contents: zookeeper.Contents{Znodes: QueuedAt(entry.Line(Key)), Lines: lines}}}
	}
	return slices.Repeat([]simulator.NodeConfig{like}, n)
}

// QueuedAt returns an ensemble on which a client has queued at each of the paths and left.
func QueuedAt(paths ...string) zookeeper.State {
	state, id := zookeeper.New().Connect()
	for _, path := range paths {
		for i := 1; i <= len(path); i++ {
			if i == len(path) || path[i] == '/' {
				state, _, _ = state.Apply(id, zookeeper.Request{Op: zookeeper.Create, Path: path[:i]})
			}
		}
	}
	state, _, _ = state.Close(id)
	return state
}

// History is a history of clients that use a lock, before its first event.
func History(entry lock.Entry, clients int, ttl time.Duration) history.History {
	return history.History{
		Strategy: entry.ID, Clients: clients, Nodes: entry.Servers(), Shards: entry.Shards > 0, Key: Key, ZooKeeper: entry.OnZooKeeper(), Local: entry.Family == lock.OneProcess,
		Holders: Holders(entry, clients), TTL: ttl,
	}
}

// Holders returns with how many others each client may hold the lock at the same time,
// itself included, as history.History has it; nil: it is exclusive.
func Holders(entry lock.Entry, clients int) []int {
	room := entry.Holders
	switch room {
	case 0:
		return nil
	case lock.AnyNumber:
		room = history.AnyNumber
	}
	return slices.Repeat([]int{room}, clients)
}
