package simulator_test

import (
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// migrate moves a client to another machine: a fault with an event of its own.
var migrate = &simulator.Fault{
	Name: "migrate", Verb: verbMigrate,
	Choices: func(simulator.FaultContext, []simulator.Choice) []simulator.Choice { return nil },
	Inject: func(f simulator.FaultContext, c simulator.Choice) string {
		f.Tell(history.Event{Client: int(c.Client), D: c.D, Note: "at once"})
		return f.Client(c.Client).Pause(c.D, 0, false)
	},
}

const verbMigrate = simulator.FaultVerb + 100

// What a fault tells stands before its effects, at its time and under its name; a fault
// that does not happen has told nothing. Clocks that begin at another date are no further ahead.
func TestTell(t *testing.T) {
	sleeps := func(c *simulator.Client) { c.Clock().Sleep(time.Hour) }
	sim, err := simulator.New(simulator.Config{
		Clients: []simulator.ClientConfig{{Program: sleeps, Offset: time.Second}},
		Nodes:   make([]simulator.NodeConfig, 1),
		Epoch:   simulator.Date(simulator.Epoch.Add(-time.Hour).UnixMilli()),
		Faults:  []simulator.FaultBudget{{Fault: migrate, Times: 9}, {Fault: faults.Crash, Times: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	w := sim.NewWorld()
	for _, c := range []simulator.Choice{{Verb: simulator.Start, Client: 1}, {Verb: simulator.Pass, D: time.Minute}} {
		if _, err := sim.Step(&w, c); err != nil {
			t.Fatal(err)
		}
	}
	for _, client := range []int8{0, 2, -1} {
		if events, err := sim.Step(&w, simulator.Choice{Verb: verbMigrate, Client: client, D: 5}); err == nil || len(events) != 0 {
			t.Errorf("client %d: told %+v, %v", client, events, err)
		}
	}
	events, err := sim.Step(&w, simulator.Choice{Verb: verbMigrate, Client: 1, D: 5})
	want := []history.Event{
		{At: time.Minute, Kind: history.Fault, Fault: "migrate", Client: 1, Skew: time.Second, D: 5, Note: "at once"},
		{At: time.Minute, Kind: history.Pause, Client: 1, Skew: time.Second, D: 5},
	}
	same := func(a, b history.Event) bool {
		return a.At == b.At && a.Kind == b.Kind && a.Fault == b.Fault && a.Client == b.Client && a.Skew == b.Skew && a.D == b.D && a.Note == b.Note
	}
	if err != nil || !slices.EqualFunc(events, want, same) {
		t.Errorf("told %+v, %v, want %+v", events, err, want)
	}
	if events, err := sim.Step(&w, simulator.Choice{Verb: verbMigrate, Client: 1, D: 5}); err == nil || len(events) != 0 {
		t.Errorf("a client that is paused already: told %+v, %v", events, err)
	}
}
