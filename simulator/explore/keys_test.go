package explore

import (
	"fmt"
	"testing"

	"locklab/simulator"
	"locklab/simulator/history"
)

// TestListsAreToldApart: no text that code writes into a note makes one list of events
// equal to another, and no name of a command makes two sets of causes equal.
func TestListsAreToldApart(t *testing.T) {
	sim, err := simulator.New(simulator.Config{Clients: []simulator.ClientConfig{{Program: func(*simulator.Client) {}}}, Nodes: make([]simulator.NodeConfig, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	s := newTables(sim, &Options{Limits: Limits{Causes: true}})
	first, second := history.Event{Kind: history.Enter, Note: "x"}, history.Event{Kind: history.Leave}
	text := fmt.Sprintf("%+v\n%+v\n", first, second)
	// the note of one event that prints as the two
	one := history.Event{Kind: history.Enter}
	end := " Rests:false Code:[]}\n"
	one.Note = text[len(fmt.Sprintf("%+v\n", one))-len(end) : len(text)-len(end)]
	a, b := []history.Event{first, second}, []history.Event{one}
	if fmt.Sprintf("%+v\n", one) != text {
		t.Fatalf("the lists do not print alike:\n%q\n%q", fmt.Sprintf("%+v\n", one), text)
	}
	if numberList(&s.events, a) == numberList(&s.events, b) {
		t.Error("two lists of events have one number")
	}
	if numberList(&s.events, a) != numberList(&s.events, []history.Event{first, second}) {
		t.Error("one list of events has two numbers")
	}
	if numberList(&s.causes, []string{"a\nb"}) == numberList(&s.causes, []string{"a", "b"}) {
		t.Error("two sets of causes have one number")
	}
}
