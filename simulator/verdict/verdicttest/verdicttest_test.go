package verdicttest

import (
	"testing"

	"locklab/simulator/history"
)

func TestLinearizable(t *testing.T) {
	for _, r := range []struct {
		rule   string
		events []history.Event
		want   bool
	}{
		{"nothing happened", nil, true},
		{"one after the other", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 1}, {Kind: history.Leave, Client: 1},
			{Kind: history.Enter, Client: 2}, {Kind: history.Released, Client: 1},
		}, true},
		{"two inside", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1}, {Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 2},
			{Kind: history.Leave, Client: 1},
		}, false},
		{"who enters again is inside already", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1}, {Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1},
			{Kind: history.Release, Client: 1}, {Kind: history.Released, Client: 1}, {Kind: history.Leave, Client: 1},
			{Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 2},
		}, true},
		{"the inner release lets nobody in", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1}, {Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1},
			{Kind: history.Release, Client: 1}, {Kind: history.Released, Client: 1}, {Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 2},
		}, false},
		{"the dead one is out", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1}, {Kind: history.Crash, Client: 1},
			{Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 2},
		}, true},
		{"an attempt cut short holds nothing", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Crash, Client: 1}, {Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 2},
		}, true},
		{"who left and never released is out", []history.Event{
			{Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1}, {Kind: history.Leave, Client: 1},
			{Kind: history.Acquire, Client: 2}, {Kind: history.Enter, Client: 2}, {Kind: history.Leave, Client: 2},
			{Kind: history.Acquire, Client: 1}, {Kind: history.Enter, Client: 1},
		}, true},
	} {
		if got := Linearizable(&history.History{Clients: 2, Events: r.events}); got != r.want {
			t.Errorf("%s: %t, want %t", r.rule, got, r.want)
		}
	}
}
