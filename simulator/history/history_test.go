package history_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"locklab/simulator/history"
)

// TestKinds: every kind has a unique name, which JSON uses.
func TestKinds(t *testing.T) {
	seen := map[string]history.EventKind{}
	for k := history.Acquire; k <= history.Fault; k++ {
		name := k.String()
		if other, taken := seen[name]; taken || name == "unknown" || name == "" {
			t.Errorf("kind %d is called %q, as %d is", k, name, other)
		}
		seen[name] = k
		text, err := json.Marshal(k)
		var back history.EventKind
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != k {
			t.Errorf("%v becomes %s and then %v, %v", k, text, back, err)
		}
	}
	for _, k := range []history.EventKind{0, history.Return + 1, 255} {
		if got := k.String(); got != "unknown" {
			t.Errorf("kind %d is called %q", k, got)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	var k history.EventKind
	for _, text := range []string{`"nonsense"`, `""`, `"unknown"`} {
		err := json.Unmarshal([]byte(text), &k)
		var unknown *history.UnknownKindError
		if !errors.As(err, &unknown) || `"`+unknown.Name+`"` != text {
			t.Errorf("%s: %v, want an error that names it", text, err)
		}
	}
}

// TestJSON: a history can be written as JSON and read again without loss.
func TestJSON(t *testing.T) {
	want := history.History{Strategy: "token", Scenario: "gc-pause", Clients: 2, Nodes: 1, Key: "lock", TTL: 10e9, Guard: history.Fenced, End: 15e9, Horizon: true,
		Events: []history.Event{
			{Kind: history.Acquire, Client: 1},
			{At: 5e5, Kind: history.Apply, Client: 1, Skew: -3, Node: 1, Msg: 7, Cmd: []string{"SET", "lock", "\x00é"}, Reply: "OK"},
			{At: 5e5, Kind: history.Change, Client: 1, Node: 1, Key: "lock", After: "x", Until: history.Forever},
			{At: 6e5, Kind: history.Write, Client: 1, Node: history.Resource, Token: 1<<64 - 1, Version: 2, Base: 1, OK: true},
			{At: 7e5, Kind: history.Released, Client: 1, Thread: 3, OK: true, Claims: true, Note: "n", D: 5},
			{At: 8e5, Kind: history.Fault, Fault: "migrate", Client: 1, D: 5},
		}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got history.History
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
