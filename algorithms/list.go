// Package algorithms is the list of all locks that people have built on Redis, each as it was published, in historical
// order; and of the locks on ZooKeeper, which were meant to be better, and in databases, which were there before.
//
// An author of a lock imports [locklab/algorithms/lock]. A new lock is one file and one line in the list of
// [locklab/algorithms/redis], [locklab/algorithms/zookeeper] or [locklab/algorithms/database].
package algorithms

import (
	"slices"
	"strings"
	"sync"

	"locklab/algorithms/database"
	"locklab/algorithms/lock"
	"locklab/algorithms/redis"
	"locklab/algorithms/zookeeper"
)

// All returns all locks: those on Redis, then on a ZooKeeper, then in databases. The caller may change the slice.
func All() []lock.Entry { return slices.Clone(all()) }

var all = sync.OnceValue(func() []lock.Entry { return slices.Concat(redis.All(), zookeeper.All(), database.All()) })

// ByName finds a lock by one of its Names, ignoring case.
func ByName(name string) (lock.Entry, bool) {
	for _, e := range all() {
		if slices.ContainsFunc(e.Names(), func(n string) bool { return strings.EqualFold(name, n) }) {
			return e, true
		}
	}
	return lock.Entry{}, false
}

// Families returns the families of all locks, each once, in the order in which their first locks stand in the list.
func Families() (families []lock.Family) {
	for _, e := range all() {
		if !slices.Contains(families, e.Family) {
			families = append(families, e.Family)
		}
	}
	return families
}

// Milestones returns the six locks that mark the turning points of the history. Each
// fixes a failure of an earlier one. The caller may change the slice.
func Milestones() []lock.Entry { return named("setnx setnx-expire getset token watchdog redlock") }

// Known returns the locks to begin with: at least one of each family.
func Known() []lock.Entry {
	return named(`mutex setnx setnx-expire getset constant thread-id-lua token token-wait redislock-fence
		reentrant daemon-29 watchdog redisson-lease redisson-rearm redlock redlock-drift zk-naive zk-protected
		db-get-lock db-for-update db-row db-deadline-now no-lock-version no-lock-unique no-lock-token`)
}

// named returns the locks with some IDs, in the order of All.
func named(ids string) []lock.Entry {
	wanted := strings.Fields(ids)
	return slices.DeleteFunc(All(), func(e lock.Entry) bool { return !slices.Contains(wanted, e.ID) })
}

// IsMilestone reports whether a lock is a milestone.
func IsMilestone(id string) bool {
	return slices.ContainsFunc(Milestones(), func(e lock.Entry) bool { return e.ID == id })
}
