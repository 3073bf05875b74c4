package race

import (
	"math"
	"path"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// linesUp names the moments at which a client is given a place in line.
func JoinsQueue(client int) func(*history.Event) bool {
	applied := Applies(client, "CREATE")
	return func(e *history.Event) bool {
		return applied(e) && slices.Contains(e.Cmd, "EPHEMERAL_SEQUENTIAL") && !strings.HasPrefix(e.Reply, "(error)")
	}
}

// worn is an ensemble on which all queues of a lock have given out all numbers but
// the last. Which queues these are is seen in a run.
func worn(entry lock.Entry) (zookeeper.State, error) {
	out, err := Calm.Play(entry, Calm.Settings)
	if err != nil {
		return zookeeper.State{}, err
	}
	var queues []string
	for i := range out.History.Events {
		if e := &out.History.Events[i]; JoinsQueue(e.Client)(e) {
			queues = append(queues, path.Dir(e.Reply))
		}
	}
	state := client.QueuedAt(queues...)
	for _, queue := range queues {
		state = state.SetCounter(queue, math.MaxInt32)
	}
	return state, nil
}
