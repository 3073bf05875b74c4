package redisnode_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// told is the events that a server makes, and the answers that clients get.
func told(events []history.Event) string {
	var list []string
	for _, e := range events {
		switch e.Kind {
		case history.Answer, history.External, history.Apply:
			list = append(list, e.Name()+" "+e.Reply)
		case history.Change:
			list = append(list, fmt.Sprintf("%s %s>%s", e.Key, e.Before, e.After))
		case history.Expire:
			list = append(list, fmt.Sprintf("%s %s gone", e.Key, e.Before))
		case history.Down, history.Up, history.Hang, history.Broken, history.Replicate, history.Sync:
			list = append(list, e.Name())
		}
	}
	return strings.Join(list, ", ")
}

// TestStage: what befalls a server step by step, while a client sends one command after the other.
func TestStage(t *testing.T) {
	type step struct {
		do   simulator.Choice
		want string // the events, or why it cannot be
	}
	const sec = time.Second
	ask := simulator.Choice{Verb: simulator.Arrive, Client: 1}
	hear := simulator.Choice{Verb: simulator.Answer, Client: 1}
	heal := simulator.Choice{Verb: simulator.Heal, Node: 1}
	pass := func(d time.Duration) simulator.Choice { return simulator.Choice{Verb: simulator.Pass, D: d} }
	replicate := func(r int8) simulator.Choice {
		return simulator.Choice{Verb: simulator.Replicate, Node: 1, Thread: r}
	}
	for _, test := range []struct {
		rule     string
		server   simulator.NodeConfig
		commands string // "GET a; GET b"; the first has been executed and answered
		steps    []step
	}{
		{"replicas that a client waits for, and what cannot befall the server", simulator.NodeConfig{Replicas: 2},
			"SET k v PX 5000; WAIT 1 1000; WAIT 2 0", []step{
				{ask, ""}, {replicate(0), "replicate, apply 1"}, {hear, "answer 1"}, {ask, ""},
				{replicate(0), "refused.replica.behind"}, {pass(2 * sec), ""}, {replicate(1), "replicate, apply 2"},
				{replicate(2), "refused.replica.behind"}, {replicate(-1), "refused.replica.behind"},
				{hear, "answer 2"}, {faults.HangOf(1, 0), "refused.hang.length"},
				{faults.RestartAfter(1, sec), "down, k v>"}, {faults.RestartOf(1), "refused.server.down.already"},
				{faults.FailoverTo(1, 2), "refused.replica.unknown"}, {faults.FailoverTo(1, 1), "k >v"},
			}},
		{"the disk of a promoted replica has what it has",
			simulator.NodeConfig{Replicas: 1, AOF: simulator.EverySecond}, "SET k v; SET k w", []step{
				{replicate(0), "replicate"}, {ask, "apply OK, k v>w"}, {faults.FailoverOf(1), "k w>v"},
				{faults.RestartOf(1), "down, up"},
			}},
		{"a replica that has another time to live", simulator.NodeConfig{Replicas: 1},
			"SET k v PX 1000; PEXPIRE k 5000; PEXPIRE k 5000; PERSIST k", []step{
				{replicate(0), "replicate"}, {ask, "apply 1, k v>v"}, {hear, "answer 1"}, {ask, "apply 1"},
				{hear, "answer 1"}, {faults.FailoverOf(1), "k v>v"},
			}},
		{"a key that lives on for ever", simulator.NodeConfig{}, "SET k v PX 1000; PERSIST k", []step{
			{ask, "apply 1, k v>v"},
		}},
		{"an old master that is cut off receives nothing", simulator.NodeConfig{Replicas: 2}, "SET k v", []step{
			{faults.SplitOf(1, 1, 0), "k v>"}, {faults.RestartOf(1), "down, up"},
			{replicate(0), "refused.replica.behind"}, {replicate(1), "refused.replica.behind"},
			{heal, "replicate"},
		}},
		{"nor does it hear of replicas", simulator.NodeConfig{Replicas: 2}, "SET k v; WAIT 1 1000", []step{
			{replicate(0), "replicate"}, {replicate(1), "replicate"}, {faults.SplitOf(1, 1, 0), ""}, {ask, ""},
		}},
		{"replicas that lack nothing", simulator.NodeConfig{Replicas: 1}, "GET k; WAIT 1 1000", []step{
			{ask, "apply 1"},
		}},
		{"a jump of the clock beyond the end of a key", simulator.NodeConfig{}, "SET k v PX 3000", []step{
			{faults.NodeClockOf(1, 2*sec), ""}, {faults.NodeClockOf(1, 2*sec), "k v gone"},
		}},
	} {
		config := simulator.Config{Nodes: []simulator.NodeConfig{test.server}}
		config.Clients = []simulator.ClientConfig{{Program: func(c *simulator.Client) {
			for line := range strings.SplitSeq(test.commands, "; ") {
				var args []any
				for _, word := range strings.Fields(line) {
					args = append(args, word)
				}
				_ = c.Redis(1).Do(context.Background(), args...).Err()
			}
		}}}
		var err error
		config.Faults, err = faults.Budget("hang=9,restart=9@5s,failover=9,split=9,node-clock=9@9s").Parse()
		if err != nil {
			t.Fatal(err)
		}
		sim, err := simulator.New(config)
		if err != nil {
			t.Fatal(err)
		}
		w := sim.NewWorld()
		first := []step{{simulator.Choice{Verb: simulator.Start, Client: 1}, ""}, {ask, ""}, {hear, ""}}
		for i, step := range append(first, test.steps...) {
			events, err := sim.Step(&w, step.do)
			got := told(events)
			if not := (*simulator.NotEnabledError)(nil); errors.As(err, &not) {
				got = not.Why.Key
			} else if err != nil {
				t.Fatal(test.rule, err)
			}
			if got != step.want && i > 2 {
				t.Errorf("%s: %s: %q, want %q", test.rule, sim.Describe(step.do), got, step.want)
			}
		}
		sim.Close()
	}
}
