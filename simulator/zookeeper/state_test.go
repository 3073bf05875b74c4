package zookeeper_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "locklab/simulator/zookeeper"
)

// One session queues with an ephemeral sequential znode, and another watches it.
func Example() {
	s := New()
	s, a := s.Connect()
	s, b := s.Connect()
	s, _, _ = s.Apply(a, Request{Op: Create, Path: "/lock"})
	s, reply, _ := s.Apply(a, Request{Op: Create, Path: "/lock/n-", Mode: Ephemeral | Sequential})
	fmt.Println(reply.Path)
	s, _, _ = s.Apply(b, Request{Op: Exists, Path: reply.Path, Watch: true})
	_, _, events := s.Close(a)
	fmt.Println(events)
	// Output:
	// /lock/n-0000000000
	// [{2 2 /lock/n-0000000000}]
}

// A script is a sequence of requests with the replies that they must have.
type script struct {
	t     *testing.T
	state State
	fired []Event
}

func (s *script) do(id SessionID, r Request) Reply {
	s.t.Helper()
	var reply Reply
	s.state, reply, s.fired = s.state.Apply(id, r)
	return reply
}

func (s *script) want(code Code, id SessionID, r Request) {
	s.t.Helper()
	if reply := s.do(id, r); reply.Code != code {
		s.t.Fatalf("%+v: %v, want %v", r, reply.Code, code)
	}
}

func (s *script) heard(events ...Event) {
	s.t.Helper()
	if !slices.Equal(s.fired, events) {
		s.t.Fatalf("fired %v, want %v", s.fired, events)
	}
}

// newScript has two sessions, 1 and 2, and the znode /q.
func newScript(t *testing.T) *script {
	s := &script{t: t, state: New()}
	for range 2 {
		s.state, _ = s.state.Connect()
	}
	s.want(OK, 1, Request{Op: Create, Path: "/q"})
	return s
}

func TestWatches(t *testing.T) {
	t.Run("one fires once", func(t *testing.T) {
		s := newScript(t)
		s.want(OK, 1, Request{Op: GetChildren, Path: "/q", Watch: true})
		s.want(OK, 2, Request{Op: Create, Path: "/q/a"})
		s.heard(Event{1, NodeChildrenChanged, "/q"})
		s.want(OK, 2, Request{Op: Create, Path: "/q/b"})
		s.heard()
	})
	t.Run("a session with two on a znode hears once of its end", func(t *testing.T) {
		s := newScript(t)
		s.want(OK, 1, Request{Op: GetChildren, Path: "/q", Watch: true})
		s.want(OK, 1, Request{Op: GetData, Path: "/q", Watch: true})
		s.want(OK, 1, Request{Op: GetChildren, Path: "/", Watch: true})
		s.want(OK, 2, Request{Op: Delete, Path: "/q", Version: AnyVersion})
		s.heard(Event{1, NodeDeleted, "/q"}, Event{1, NodeChildrenChanged, "/"})
	})
	t.Run("only exists waits for what is not there", func(t *testing.T) {
		s := newScript(t)
		s.want(NoNode, 1, Request{Op: GetData, Path: "/q/a", Watch: true})
		s.want(OK, 2, Request{Op: Create, Path: "/q/a"})
		s.heard()
		s.want(NoNode, 1, Request{Op: Exists, Path: "/q/b", Watch: true})
		s.want(OK, 2, Request{Op: Create, Path: "/q/b"})
		s.heard(Event{1, NodeCreated, "/q/b"})
	})
	t.Run("none fires on a broken connection, and what was missed fires on the next", func(t *testing.T) {
		s := newScript(t)
		s.want(OK, 1, Request{Op: GetData, Path: "/q", Watch: true})
		reply := s.do(1, Request{Op: Exists, Path: "/q/new", Watch: true})
		s.state = s.state.Disconnect(1)
		s.want(OK, 2, Request{Op: SetData, Path: "/q", Data: "x", Version: 0})
		s.heard()
		// Created and deleted meanwhile: the one thing that is missed.
		s.want(OK, 2, Request{Op: Create, Path: "/q/new"})
		s.want(OK, 2, Request{Op: Delete, Path: "/q/new", Version: AnyVersion})
		var code Code
		s.state, code, s.fired = s.state.Reconnect(1, reply.Zxid, []Watch{{WatchData, "/q"}, {WatchCreation, "/q/new"}})
		if code != OK {
			t.Fatal(code)
		}
		s.heard(Event{1, NodeDataChanged, "/q"})
		s.want(OK, 2, Request{Op: Create, Path: "/q/new"})
		s.heard(Event{1, NodeCreated, "/q/new"})
	})
}

