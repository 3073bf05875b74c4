package zookeeper_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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
