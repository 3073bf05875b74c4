package faults_test

import (
	"slices"
	"testing"

	"locklab/faults"
	"locklab/simulator"
)

// A client's code sees its new list when it reads the list the next time, and no other client does. The
// last server of a list stays, a client without a list gets none, and a process that is started in
// place of another one has the list of that.
func TestServerList(t *testing.T) {
	var read [3][]int // what each client has read last
	reads := func(c *simulator.Client) {
		for {
			read[c.ID()-1] = c.Shards()
			c.Clock().Sleep(sec)
		}
	}
	s := begun(t, "server-list=9,crash=1,return=1", 0, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: reads, List: 2}, {Program: reads, List: 2}, {Program: reads}}, Nodes: make([]simulator.NodeConfig, 3),
	})
	check := func(want ...[]int) {
		t.Helper()
		if !slices.EqualFunc(read[:], want, slices.Equal) {
			t.Errorf("the clients have read %v, want %v", read, want)
		}
	}
	wake := func() {
		s.step(t, simulator.Choice{Verb: simulator.Pass, D: sec})
		for c := range int8(3) {
			s.step(t, simulator.Choice{Verb: simulator.Wake, Client: c + 1})
		}
	}
	if !slices.Contains(s.choices(), faults.ServerListOf(2, 3)) {
		t.Error("the list of a client that has not begun cannot change")
	}
	for c := range int8(3) {
		s.step(t, simulator.Choice{Verb: simulator.Start, Client: c + 1})
	}
	check([]int{0, 1}, []int{0, 1}, nil)
	for _, c := range []struct {
		server int
		note   string
	}{{3, "added"}, {1, "removed"}, {2, "removed"}} {
		events := s.step(t, faults.ServerListOf(2, c.server))
		if e := events[0]; len(events) != 1 || e.Name() != "server-list" || e.Client != 2 || e.Node != c.server || e.Note != c.note {
			t.Errorf("server %d: %+v", c.server, events)
		}
	}
	check([]int{0, 1}, []int{0, 1}, nil) // nothing has been read since
	wake()
	check([]int{0, 1}, []int{2}, nil)
	s.refused(t, faults.ServerListOf(2, 3), "only server")
	s.refused(t, faults.ServerListOf(2, 4), "only server")
	s.refused(t, faults.ServerListOf(3, 1), "no list")
	s.refused(t, faults.ServerListOf(4, 1), "no such client")
	s.step(t, faults.CrashOf(2))
	s.refused(t, faults.ServerListOf(2, 1), "dead")
	s.step(t, faults.ReturnOf(2))
	read[1] = nil
	s.step(t, simulator.Choice{Verb: simulator.Start, Client: 2})
	check([]int{0, 1}, []int{2}, nil)
	for _, c := range s.choices() {
		if c.Verb == faults.ServerList.Verb && (c.Client == 3 || c == faults.ServerListOf(2, 3)) {
			t.Errorf("%s is offered", s.sim.Describe(c))
		}
	}
}
