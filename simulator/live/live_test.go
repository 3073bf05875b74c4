package live

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/redisnode"
	"locklab/simulator/schedule"
)

// launcher is one for the length of a test.
func launcher(t *testing.T) *Launcher {
	t.Helper()
	l, err := NewLauncher()
	servertest.Need(t, err)
	t.Cleanup(l.Close)
	return l
}

// TestOnLoopback: other machines reach neither the servers of a run, with an append-only file or
// without, nor their replicas, nor what stands between them.
func TestOnLoopback(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	for _, config := range []simulator.NodeConfig{{Replicas: 2}, {AOF: simulator.Always}} {
		s, err := l.startSet(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		defer s.end()
		for _, one := range append(s.replicas, s.master) {
			servertest.OnlyLoopback(t, os.Getpid(), one.Addr)
		}
	}
}

// played is a trace of a program for each client, by the clock, and a simulator in which it
// can be played again.
func played(
	t *testing.T, config simulator.Config, script func(s *schedule.Stage, e *history.Event),
) (*simulator.Simulator, []simulator.Choice) {
	t.Helper()
	sim, err := simulator.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	run, err := schedule.NewPlayer(sim).Play(schedule.Conditions{
		Latency: time.Millisecond, Lag: simulator.Never, Horizon: time.Minute, Script: script,
	})
	if err != nil || run.NotInjected != nil {
		t.Fatal(err, run.NotInjected)
	}
	again, err := simulator.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Close)
	return again, slices.Clone(run.Choices)
}

// disturbed is a target whose servers are touched before each choice.
type disturbed struct {
	Target
	disturb func(choice int, s servers)
}

func (d disturbed) servers(p *player) servers { return touched{d.Target.servers(p), p, d.disturb} }

type touched struct {
	servers
	p       *player
	disturb func(choice int, s servers)
}

func (t touched) before(c simulator.Choice) error {
	t.disturb(t.p.choice, t.servers)
	return t.servers.before(c)
}

// first returns the first redis-server of a run.
func first(s servers) *server { return s.(*redisServers).groups[0].master }

// locker takes a lock with a lease of 10 s, again and again, and notes the answers.
func locker(c *simulator.Client) {
	for range 4 {
		v, err := c.Redis(1).Do(context.Background(), "SET", "lock", c.Token(), "NX", "PX", 10000).Result()
		note := "nil"
		if err == nil {
			note = v.(string)
		}
		c.Record(history.Event{Kind: history.Acquire, Note: note})
		c.Clock().Sleep(4 * time.Second)
	}
	c.Record(history.Event{Kind: history.Done})
}

func notes(events []history.Event) string {
	var all []string
	for _, e := range events {
		if e.Kind == history.Acquire {
			all = append(all, e.Note)
		}
	}
	return strings.Join(all, " ")
}

// TestLeaseRunsDown: a lease of 10 s is over on a real server when it is in the lab, in a
// hundredth of the time; the answers are the server's own.
func TestLeaseRunsDown(t *testing.T) {
	l := launcher(t)
	sim, choices := played(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: locker}}, Nodes: []simulator.NodeConfig{{}},
	}, nil)
	began := time.Now()
	run, err := Play(t.Context(), sim, choices, Redis{Speed: 100, Launcher: l})
	if err != nil || len(run.Differences) > 0 || run.Answers != 4 || notes(run.Events) != "OK nil nil OK" {
		t.Errorf("%v, %+v, %d answers, %s", err, run.Differences, run.Answers, notes(run.Events))
	}
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("twelve seconds took %v: the time was not real", took)
	}
}

