package race

import (
	"math"
	"path"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator/client"
	"locklab/simulator/zookeeper"
)

// notOnEnsemble returns why a scenario does not apply to an ensemble, which is
// modelled as a whole and not server by server; "": it applies.
func (sc Scenario) notOnEnsemble() Reason {
	if sc.Replicas > 0 {
		return "zookeeper-replicates-first"
	}
	if sc.Settings.Timeout > 0 {
		return "zookeeper-timeout"
	}
	budget := sc.ownBudget(1).Faults()
	for _, b := range budget {
		switch b.Fault {
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

// exhaustedQueues returns the contents of a ZooKeeper on which all queues of a lock have given out all
// numbers but the last. Which queues the lock uses is observed in a run; a user's own code
// queues at its key. Of another kind of server the contents stay.
func exhaustedQueues(entry lock.Entry, code *Code, contents any) (any, error) {
	all, ok := contents.(zookeeper.Contents)
	if !ok {
		return contents, nil
	}
	if code != nil {
		all.Znodes = client.QueuedAt(code.Key).SetCounter(code.Key, math.MaxInt32)
		return all, nil
	}
	out, err := Calm.play(entry, Calm.Settings, nil, false)
	if err != nil {
		return nil, err
	}
	var queues []string
	for i := range out.History.Events {
		if e := &out.History.Events[i]; JoinsQueue(e.Client)(e) {
			queues = append(queues, path.Dir(e.Reply))
		}
	}
	all.Znodes = client.QueuedAt(queues...)
	for _, queue := range queues {
		all.Znodes = all.Znodes.SetCounter(queue, math.MaxInt32)
	}
	return all, nil
}
