package zookeeper_test

import (
	"math"
	"slices"
	"testing"

	. "locklab/simulator/zookeeper"
)

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
