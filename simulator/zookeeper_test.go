package simulator_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// tell notes what a program has observed.
func tell(c *simulator.Client, what ...any) {
	c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(what...)})
}

// inLine is a client that queues and waits for the one before it.
func inLine(c *simulator.Client) {
	zk := c.ZooKeeper()
	do := func(r zookeeper.Request) (zookeeper.Reply, error) {
		reply, err := zk.Do(r)
		tell(c, r.Op, reply, err)
		return reply, err
	}
	_, _ = do(zookeeper.Request{Op: zookeeper.Create, Path: "/q"})
	for range 3 {
		own, err := do(zookeeper.Request{Op: zookeeper.Create, Path: "/q/n-", Mode: zookeeper.Ephemeral | zookeeper.Sequential})
		if err != nil {
			continue
		}
		for {
			reply, watch, err := zk.Watch(zookeeper.Request{Op: zookeeper.GetChildren, Path: "/q"})
			tell(c, reply, err)
			if err != nil || len(reply.Children) == 0 || "/q/"+slices.Min(reply.Children) >= own.Path { // its own may have gone with a session
				break
			}
			fired, err := watch.Wait(1500 * time.Millisecond)
			tell(c, fired, err)
			if err != nil || !fired {
				break
			}
		}
		c.Clock().Sleep(500 * time.Millisecond)
		_, _ = do(zookeeper.Request{Op: zookeeper.Delete, Path: own.Path, Version: zookeeper.AnyVersion})
	}
}

// onlooker reads what inLine does.
func onlooker(c *simulator.Client) {
	zk := c.ZooKeeper()
	for range 4 {
		_, w, err := zk.Watch(zookeeper.Request{Op: zookeeper.Exists, Path: "/q"})
		tell(c, err)
		c.Clock().Sleep(300 * time.Millisecond)
		if w != nil {
			fired, err := w.Wait(700 * time.Millisecond)
			tell(c, fired, err)
		}
		reply, err := zk.Do(zookeeper.Request{Op: zookeeper.SetData, Path: "/q", Data: c.Token(), Version: zookeeper.AnyVersion})
		tell(c, reply, err)
	}
}

// zoo is a setup with an ensemble and every fault that it allows.
func zoo() simulator.Config {
	return simulator.Config{
		Clients: []simulator.ClientConfig{{Program: inLine}, {Program: inLine}, {Program: onlooker}},
		Nodes:   []simulator.NodeConfig{{Session: 2 * time.Second}},
		Faults: []simulator.FaultBudget{
			{Fault: faults.Crash, Times: 1}, {Fault: faults.Pause, Times: 2}, {Fault: faults.LoseReply, Times: 2},
			{Fault: faults.LoseRequest, Times: 2}, {Fault: faults.Delay, Times: 2, Max: 3 * time.Second}, {Fault: faults.ExpireSession, Times: 2},
			{Fault: faults.Restart, Times: 1}, {Fault: faults.Hang, Times: 1}, {Fault: faults.NodeClock, Times: 1, Max: time.Second},
		},
	}
}

// Of two threads one waits for a watch, and the other leaves one that the same news would end. Whether
// it was left before the news was sent, or after, decides, and the threads hear of them in no order: that
// is named, and nothing is made of it.
func TestThreadsNeedOrder(t *testing.T) {
	watch := func(c *simulator.Client, op zookeeper.Op, path string) *zookeeper.ClientWatch {
		_, w, _ := c.ZooKeeper().Watch(zookeeper.Request{Op: op, Path: path})
		return w
	}
	create := func(path string) func(c *simulator.Client) {
		return func(c *simulator.Client) {
			_, _ = c.ZooKeeper().Do(zookeeper.Request{Op: zookeeper.Create, Path: path})
		}
	}
	beside := func(other func(c *simulator.Client)) simulator.ClientConfig {
		return simulator.ClientConfig{Program: func(c *simulator.Client) {
			w := watch(c, zookeeper.Exists, "/a")
			c.Parallel(func() { _, _ = w.Wait(10 * sec) }, func() { other(c) })
		}}
	}
	does := func(verb simulator.Verb, client, thread int8) simulator.Choice {
		return simulator.Choice{Verb: verb, Client: client, Thread: thread}
	}
	for name, run := range map[string]struct {
		clients []simulator.ClientConfig
		before  []simulator.Choice
		last    simulator.Choice
	}{
		"left after the news": {
			[]simulator.ClientConfig{beside(func(c *simulator.Client) { create("/a")(c); watch(c, zookeeper.GetData, "/a") })},
			[]simulator.Choice{does(simulator.Arrive, 1, 1), does(simulator.Answer, 1, 1)},
			does(simulator.Arrive, 1, 1),
		},
		"left before it": {
			[]simulator.ClientConfig{
				beside(func(c *simulator.Client) { watch(c, zookeeper.Exists, "/b") }),
				{Program: func(c *simulator.Client) { create("/b")(c); create("/a")(c) }},
			},
			[]simulator.Choice{
				does(simulator.Arrive, 1, 1), does(simulator.Start, 2, 0), does(simulator.Arrive, 2, 0), does(simulator.Answer, 2, 0), does(simulator.Arrive, 2, 0),
			},
			does(simulator.Deliver, 1, 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, simulator.Config{Clients: run.clients, Nodes: []simulator.NodeConfig{{Session: sec}}})
			s.step(does(simulator.Start, 1, 0), does(simulator.Arrive, 1, 0), does(simulator.Answer, 1, 0))
			s.step(run.before...)
			_, err := s.sim.Step(&s.world, run.last)
			if limit := (*simulator.LimitError)(nil); !errors.As(err, &limit) {
				t.Errorf("%v, want a limit", err)
			}
		})
	}
}
