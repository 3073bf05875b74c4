package simulator_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/simulator"
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
