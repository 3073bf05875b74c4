package verdict_test

import (
	"strings"
	"testing"
	"time"

	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Reading is usable without the judges.
func TestReading(t *testing.T) {
	h := &history.History{Clients: 2, Nodes: 1, Key: "k", TTL: time.Second}
	c := verdict.CaseOf(h)
	var r verdict.Reading
	for _, step := range []struct {
		event history.Event
		stage verdict.Stage // of c1
		owner int
		has   bool
		free  bool
	}{
		{history.Event{Kind: history.Acquire, Client: 1}, verdict.Acquiring, 0, false, true},
		{history.Event{Kind: history.Change, Client: 1, Node: 1, Key: "other", After: "x"}, verdict.Acquiring, 0, false, true},
		{history.Event{Kind: history.Change, Client: 1, Node: 1, Key: "k", After: "x", Until: history.Forever}, verdict.Acquiring, 1, true, false},
		{history.Event{Kind: history.Enter, Client: 1}, verdict.Inside, 1, true, false},
		{history.Event{Kind: history.Leave, Client: 1}, verdict.Leaving, 1, true, false},
		{history.Event{Kind: history.Release, Client: 1}, verdict.Releasing, 1, true, false},
		{history.Event{Kind: history.Released, Client: 1}, verdict.Idle, 1, true, true},
		{history.Event{Kind: history.Change, Node: 1, Key: "k", Before: "x", After: "y"}, verdict.Idle, 0, true, true},
		{history.Event{Kind: history.Expire, Node: 1, Key: "k", Before: "y"}, verdict.Idle, 0, false, true},
		{history.Event{Kind: history.Crash, Client: 1}, verdict.Dead, 0, false, true},
	} {
		r.Observe(&c, &step.event)
		owner, has := r.Owner(1)
		if r.Stage(1) != step.stage || r.Stage(2) != verdict.Idle || owner != step.owner || has != step.has || r.Free() != step.free {
			t.Errorf("after %s: stage %d, owner %d %t, free %t; want %+v", step.event.Kind, r.Stage(1), owner, has, r.Free(), step)
		}
	}
	r.Observe(&c, &history.Event{Kind: history.Down, Node: 1})
	if !r.Down(1) {
		t.Error("the node is down")
	}
}

func TestParseWord(t *testing.T) {
	for _, given := range []string{"overlap", "OVERLAP", "n/a", "HOLDS"} {
		if w, err := verdict.ParseWord(given); err != nil || !strings.EqualFold(string(w), given) {
			t.Errorf("%q: %q, %v", given, w, err)
		}
	}
	for given, want := range map[string]string{"stall": "DEADLOCK", "PHANTOM": "ORPHAN", "hold": "HOLDS"} {
		if _, err := verdict.ParseWord(given); err == nil || !strings.Contains(text.SayError("en", err), want) || !strings.Contains(text.SayError("en", err), given) {
			t.Errorf("%q: %v, want %q", given, err, want)
		}
	}
}
