package simulator_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/reports/text"
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

// parted is a stage with one server, and as many clients as programs; replicas
// and what the server asks of them are given.
func parted(t *testing.T, node simulator.NodeConfig, programs ...func(*simulator.Client)) *stage {
	allowed, err := faults.Budget("crash=1,restart=3,failover=3,split=3,hang=3,delay=3,lose-reply=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	s := simulator.Config{Nodes: []simulator.NodeConfig{node}, Faults: allowed}
	for _, p := range programs {
		s.Clients = append(s.Clients, simulator.ClientConfig{Program: p})
	}
	return newStage(t, s)
}

var heal = simulator.Choice{Verb: simulator.Heal, Node: 1}

// server is what happened to the data, and where: "0s n1 a" is a value that was
// set, "8s n2 -" a key that went.
func (s *stage) server() string {
	var out []string
	for _, e := range s.told {
		value := e.After
		switch e.Kind {
		case history.Split, history.Heal, history.Replicate:
			value = strings.ToUpper(e.Kind.String())
		case history.Expire:
			value = "-"
		case history.Change:
			if value == "" {
				value = "-"
			}
		default:
			continue
		}
		out = append(out, fmt.Sprintf("%v n%d %s", e.At, e.Node, value))
	}
	s.told = nil
	return strings.Join(out, ", ")
}

func (s *stage) wantServer(want string) {
	s.t.Helper()
	if got := s.server(); got != want {
		s.t.Errorf("the servers' data:\n%s\nwant\n%s", got, want)
	}
}

// run goes on until true time d; the replicas hear of nothing and the network
// does not heal.
func (s *stage) run(d time.Duration) {
	s.t.Helper()
	for {
		s.settleNoReplica()
		if s.world.Now() == d {
			return
		}
		s.step(pass(min(s.sim.NextDeadline(&s.world), d) - s.world.Now()))
	}
}

// On the old master keys still expire, under its own number.
func TestSplitExpires(t *testing.T) {
	once := func(c *simulator.Client) { do(c, 1, "SET", "lock", "a", "PX", 10000); c.Clock().Sleep(time.Hour) }
	s := parted(t, simulator.NodeConfig{Replicas: 1}, once)
	s.settleNoReplica()
	s.step(replicate, pass(sec), faults.SplitOf(1, 1, 0))
	s.run(20 * sec)
	s.wantServer("0s n1 a, 0s n1 REPLICATE, 1s n1 SPLIT, 10.001s n1 -, 10.001s n2 -")
}

// A client on the side of the old master keeps its connection, those of the others break;
// when the network heals it is the other way round. A client that is cut off later loses
// its connection then.
func TestSplitBreaksConnections(t *testing.T) {
	asker := func(c *simulator.Client) {
		for range 3 {
			do(c, 1, "PING")
		}
	}
	broken := func(s *stage) (clients []int) {
		for c := range 3 {
			if slices.Contains(s.sim.Enabled(&s.world, nil), simulator.Choice{Verb: simulator.Answer, Client: int8(c + 1)}) {
				s.step(simulator.Choice{Verb: simulator.Answer, Client: int8(c + 1)})
				if n := s.count(history.Broken); n > 0 {
					clients = append(clients, c+1)
				}
				s.told = nil
			}
		}
		return clients
	}
	s := parted(t, simulator.NodeConfig{Replicas: 1}, asker, asker, asker)
	for c := range int8(3) {
		s.step(simulator.Choice{Verb: simulator.Start, Client: c + 1})
	}
	for _, test := range []struct {
		choice simulator.Choice
		want   []int
	}{
		{faults.SplitOf(1, 1, 0), []int{2, 3}},
		{faults.SplitOf(2, 1, 0), []int{2}},
		{heal, []int{1, 2}},
	} {
		s.step(test.choice)
		if got := broken(s); !slices.Equal(got, test.want) {
			t.Errorf("%s breaks the connections of %v, want %v", s.sim.Describe(test.choice), got, test.want)
		}
	}
}

// WAIT counts no replica on the old master, and one less on the new one.
func TestSplitAndWait(t *testing.T) {
	waits := func(c *simulator.Client) {
		c.Clock().Sleep(sec)
		do(c, 1, "WAIT", 2, 500)
	}
	s := parted(t, simulator.NodeConfig{Replicas: 2}, waits, waits)
	s.run(sec / 2)
	s.step(faults.SplitOf(1, 1, 1))
	s.run(3 * sec)
	s.wantNotes("1.5s:0 1.5s:1")
}

// A request under way goes to the side of its sender.
func TestSplitAndOrphanedRequests(t *testing.T) {
	sender := func(c *simulator.Client) { do(c, 1, "SET", "k", c.ID()) }
	s := parted(t, simulator.NodeConfig{Replicas: 1}, sender, sender)
	for c := range int8(2) {
		s.step(simulator.Choice{Verb: simulator.Start, Client: c + 1}, pass(3*sec), simulator.Choice{Verb: simulator.GiveUp, Client: c + 1})
	}
	s.step(faults.SplitOf(1, 1, 0))
	s.run(7 * sec)
	s.wantServer("6s n1 SPLIT, 6s n2 1")
}

// min-replicas-to-write bounds how long the old master takes writes; reads, and
// scripts up to their first write, go on. The new master, with no replica left,
// takes none at all until the network heals.
func TestMinReplicas(t *testing.T) {
	const ms = time.Millisecond
	refusal := regexp.MustCompile(`NOREPLICAS[^.]*\.( script: \w+, on @user_script:1\.)?`)
	program := func(c *simulator.Client) {
		c.Clock().Sleep(2 * sec)
		for range 2 {
			do(c, 1, "INCR", "n")
			do(c, 1, "EVAL", `redis.call("get", "n"); return redis.call("incr", "n")`, 0)
			do(c, 1, "GET", "n")
			c.Clock().Sleep(2 * sec)
		}
	}
	for _, test := range []struct {
		node            simulator.NodeConfig
		cutOff, newSide string
	}{
		{simulator.NodeConfig{Replicas: 1, MinReplicas: 1, MaxLag: 2 * sec}, "2s:1 2s:2 2s:2 4s:NO 4s:NO 4s:2", "2s:NO 2s:NO 2s:<nil> 4s:NO 4s:NO 4s:<nil>"},
		{simulator.NodeConfig{Replicas: 2, MinReplicas: 1, MaxLag: 2 * sec}, "2s:1 2s:2 2s:2 4s:NO 4s:NO 4s:2", "2s:1 2s:2 2s:2 4s:3 4s:4 4s:4"},
		{simulator.NodeConfig{Replicas: 1, MinReplicas: 1}, "2s:1 2s:2 2s:2 4s:3 4s:4 4s:4", "2s:NO 2s:NO 2s:<nil> 4s:NO 4s:NO 4s:<nil>"},
	} {
		for c, want := range []string{test.cutOff, test.newSide} {
			s := parted(t, test.node, program, func(*simulator.Client) {})
			s.run(1500 * ms)
			s.step(faults.SplitOf(c+1, 1, 0))
			s.run(5 * sec)
			if got := refusal.ReplaceAllString(s.notes(), "NO"); got != want {
				t.Errorf("%+v, side %d:\n%s\nwant\n%s", test.node, c, got, want)
			}
		}
	}
	for want, node := range map[string]simulator.NodeConfig{
		"server 1 has 1 replicas and refuses writes with fewer than 2": {Replicas: 1, MinReplicas: 2},
		"within -1s: give 0 to 1 and a time of 0 or more":              {Replicas: 1, MaxLag: -sec},
	} {
		if _, err := simulator.New(simulator.Config{Clients: []simulator.ClientConfig{{Program: program}}, Nodes: []simulator.NodeConfig{node}}); err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
