package live

import (
	"errors"
	"slices"
	"testing"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/zookeeper"
)

// inLine waits until it is the first in a line, and then leaves it.
func inLine(c *simulator.Client) {
	s := c.ZooKeeper()
	made, err := s.Do(zookeeper.Request{Op: zookeeper.Create, Path: "/n-",
		Mode: zookeeper.Ephemeral | zookeeper.Sequential})
	if err != nil {
		return
	}
	for {
		reply, err := s.Do(zookeeper.Request{Op: zookeeper.GetChildren, Path: "/"})
		if err != nil {
			return
		}
		names := reply.Children
		slices.Sort(names)
		at := slices.Index(names, made.Path[1:])
		if at <= 0 {
			break
		}
		before := zookeeper.Request{Op: zookeeper.GetData, Path: "/" + names[at-1]}
		if _, watch, err := s.Watch(before); err == nil {
			watch.Wait(time.Minute)
		} else if !errors.Is(err, zookeeper.NoNode) {
			return
		}
	}
	c.Record(history.Event{Kind: history.Acquire, Note: made.Path})
	c.Clock().Sleep(time.Second)
	s.Do(zookeeper.Request{Op: zookeeper.Delete, Path: made.Path, Version: zookeeper.AnyVersion})
}

// TestZooKeeper plays a line of three clients: every answer, all news, all znodes and what the
// clients note are those of the lab. If somebody takes a znode away, that is noticed at once. Package
// reality plays what can go wrong.
func TestZooKeeper(t *testing.T) {
	server, err := NewZooKeeper(t.Context())
	servertest.Need(t, err)
	t.Cleanup(server.Close)
	config := simulator.Config{Nodes: []simulator.NodeConfig{{Session: time.Minute}}}
	for range 3 {
		config.Clients = append(config.Clients, simulator.ClientConfig{Program: inLine})
	}
	sim, choices := played(t, config, nil)
	run, err := Play(t.Context(), sim, choices, server)
	const inOrder = "/n-0000000000 /n-0000000001 /n-0000000002"
	if err != nil || run.Stopped != nil || len(run.Differences) > 0 || run.Answers < 12 ||
		notes(run.Events) != inOrder {
		t.Fatalf("%v, %+v, %q", err, run.Differences, notes(run.Events))
	}
	sim, choices = played(t, config, nil)
	taken, at := "", 0
	run, err = Play(t.Context(), sim, choices, disturbed{server, func(choice int, s servers) {
		r := s.(*ensemble)
		reply, err := r.ask(r.admin, zookeeper.Request{Op: zookeeper.GetChildren, Path: "/"})
		if err != nil {
			t.Error(err)
		}
		if taken == "" && len(reply.Children) == 3 {
			taken, at = "/"+slices.Min(reply.Children), choice
			take := zookeeper.Request{Op: zookeeper.Delete, Path: taken, Version: zookeeper.AnyVersion}
			if _, err := must(r.ask(r.admin, take)); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil || taken == "" || len(run.Differences) == 0 || run.Differences[0].Choice < at {
		t.Fatalf("%q was taken away before choice %d of %d: %v, %+v", taken, at, len(choices), err, run)
	}
}
