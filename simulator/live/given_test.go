package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/schedule"
)

// given is a server that somebody else runs.
func given(t *testing.T) (realserver.RedisAddress, *realserver.Redis) {
	t.Helper()
	g, err := realserver.ParseRedis("redis://:secret@" + servertest.Redis(t, "--requirepass", "secret") + "/9")
	if err != nil {
		t.Fatal(err)
	}
	w, err := g.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return g, w
}

// asker asks three times for a lock with a lease, and for what remains of it.
func asker(lease, rest time.Duration) func(c *simulator.Client) {
	return func(c *simulator.Client) {
		for range 3 {
			v, err := c.Redis(1).Do(context.Background(), "SET", "lock", c.Token(), "NX", "PX", lease.Milliseconds()).Result()
			note := "nil"
			if err == nil {
				note = v.(string)
			}
			left, _ := c.Redis(1).PTTL(context.Background(), "lock").Result()
			c.Record(history.Event{Kind: history.Acquire, Note: fmt.Sprint(note, " ", left)})
			c.Clock().Sleep(rest)
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// TestGiven: on a server that somebody else runs a lease takes its time, what remains of it is told as in the lab, and
// nothing is left but what others have put there.
func TestGiven(t *testing.T) {
	t.Parallel()
	g, w := given(t)
	config := simulator.Config{Clients: []simulator.ClientConfig{{Program: asker(2*time.Second, 1100*time.Millisecond)}}, Nodes: []simulator.NodeConfig{{}}}
	sim, choices := played(t, config, nil)
	run, err := Play(t.Context(), sim, choices, Target{Given: []realserver.RedisAddress{g}})
	if err != nil || len(run.Differences) > 0 || run.Answers != 6 || run.Took < 2*time.Second {
		t.Errorf("%v, %+v", err, run)
	}
	if n, err := w.Do("DBSIZE"); n != 0 || err != nil {
		t.Errorf("%v keys are left, %v", n, err)
	}
}

// TestGivenDifference: what somebody else does to the server meanwhile is noticed, and a key of theirs stays.
func TestGivenDifference(t *testing.T) {
	g, w := given(t)
	config := simulator.Config{Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) {
		for range 3 {
			c.Redis(1).SetNX(context.Background(), "lock", "x", 0)
		}
	}}}, Nodes: []simulator.NodeConfig{{}}}
	sim, choices := played(t, config, nil)
	done := false
	run, err := Play(t.Context(), sim, choices, Target{Given: []realserver.RedisAddress{g}, disturb: func(int, servers) {
		if n, err := w.Do("EXISTS", "lock"); err != nil {
			t.Error(err)
		} else if n == 1 && !done {
			done = true
			if _, err := w.DoAll([]string{"DEL", "lock"}, []string{"SET", "theirs", "1"}); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil || !done || len(run.Differences) == 0 {
		t.Fatalf("%v, %v, %+v", err, done, run)
	}
	if v, err := w.DoAll([]string{"KEYS", "*"}); err != nil || fmt.Sprint(v) != "[[theirs]]" {
		t.Errorf("%v are left, %v", v, err)
	}
	if _, err := Play(t.Context(), sim, choices, Target{Given: []realserver.RedisAddress{g}}); err == nil {
		t.Error("a database that is not empty was used")
	}
}

// TestGivenLate: where a lease may have ended before the request that the lab has in time, nothing is decided.
func TestGivenLate(t *testing.T) {
	g, w := given(t)
	config := simulator.Config{Clients: []simulator.ClientConfig{{Program: asker(100*time.Millisecond, 0)}}, Nodes: []simulator.NodeConfig{{}}}
	sim, choices := played(t, config, nil)
	_, err := Play(t.Context(), sim, choices, Target{Given: []realserver.RedisAddress{g}, disturb: func(int, servers) {
		for n := any(1); n == 1; { // until the lease is over
			if n, _ = w.Do("EXISTS", "lock"); n == nil {
				t.Error("no answer")
			}
		}
	}})
	if late := (LateError{}); !errors.As(err, &late) {
		t.Error(err)
	}
}

// TestWhyNotGiven: what could harm a server, or cannot be shown on it, has its reason.
func TestWhyNotGiven(t *testing.T) {
	apply := func(at time.Duration, cmd ...string) history.Event {
		return history.Event{At: at, Kind: history.Apply, Node: 1, Cmd: cmd}
	}
	lease := history.Event{Kind: history.Change, Node: 1, Key: "lock", After: "x", Until: time.Second}
	for _, test := range []struct {
		node   simulator.NodeConfig
		events []history.Event
		why    Reason
		what   string
	}{
		{why: "", events: []history.Event{apply(0, "SET", "lock", "x", "NX", "PX", "1000"), lease, apply(time.Second-Margin, "get", "lock"), {At: time.Second, Kind: history.Expire, Node: 1, Key: "lock"}, apply(time.Second, "DEL", "lock")}},
		{why: GivenMargin, what: "10ms", events: []history.Event{lease, apply(990*time.Millisecond, "GET", "lock")}},
		{why: GivenCommand, what: "FLUSHALL", events: []history.Event{{Kind: history.External, Node: 1, Cmd: []string{"FLUSHALL"}}}},
		{why: GivenCommand, what: "FLUSHDB", events: []history.Event{apply(0, "GET", "lock", ";", "flushdb")}},
		{why: GivenCommand, what: "SET PXAT", events: []history.Event{apply(0, "SET", "lock", "x", "pxat", "1")}},
		{why: GivenCommand, what: "SCRIPT FLUSH", events: []history.Event{apply(0, "script", "flush")}},
		{why: "", events: []history.Event{apply(0, "script", "load", "return 1"), apply(0, "SET", "lock", "PXAT")}},
		{why: GivenFault, what: "down", events: []history.Event{{Kind: history.Down, Node: 1}}},
		{why: GivenReplicas, node: simulator.NodeConfig{Replicas: 1}},
		{why: GivenRate, node: simulator.NodeConfig{PPM: 1}},
	} {
		if why, what := WhyNotGiven(simulator.Config{Nodes: []simulator.NodeConfig{test.node}}, test.events); why != test.why || what != test.what {
			t.Errorf("%+v: %q %q, want %q %q", test.events, why, what, test.why, test.what)
		}
	}
	config := simulator.Config{Clients: []simulator.ClientConfig{{Program: locker}}, Nodes: []simulator.NodeConfig{{}}, Faults: []simulator.FaultBudget{{Fault: faults.Flush, Times: 1}}}
	g, _ := given(t)
	flushed := false
	sim, choices := played(t, config, func(s *schedule.Stage, e *history.Event) {
		if e.Kind == history.Change && !flushed {
			flushed = true
			s.Inject(0, faults.FlushOf(1))
		}
	})
	if _, err := Play(t.Context(), sim, choices, Target{Given: []realserver.RedisAddress{g}}); err == nil || !strings.Contains(text.SayError("en", err), "FLUSHALL") {
		t.Errorf("FLUSHALL was sent: %v", err)
	}
}
