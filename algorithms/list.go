package algorithms

import (
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/algorithms/redis"
	"locklab/algorithms/zookeeper"
)

// All returns the strategies: those on Redis, and then those on a ZooKeeper, which
// were meant to do better. The caller may change the slice.
func All() []lock.Entry { return slices.Concat(redis.All(), zookeeper.All()) }

// ByName finds a strategy by one of its Names, in any case of letters.
func ByName(name string) (lock.Entry, bool) {
	for _, e := range All() {
		if slices.ContainsFunc(e.Names(), func(n string) bool { return strings.EqualFold(name, n) }) {
			return e, true
		}
	}
	return lock.Entry{}, false
}

// OnRedis returns the strategies that lock on Redis.
func OnRedis() []lock.Entry { return redis.All() }

// OnZooKeeper returns the strategies that lock on a ZooKeeper.
func OnZooKeeper() []lock.Entry { return zookeeper.All() }

// Milestones returns the locks on which the story turns, each the answer to a
// fall of one before it. The caller may change the slice.
func Milestones() []lock.Entry { return redis.Milestones() }
