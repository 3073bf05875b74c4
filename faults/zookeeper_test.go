package faults_test

import (
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// newZoo is a world with an ensemble, of which the first client asks, the second
// sleeps, and the third's program has not begun.
func newZoo(t *testing.T, budget string) *stage {
	t.Helper()
	asks := func(c *simulator.Client) {
		for {
			_, _ = c.ZooKeeper().Do(zookeeper.Request{Op: zookeeper.Create, Path: "/n-", Mode: zookeeper.Ephemeral | zookeeper.Sequential})
		}
	}
	return begun(t, budget, 2, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: asks}, {Program: sleeper}, {Program: idle}}, Nodes: []simulator.NodeConfig{{Session: 9 * sec}},
	})
}

func kinds(events []history.Event) (kinds []history.EventKind) {
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestExpireSession(t *testing.T) {
	s := newZoo(t, "expire-session=2")
	want := []simulator.Choice{faults.ExpireSessionOf(1), faults.ExpireSessionOf(2)}
	if got := s.choices(); !slices.Equal(got, want) {
		t.Errorf("can inject: %v, want %v", got, want)
	}
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
	if got := kinds(s.step(t, faults.ExpireSessionOf(1))); !slices.Equal(got, []history.EventKind{history.SessionEnd, history.Expire}) {
		t.Errorf("told %v", got)
	}
	s.refused(t, faults.ExpireSessionOf(1), "the client has no session")
	s.refused(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1}, "still to hear") // the reply was before the end
	s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})
	s.refused(t, simulator.Choice{Verb: simulator.Arrive, Client: 1}, "no request is on the way") // it waits for a connection
	if e := s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})[0]; e.Kind != history.Reconnect || e.Note != "the session has ended" {
		t.Errorf("told %+v", e)
	}
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
	s.step(t, faults.ExpireSessionOf(1)) // it has another one
	newStage(t, "expire-session=1").refused(t, faults.ExpireSessionOf(1), "the client has no session")
}

// What would befall one server of an ensemble is not offered, and is refused.
func TestEnsembleIsWhole(t *testing.T) {
	s := newZoo(t, "node-clock=1@1s,restart=1,failover=1,split=1,hang=1,fail-call=1,evict=1,flush=1,delete=1")
	if got := s.choices(); len(got) != 0 {
		t.Errorf("can inject: %v", got)
	}
	for _, c := range []simulator.Choice{faults.NodeClockOf(1, sec), faults.RestartOf(1), faults.FailoverTo(1, 0), faults.HangOf(1, sec), faults.FlushOf(1)} {
		s.refused(t, c, "the server is a ZooKeeper")
	}
}

// A message that is lost takes the connection with it, and the request is run
// before the client connects again, or never.
func TestLostMessages(t *testing.T) {
	s := newZoo(t, "lose-request=1,lose-reply=1,delay=1")
	s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
	s.step(t, faults.LoseReplyTo(1, 0))
	if got := kinds(s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})); got[0] != history.Broken {
		t.Errorf("told %v", got)
	}
	s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})
	s.step(t, faults.LoseRequestOf(1, 0))
	s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})
	s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})

	s.step(t, faults.DelayOf(1, 0, time.Hour))
	s.step(t, simulator.Choice{Verb: simulator.Pass, D: 6 * sec}) // two thirds of the session
	if got := kinds(s.step(t, simulator.Choice{Verb: simulator.GiveUp, Client: 1})); got[0] != history.Timeout {
		t.Errorf("told %v", got)
	}
	s.step(t, simulator.Choice{Verb: simulator.Reconnect, Client: 1})
	late := simulator.Choice{Verb: simulator.Orphaned, Client: 1}
	s.refused(t, late, "no such request is on the way")
}
