package zookeeper_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	. "locklab/simulator/zookeeper"
)

// One session queues with an ephemeral sequential znode, and another watches it.
func Example() {
	s := New()
	s, a := s.Connect(0, 10*time.Second)
	s, b := s.Connect(0, 10*time.Second)
	s, _, _ = s.Apply(0, a, Request{Op: Create, Path: "/lock"})
	s, reply, _ := s.Apply(0, a, Request{Op: Create, Path: "/lock/n-", Mode: Ephemeral | Sequential})
	fmt.Println(reply.Path)
	s, _, _ = s.Apply(9*time.Second, b, Request{Op: Exists, Path: reply.Path, Watch: true})
	_, ended, events := s.Expire(10 * time.Second) // nothing was heard of a
	fmt.Println(ended, events)
	// Output:
	// /lock/n-0000000000
	// [1] [{2 2 /lock/n-0000000000}]
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
	s.state, reply, s.fired = s.state.Apply(0, id, r)
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
		s.state, _ = s.state.Connect(0, time.Second)
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
		s.state, code, s.fired = s.state.Reconnect(0, 1, reply.Zxid, []Watch{{WatchData, "/q"}, {WatchCreation, "/q/new"}})
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
	s.state, _, _ = s.state.Apply(400*time.Millisecond, 1, Request{Op: Ping})
	if at, _ := s.state.Deadline(); at != time.Second {
		t.Errorf("the next session ends at %v, want that of 2, silent since 0", at)
	}
	state, ended, _ := s.state.Expire(1400*time.Millisecond - 1)
	if !slices.Equal(ended, []SessionID{2}) || !state.Alive(1) {
		t.Errorf("%v ended", ended)
	}
	state, ended, _ = s.state.Expire(1400 * time.Millisecond)
	if !slices.Equal(ended, []SessionID{2, 1}) || slices.Contains(state.Paths(), "/q/own") {
		t.Errorf("%v ended, and there are %v", ended, state.Paths())
	}
	if _, reply, _ := state.Apply(2*time.Second, 1, Request{Op: Exists, Path: "/q"}); reply.Code != SessionExpired {
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
// key, other steps to other keys, and time that passes changes nothing as long as no
// session times out.
func TestStateIsAValue(t *testing.T) {
	const day = 24 * time.Hour
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		now, later := New(), New()
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
				now, a = now.Connect(0, time.Second)
				later, b = later.Connect(day, time.Second)
			case 1:
				now, later = now.Disconnect(id), later.Disconnect(id)
			case 2:
				now, a, _ = now.Close(id)
				later, b, _ = later.Close(id)
			default:
				now, a, _ = now.Apply(0, id, r)
				later, b, _ = later.Apply(day, id, r)
			}
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("seed %d: %v a day later is %v", seed, a, b)
			}
			key := now.AppendKey(nil, 0)
			if !bytes.Equal(key, later.AppendKey(nil, day)) {
				t.Fatalf("seed %d: the key depends on what time it is", seed)
			}
			all = append(all, kept{now, key})
		}
		distinct := map[string]string{}
		for _, k := range all {
			if !bytes.Equal(k.key, k.state.AppendKey(nil, 0)) {
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