// TestDifference: what is done to a real server behind the lab's back is noticed, the client's code
// hears the real answers, and the history has what was measured.
func TestDifference(t *testing.T) {
	l := launcher(t)
	sim, choices := played(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: locker}}, Nodes: []simulator.NodeConfig{{}},
	}, nil)
	deleted := false
	run, err := Play(t.Context(), sim, choices, disturbed{Redis{Speed: 100, Launcher: l}, func(choice int, s servers) {
		if choice > len(choices)/3 && !deleted {
			deleted = true
			if err := first(s).Del(t.Context(), "lock").Err(); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if notes(run.Events) != "OK OK nil nil" {
		t.Errorf("the client heard %s", notes(run.Events))
	}
	d := run.Differences
	if len(d) < 2 || d[0].Cmd == nil || d[0].Lab != "(nil)" || d[0].Real != "OK" || d[1].Key != "lock" ||
		!strings.HasPrefix(d[1].Lab, "c1.1 until") || !strings.HasPrefix(d[1].Real, "c1.") {
		t.Fatalf("differences: %+v", d)
	}
	if !slices.ContainsFunc(run.Events, func(e history.Event) bool {
		return e.At == d[1].At && e.Kind == history.Change && e.Key == "lock" &&
			strings.HasPrefix(d[1].Real, e.After+" ") && e.Until > 10*time.Second
	}) {
		t.Error("the history does not have what was measured")
	}
}

// TestWaitRealServer pins what WAIT waits for: all that the server had written when it
// executed the connection's last command; nothing on a connection that has sent nothing else. The
// server is busy at each choice, so that it reads late what it is sent.
func TestWaitRealServer(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	l := launcher(t)
	waiter := func(before ...any) func(c *simulator.Client) {
		return func(c *simulator.Client) {
			if before != nil {
				c.Redis(1).Do(context.Background(), before...)
			}
			n, _ := c.Redis(1).Do(context.Background(), "WAIT", 1, 1000).Int()
			c.Record(history.Event{Kind: history.Acquire, Note: string(rune('0' + n))})
		}
	}
	sim, choices := played(t, simulator.Config{
		Clients: []simulator.ClientConfig{
			{Program: waiter("SET", "a", "x")}, {Program: waiter("SET", "a", "y", "NX")}, {Program: waiter()},
		},
		Nodes: []simulator.NodeConfig{{Replicas: 1}},
	}, nil)
	run, err := Play(t.Context(), sim, choices, disturbed{Redis{Speed: 20, Launcher: l}, func(_ int, s servers) {
		w, err := realserver.Dial(first(s).Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		if err := w.Send([]string{"EVAL", "for i = 1, 3e6 do end", "0"}); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || len(run.Differences) > 0 || notes(run.Events) != "1 0 0" {
		t.Errorf("%v, %+v: %s", err, run.Differences, notes(run.Events))
	}
}

// TestStop: a run that is stopped leaves no folder behind, and says why.
func TestStop(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l := launcher(t)
	ctx, stop := context.WithCancel(t.Context())
	sim, choices := played(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: locker}}, Nodes: []simulator.NodeConfig{{Replicas: 1}},
		Faults: []simulator.FaultBudget{{Fault: faults.Crash, Times: 1}},
	}, nil)
	_, err := Play(ctx, sim, choices, disturbed{Redis{Speed: 20, Launcher: l}, func(choice int, _ servers) {
		if choice == len(choices)/2 {
			stop()
		}
	}})
	l.Close()
	if left, _ := os.ReadDir(os.TempDir()); !errors.Is(err, context.Canceled) || len(left) > 0 {
		t.Errorf("%v, and %v is left", err, left)
	}
}

// TestSameAnswer: of errors the code counts, of everything else each byte.
func TestSameAnswer(t *testing.T) {
	for _, test := range []struct {
		lab, real string
		same      bool
	}{
		{"+OK\r\n", "+OK\r\n", true}, {"+OK\r\n", "$-1\r\n", false}, {":1\r\n", ":2\r\n", false},
		{"-WRONGTYPE a\r\n", "-WRONGTYPE b\r\n", true}, {"-ERR a\r\n", "-WRONGTYPE a\r\n", false},
		{"-ERR a\r\n", "+OK\r\n", false},
	} {
		if sameAnswer(test.lab, test.real) != test.same {
			t.Errorf("%q and %q", test.lab, test.real)
		}
	}
	if n := redisnode.Values("+OK\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n$-1\r\n"); n != 3 {
		t.Errorf("%d values, want 3", n)
	}
}
