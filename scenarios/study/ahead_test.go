package study

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// listed is the lock of the list with an ID.
func listed(t *testing.T, id string) lock.Entry {
	t.Helper()
	i := slices.IndexFunc(algorithms.All(), func(e lock.Entry) bool { return e.ID == id })
	if i < 0 {
		t.Fatal(id)
	}
	return algorithms.All()[i]
}

// within are the usual bounds in which all is left open, with a limit of states.
func within(states int) Bounds {
	b := DefaultBounds()
	b.Attempts, b.Timing, b.Uses, b.MaxStates = AutoAttempts, AutoTiming, AutoUses, states
	return b
}

// onCores searches with so many cores, and returns all that the search has come to.
func onCores(t *testing.T, cores int, entry lock.Entry, b Bounds) string {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	s, err := Explore(t.Context(), entry, b)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// TestSearchesAtOnce: a search that makes others before and beside it comes to the same, byte for byte, on any number of cores:
// in two attempts, in one with others beside it, and in lockstep with each fault alone where one attempt is cut short.
func TestSearchesAtOnce(t *testing.T) {
	for id, states := range map[string]int{"token": 30_000, "queue": 30_000, "zk-read": 25_000, "redlock": 20_000} {
		if effort.Watched && id == "redlock" { // which takes long
			continue
		}
		entry, b := listed(t, id), within(states)
		one := onCores(t, 1, entry, b)
		for _, cores := range []int{2, 4} {
			if got := onCores(t, cores, entry, b); got != one {
				t.Errorf("%s within %d states on %d cores:\n%s\non one:\n%s", id, states, cores, got, one)
			}
		}
	}
}

// TestEarlySearch: a search that is expected to follow begins beside the present one, and its result is that of the search itself. One that
// is not expected any longer is cancelled, and all have ended in the end.
func TestEarlySearch(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	debug.FreeOSMemory() // early searches begin where memory is left
	entry := listed(t, "token")
	closed := func(clients, attempts int) Bounds {
		b := within(0)
		b.Clients, b.Attempts, b.Timing, b.Uses, b.MaxBytes = clients, attempts, AnyTiming, 0, 1<<40
		return b
	}
	first, next, never := closed(2, 2), closed(2, 1), closed(3, 3)
	a := &ahead{ctx: t.Context(), entry: entry, begun: map[string]*early{}}
	begun := func(b Bounds) *early {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.begun[keyOf(b)]
	}
	reports := 0
	first.Progress = func(*explore.Result) { // before it has others begin
		if reports++; reports == 2 {
			<-begun(next).done
		}
	}
	if _, err := a.search(first, func(map[string]*early) []Bounds { return []Bounds{next, never} }); err != nil {
		t.Fatal(err)
	}
	taken, dropped := begun(next), begun(never)
	if reports < 2 || taken == nil || dropped == nil {
		t.Fatalf("in %d reports of progress these have begun: %v", reports, a.begun)
	}
	got, err := a.search(next, func(map[string]*early) []Bounds { return nil })
	if err != nil || got != taken.s || begun(never) != nil {
		t.Errorf("%v: the early search was not taken, or the other one was not dropped", err)
	}
	a.end()
	if dropped.s != nil || !errors.Is(dropped.err, context.Canceled) {
		t.Errorf("a search that was cancelled ended with %v", dropped.err)
	}
	want, err := Explore(t.Context(), entry, next)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(want)
	if two, _ := json.Marshal(got); string(one) != string(two) {
		t.Errorf("begun early it has come to\n%s\nand else to\n%s", two, one)
	}
}
