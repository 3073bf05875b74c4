package explore

import (
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
)

// TestLookahead: workers change nothing. Every state, every way to it and every entry of the tables has
// the number that it has without them. A search that ends at a limit may have computed more by then than it has entered: one
// goroutine computes, while another one enters. So the tables are compared as far as both go.
func TestLookahead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, id := range []string{"token", "getset", "zk-recheck"} {
		entry, _ := algorithms.ByName(id)
		allowed, err := faults.Budget("crash=1,pause=1").Parse()
		if err != nil {
			t.Fatal(err)
		}
		b := &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 2, Nodes: 1, TTL: 9 * time.Second, Limits: Limits{MaxStates: 50_000}},
			Timing: &Durations{Timing: simulator.Timing{Step: 900 * time.Millisecond, Latency: 900 * time.Millisecond, Lateness: 900 * time.Millisecond}, Work: 3600 * time.Millisecond, Timeout: 3 * time.Second, Idle: 9 * time.Second}}
		with := searched(t, b)
		b.Plain.Workers = true
		without := searched(t, b)
		if len(with.ahead.workers) == 0 || len(without.ahead.workers) > 0 {
			t.Errorf("%s: %d workers, and %d without them", id, len(with.ahead.workers), len(without.ahead.workers))
		}
		if got, want := with.result(), without.result(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
		if !reflect.DeepEqual(with.visited.states, without.visited.states) {
			t.Errorf("%s: the states differ", id)
		}
		if !beginAlike(with.choices, without.choices) || !beginAlike(with.nodeTab.keys, without.nodeTab.keys) || !beginAlike(with.judgeTab.keys, without.judgeTab.keys) {
			t.Errorf("%s: the tables differ", id)
		}
	}
}

// beginAlike reports whether two lists are the same as far as both go, and go nearly as far.
func beginAlike[E comparable](a, b []E) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n]) && 10*n >= 9*max(len(a), len(b))
}

// TestKnown: a worker leaves a state to the search where the tables lack something, and hides no other error.
func TestKnown(t *testing.T) {
	entry, _ := algorithms.ByName("token")
	s := searched(t, &Model{Entry: entry, Scope: Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: 9 * time.Second}})
	known := func(words []uint32, change func(by *successors)) (all bool, problem any) {
		defer func() { problem = recover() }()
		by := *newReader(s.successors)
		by.cur, by.next, by.out = make([]uint32, s.stride()), make([]uint32, s.stride()), &batch{width: s.stride()}
		change(&by)
		return known(&by, 0, words), nil
	}
	start, unmet := slices.Clone(s.visited.states.words(0)), slices.Clone(s.visited.states.words(0))
	unmet[s.judgeAt] = 1 << 20
	if all, problem := known(start, func(*successors) {}); !all || problem != nil {
		t.Errorf("the start: %t, %v", all, problem)
	}
	if all, problem := known(unmet, func(*successors) {}); all || problem != nil {
		t.Errorf("a state of which the tables know nothing: %t, %v", all, problem)
	}
	if _, problem := known(start, func(by *successors) { by.cur = by.cur[:1] }); problem == nil {
		t.Error("an index that is out of range was taken for something that the tables lack")
	}
}
