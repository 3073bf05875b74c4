package live

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/lists"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/zookeeper"
)

// TestPoolOnLoopback: other machines reach neither the servers of a run, with an append-only file or
// without, nor their replicas, nor what stands between them.
func TestPoolOnLoopback(t *testing.T) {
	t.Parallel()
	p := pool(t)
	for _, config := range []simulator.NodeConfig{{Replicas: 2}, {AOF: simulator.Always}} {
		s, err := p.take(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		defer s.end()
		for _, one := range append(s.replicas, s.master) {
			servertest.OnlyLoopback(t, os.Getpid(), one.Addr)
		}
	}
}

// TestPoolEndsWhatIsNotNew: a server is used again after everything that a run may do to it, and is
// not if anything is left that cleaning does not know of.
func TestPoolEndsWhatIsNotNew(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	t.Parallel()
	p := pool(t)
	for _, test := range []struct {
		leave  []string
		master bool // it is left on the master; else on the replica
		again  bool
	}{
		{[]string{"SET", "k", "v"}, true, true},
		{[]string{"EVAL", "return 1", "0"}, true, true},
		{[]string{"EVAL", "return 1", "0"}, false, true},
		{[]string{"NONSENSE"}, true, true},
		{[]string{"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"}, true, false},
		{[]string{"CONFIG", "SET", "replica-read-only", "no"}, false, false},
		{[]string{"CONFIG", "SET", "min-replicas-to-write", "1"}, true, false},
		{[]string{"ACL", "SETUSER", "bob", "on"}, true, false},
		{[]string{"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"}, true, false},
		{[]string{"CLIENT", "SETNAME", "x"}, true, false},
		{[]string{"REPLICAOF", "NO", "ONE"}, false, false},
	} {
		config := simulator.NodeConfig{Replicas: 1}
		s, err := p.take(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		to := s.master
		if !test.master {
			to = s.replicas[0]
		}
		err = to.Do(t.Context(), lists.Each(test.leave, func(word string) any { return word })...).Err()
		if err != nil && !errors.As(err, new(redis.Error)) {
			t.Fatal(err)
		}
		before := s.master.Addr
		p.give(t.Context(), s, false)
		next, err := p.take(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		if again := next.master.Addr == before; again != test.again {
			t.Errorf("%q: used again %v, want %v", test.leave, again, test.again)
		}
		if n, err := next.master.DBSize(t.Context()).Result(); err != nil || n != 0 {
			t.Errorf("%q: %v keys, %v", test.leave, n, err)
		}
		p.give(t.Context(), next, false)
	}
}

// inLine waits until it is the first in a line, and then leaves it.
func inLine(c *simulator.Client) {
	s := c.ZooKeeper()
	made, err := s.Do(zookeeper.Request{Op: zookeeper.Create, Path: "/n-", Mode: zookeeper.Ephemeral | zookeeper.Sequential})
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
	if err != nil || run.Stopped != nil || len(run.Differences) > 0 || run.Answers < 12 || notes(run.Events) != inOrder {
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
