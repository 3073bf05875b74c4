package simulator_test

import (
	"fmt"
	"slices"
	"testing"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// replicated is a stage with one server that has a replica.
func replicated(t *testing.T, program func(*simulator.Client)) *stage {
	return newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: program}}, Nodes: []simulator.NodeConfig{{Replicas: 1}}, Faults: budget(t),
	})
}

var replicate = simulator.Choice{Verb: simulator.Replicate, Node: 1}

// changes are the changes of the data that no client made, since the last call.
func (s *stage) changes() (out []string) {
	for _, e := range s.told {
		if e.Kind == history.Change && e.Client == 0 {
			until := "for ever"
			if e.Until != history.Forever {
				until = e.Until.String()
			}
			if e.After == "" {
				until = "gone"
			}
			out = append(out, fmt.Sprintf("%s: %q -> %q %s", e.Key, e.Before, e.After, until))
		}
	}
	s.told = nil
	return out
}

func (s *stage) wantChanges(want ...string) {
	s.t.Helper()
	if got := s.changes(); !slices.Equal(got, want) {
		s.t.Errorf("the data changed by\n%q\nwant\n%q", got, want)
	}
}

// settleNoReplica does what can be done at once; replicas receive nothing, and no network
// heals.
func (s *stage) settleNoReplica() {
	for {
		enabled := s.sim.Enabled(&s.world, nil)
		i := slices.IndexFunc(enabled, func(c simulator.Choice) bool {
			return c.Verb < simulator.FaultVerb && c.Verb != simulator.Replicate && c.Verb != simulator.Heal
		})
		if i < 0 || enabled[i].Verb == simulator.Pass {
			return
		}
		s.step(enabled[i])
	}
}

// A replica that lags restores keys that have expired meanwhile: they expire at once.
func TestFailoverToDeadKeys(t *testing.T) {
	s := replicated(t, func(c *simulator.Client) {
		do(c, 1, "SET", "lock", "x", "PX", 1000)
		c.Clock().Sleep(60 * sec)
	})
	s.settleNoReplica()
	s.step(replicate, simulator.Choice{Verb: simulator.Pass, D: sec + 1e6})
	if !s.world.Behind(1) || s.count(history.Expire) != 1 {
		t.Error("the replica has heard of the key's end before it was told")
	}
	s.step(faults.FailoverOf(1))
	if s.count(history.Expire) != 2 {
		t.Error("the new server keeps a dead key")
	}
}

// The replica of a server that restarted empty can still take over with the data, until
// it has copied the empty state.
func TestReplicaCopiesEmptiness(t *testing.T) {
	s := replicated(t, func(c *simulator.Client) { do(c, 1, "SET", "k", "v"); c.Clock().Sleep(60 * sec) })
	s.settleNoReplica()
	s.step(replicate, faults.RestartOf(1))
	kept := s.world
	s.told = nil
	s.step(faults.FailoverOf(1))
	s.wantChanges(`k: "" -> "v" for ever`)
	s.world = kept
	s.step(replicate, faults.FailoverOf(1))
	s.wantChanges()
}

// Requests on their way to a server are lost with it, those to another are not.
func TestOrphanedRequestsGoWithTheirServer(t *testing.T) {
	for node, want := range map[int]string{1: `0s:<nil>`, 2: `0s:x`} {
		sender := func(c *simulator.Client) { do(c, 1, "SET", "k", "x") }
		reader := func(c *simulator.Client) { do(c, 1, "GET", "k") }
		s := newStage(t, simulator.Config{
			Clients: []simulator.ClientConfig{{Program: sender}, {Program: reader}}, Nodes: []simulator.NodeConfig{{}, {}}, Faults: budget(t),
		})
		s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.CrashOf(1), faults.RestartOf(node))
		late := simulator.Choice{Verb: simulator.Orphaned, Client: 1}
		if there := slices.Contains(s.sim.Enabled(&s.world, nil), late); there != (node == 2) {
			t.Errorf("after a restart of server %d the late request to server 1 is there: %v", node, there)
		} else if there {
			s.step(late)
		}
		s.settle(0)
		s.wantNotes(want)
	}
}

// Late requests that are equal except for their message number are offered once; others
// are each offered.
func TestEqualOrphanedRequests(t *testing.T) {
	s := solo(t, func(c *simulator.Client) {
		for range 5 {
			do(c, 1, "INCR", "n")
		}
		do(c, 1, "GET", "n")
		c.Clock().Sleep(sec)
	})
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1})
	for range 6 {
		s.step(simulator.Choice{Verb: simulator.Pass, D: 3 * sec}, simulator.Choice{Verb: simulator.GiveUp, Client: 1})
	}
	late := func() (places []int8) {
		for _, c := range s.sim.Enabled(&s.world, nil) {
			if c.Verb == simulator.Orphaned {
				places = append(places, c.Thread)
			}
		}
		return places
	}
	if got := late(); !slices.Equal(got, []int8{0, 5}) {
		t.Errorf("the late requests at %v are offered, want 0 and 5", got)
	}
	if got := s.sim.OrphanedRequests(&s.world, nil); len(got) != 6 || got[4].Choice.Thread != 4 || got[4].Msg != 5 {
		t.Errorf("the late requests are %v", got)
	}
}
