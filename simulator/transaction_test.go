package simulator_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
)

// TestWatchEndsWithItsServer: a watching connection breaks when its server restarts. If
// it were replaced silently, the transaction would delete the key.
func TestWatchEndsWithItsServer(t *testing.T) {
	for fault, last := range map[simulator.Choice]string{faults.FailoverOf(1): "mine", faults.RestartOf(1): "<nil>"} {
		s := replicated(t, func(c *simulator.Client) {
			do(c, 1, "SET", "lock", "mine")
			err := releaseByWatch(c, "lock", "mine", func() { c.Clock().Sleep(2 * sec) })
			note(c, errors.Is(err, redis.TxFailedErr), err)
			do(c, 1, "GET", "lock")
			note(c, releaseByWatch(c, "lock", last, nil))
			do(c, 1, "GET", "lock")
		})
		s.settleNoReplica()
		s.step(replicate, fault)
		s.told = nil
		s.settle(5 * sec)
		want := "2s:false read tcp: connection reset by peer 2s:" + last + " 2s:<nil> 2s:<nil>"
		if last == "<nil>" {
			want = "2s:false read tcp: connection reset by peer 2s:<nil> 2s:not held: \"\" redis: nil 2s:<nil>"
		}
		if got := s.notes(); got != want {
			t.Errorf("after %s\n%s\nwant\n%s", s.sim.Describe(fault), got, want)
		}
		if s.count(history.Broken) != 1 {
			t.Errorf("after %s %d connections broke, want that which watched", s.sim.Describe(fault), s.count(history.Broken))
		}
	}
}

// TestOrphanedExec: a transaction whose sender has given up is still executed, on the
// connection on which it was sent; the next attempt uses another.
func TestOrphanedExec(t *testing.T) {
	s := solo(t, func(c *simulator.Client) {
		do(c, 1, "SET", "lock", "mine")
		for range 2 {
			note(c, releaseByWatch(c, "lock", "mine", func() { c.Clock().Sleep(sec) }))
		}
	})
	s.settleNoReplica()
	exec := simulator.Choice{Verb: simulator.Pass, D: sec}
	giveUp := []simulator.Choice{{Verb: simulator.Pass, D: 3 * sec}, {Verb: simulator.GiveUp, Client: 1}}
	s.step(exec, simulator.Choice{Verb: simulator.Wake, Client: 1})
	s.step(giveUp...)
	for s.count(history.Sleep) < 2 { // up to the middle of the second attempt
		s.step(s.sim.Enabled(&s.world, nil)[0])
	}
	late := simulator.Choice{Verb: simulator.Orphaned, Client: 1}
	if !slices.Contains(s.sim.Enabled(&s.world, nil), late) {
		t.Fatal("the first EXEC is not under way any more")
	}
	s.told = nil
	s.step(late)
	if i := slices.IndexFunc(s.told, func(e history.Event) bool { return e.Kind == history.Change }); i < 0 || s.told[i].After != "" {
		t.Errorf("the late EXEC did not delete the lock: %+v", s.told)
	}
	s.settle(10 * sec)
	s.wantNotes("5s:redis: transaction failed")
}

// TestWatchersInSearch: a search with symmetry finds the same as one without.
func TestWatchersInSearch(t *testing.T) {
	effort.Unwatched(t, "one goroutine steps")
	taker := func(c *simulator.Client) {
		ctx, node := context.Background(), c.Redis(1)
		for range 2 {
			token := c.Token()
			err := node.Watch(ctx, func(tx *redis.Tx) error {
				if n, err := tx.Exists(ctx, "lock").Result(); err != nil || n > 0 {
					return redis.TxFailedErr
				}
				_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
					return p.Do(ctx, "SET", "lock", token, "PX", 10_000).Err()
				})
				return err
			}, "lock")
			if err != nil {
				continue
			}
			c.Record(history.Event{Kind: history.Enter})
			c.Clock().Sleep(sec)
			c.Record(history.Event{Kind: history.Leave})
			node.Del(ctx, "lock")
		}
	}
	setup := simulator.Config{Nodes: []simulator.NodeConfig{{Replicas: 1}}}
	for range 3 {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: taker})
	}
	head := history.History{Clients: 3, Nodes: 1, Key: "lock", TTL: 10 * sec}
	for budget, overlap := range map[string]bool{"": false, "crash=1": false, "failover=1": true} {
		setup.Faults, _ = faults.Budget(budget).Parse()
		search := func(alike int) *explore.Result {
			r, err := explore.Exhaust(context.Background(), simulator.MustLab(t, setup), explore.Options{Case: head, Symmetric: alike})
			if err != nil || !r.Complete {
				t.Fatalf("%s: complete: %v, %v", budget, r.Complete, err)
			}
			return r
		}
		plain, quick := search(0), search(3)
		if !quick.Symmetry || quick.States >= plain.States {
			t.Errorf("%q: %d states with symmetry (%v), %d without", budget, quick.States, quick.Symmetry, plain.States)
		}
		words := func(r *explore.Result) (words []string) {
			for _, f := range r.Found {
				words = append(words, string(f.Verdict))
			}
			slices.Sort(words)
			return words
		}
		if a, b := words(plain), words(quick); !slices.Equal(a, b) || slices.Contains(a, "OVERLAP") != overlap {
			t.Errorf("%q: found %v, with symmetry %v; want an overlap: %v", budget, a, b, overlap)
		}
	}
}
