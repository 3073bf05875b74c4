package zookeeper_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"locklab/simulator/internal/codec"
	. "locklab/simulator/zookeeper"
)

// A State is immutable, and the same steps lead to the same one.
func TestStateIsAValue(t *testing.T) {
	for seed := range uint64(20) {
		rng, sessions := rand.New(rand.NewPCG(seed, 1)), 0
		var states []State
		var keys []string
		distinct, s := map[string]bool{}, New()
		for range 200 {
			kind, id := rng.IntN(20), SessionID(max(1, sessions-rng.IntN(3)))
			r := Request{
				Op: allOps[rng.IntN(8)], Path: []string{"/", "/a", "/a/b", "/a/c"}[rng.IntN(4)],
				Mode: Mode(rng.IntN(4)), Version: AnyVersion, Watch: rng.IntN(2) == 0,
			}
			step := func(s State) State {
				switch kind {
				case 0, 3:
					s, _ = s.Connect()
				case 1:
					s = s.Disconnect(id)
				case 2:
					s, _, _ = s.Close(id)
				default:
					s, _, _ = s.Apply(id, r)
				}
				return s
			}
			if kind == 0 || kind == 3 {
				sessions++
			}
			before := s
			if s = step(before); codec.Key(s) != codec.Key(step(before)) {
				t.Fatalf("seed %d: the same step leads to another state", seed)
			}
			states, keys, distinct[codec.Key(s)] = append(states, s), append(keys, codec.Key(s)), true
		}
		for i, state := range states {
			if codec.Key(state) != keys[i] {
				t.Fatalf("seed %d: a State has changed", seed)
			}
		}
		if len(distinct) < 50 {
			t.Errorf("seed %d: only %d states: the steps are too tame", seed, len(distinct))
		}
	}
}

// TestLines: the first of a line has the lowest number; of several with one number, as
// after an overflow, it is the oldest, whatever its name.
func TestLines(t *testing.T) {
	s, id := New().Connect()
	do := func(r Request) {
		t.Helper()
		var reply Reply
		if s, reply, _ = s.Apply(id, r); reply.Code != OK {
			t.Fatalf("%+v: %v", r, reply.Code)
		}
	}
	place := func(name string) Request {
		return Request{Op: Create, Path: "/q/" + name, Mode: Ephemeral | Sequential}
	}
	first := func(want ...Line) {
		t.Helper()
		if got := s.Lines(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	do(Request{Op: Create, Path: "/q"})
	first()
	do(place("z-"))
	do(place("a-"))
	first(Line{"/q", "z-0000000000", id})
	s = s.SetCounter("/q", math.MaxInt32)
	do(Request{Op: Delete, Path: "/q/z-0000000000", Version: AnyVersion})
	do(Request{Op: Delete, Path: "/q/a-0000000001", Version: AnyVersion})
	do(place("z-"))
	do(place("a-"))
	first(Line{"/q", "z-2147483647", id})
	do(Request{Op: Delete, Path: "/q/z-2147483647", Version: AnyVersion})
	first(Line{"/q", "a-2147483647", id})
}
