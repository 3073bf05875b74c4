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
func (sc Scenario) wholeEnsemble() Text {
	if sc.Replicas > 0 {
		return Text{
			EN: "the servers of a ZooKeeper ensemble agree before they answer: there is no replica that lags",
			ZH: "ZooKeeper 集群先达成一致再应答：没有落后的从库",
		}
	}
	if sc.Settings.Timeout > 0 {
		return SessionsPatience
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
var SessionsPatience = Text{
	EN: "a client of a ZooKeeper waits for an answer as long as its session allows, and then drops the connection",
	ZH: "ZooKeeper 客户端等应答的时间由会话超时决定，等不到就断开连接",
}