func TestSessions(t *testing.T) {
	s := newScript(t)
	s.want(OK, 1, Request{Op: Create, Path: "/q/own", Mode: Ephemeral})
	s.want(NoChildrenForEphemerals, 1, Request{Op: Create, Path: "/q/own/child"})
	state, _, _ := s.state.Close(2)
	if !state.Alive(1) || state.Alive(2) || !slices.Contains(state.Paths(), "/q/own") {
		t.Errorf("2 ended, and there are %v", state.Paths())
	}
	state, _, _ = state.Close(1)
	if state.Alive(1) || slices.Contains(state.Paths(), "/q/own") {
		t.Errorf("both ended, and there are %v", state.Paths())
	}
	if _, reply, _ := state.Apply(1, Request{Op: Exists, Path: "/q"}); reply.Code != SessionExpired {
		t.Errorf("an ended session is answered %v", reply.Code)
	}
}

func TestSequence(t *testing.T) {
	s := newScript(t)
	next := func(want string) {
		t.Helper()
		if r := s.do(1, Request{Op: Create, Path: "/q/n", Mode: Sequential}); r.Path != want {
			t.Errorf("%v %s, want %s", r.Code, r.Path, want)
		}
	}
	next("/q/n0000000000")
	s.want(OK, 1, Request{Op: Delete, Path: "/q/n0000000000", Version: AnyVersion})
	s.want(OK, 1, Request{Op: Create, Path: "/q/plain"}) // takes a number as well
	next("/q/n0000000002")
	s.state = s.state.SetCounter("/q", math.MinInt32)
	next("/q/n-2147483648")
	s.state = s.state.SetCounter("/q", -5)
	next("/q/n-000000005")
	for range 5 {
		s.do(1, Request{Op: Create, Path: "/q/m", Mode: Sequential})
	}
	next("/q/n0000000001")
}

// A State is immutable, and its key contains all of it: the same steps lead to the same
// key, and other steps to other keys.
func TestStateIsAValue(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		one, two := New(), New()
		sessions := 0
		type kept struct {
			state State
			key   []byte
		}
		var all []kept
		for range 200 {
			var a, b any
			id := SessionID(max(1, sessions-rng.IntN(3)))
			r := Request{
				Op: allOps[rng.IntN(8)], Path: []string{"/", "/a", "/a/b", "/a/c"}[rng.IntN(4)],
				Mode: Mode(rng.IntN(4)), Version: AnyVersion, Watch: rng.IntN(2) == 0,
			}
			switch rng.IntN(20) {
			case 0, 3:
				sessions++
				one, a = one.Connect()
				two, b = two.Connect()
			case 1:
				one, two = one.Disconnect(id), two.Disconnect(id)
			case 2:
				one, a, _ = one.Close(id)
				two, b, _ = two.Close(id)
			default:
				one, a, _ = one.Apply(id, r)
				two, b, _ = two.Apply(id, r)
			}
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("seed %d: %v the second time is %v", seed, a, b)
			}
			key := one.AppendKey(nil)
			if !bytes.Equal(key, two.AppendKey(nil)) {
				t.Fatalf("seed %d: the same steps lead to another key", seed)
			}
			all = append(all, kept{one, key})
		}
		distinct := map[string]string{}
		for _, k := range all {
			if !bytes.Equal(k.key, k.state.AppendKey(nil)) {
				t.Fatalf("seed %d: a State has changed", seed)
			}
			text := fmt.Sprintf("%+v", k.state)
			if was, ok := distinct[string(k.key)]; ok && was != text {
				t.Fatalf("seed %d: one key for\n%s\nand\n%s", seed, was, text)
			}
			distinct[string(k.key)] = text
		}
		if len(distinct) < 50 {
			t.Errorf("seed %d: only %d states: the steps are too tame", seed, len(distinct))
		}
	}
}
