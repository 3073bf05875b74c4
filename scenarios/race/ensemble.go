package race

import (
	"slices"
	"strings"

	"locklab/faults"
)

// mentions says whether a command is about a key, or a znode below that of its
// lock.
func Mentions(cmd []string, key string) bool {
	return slices.ContainsFunc(cmd, func(arg string) bool { return arg == key || strings.Contains(arg, "/"+key) })
}

// wholeEnsemble says why a scenario has no meaning on a ZooKeeper, of which no
// single server is looked at; empty: it has one.
func (sc Scenario) wholeEnsemble() Reason {
	if sc.Replicas > 0 {
		return "zookeeper-replicates-first"
	}
	if sc.Settings.Timeout > 0 {
		return SessionsPatience
	}
	if sc.Budget == nil {
		return ""
	}
	budget, _ := faults.ParseBudget(sc.Budget(1)) // Check has read it
	for _, a := range budget {
		switch a.Fault.(type) {
		case faults.NodeClock:
			return "zookeeper-clock"
		case faults.Restart, faults.Hang:
			return "zookeeper-survives-server"
		case faults.FailCall, faults.Evict, faults.Flush, faults.Delete:
			return "redis-only"
		}
	}
	return ""
}

// sessionsPatience is why a race with the time-out of a command has no meaning on a
// ZooKeeper.
var SessionsPatience Reason = "zookeeper-timeout"
