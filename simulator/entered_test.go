package simulator

import (
	"context"
	"testing"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/process"
)

// TestHowAClientStands: whether a client has entered and is inside, as a table entry
// says, agrees with the notes on the way to the entry.
func TestHowAClientStands(t *testing.T) {
	setup := Config{Nodes: make([]NodeConfig, 1), Clients: []ClientConfig{{Program: func(c *Client) {
		for _, k := range []history.EventKind{history.Acquire, history.Enter, history.Leave, history.Enter} {
			c.Record(history.Event{Kind: k})
			c.Redis(1).Incr(context.Background(), "n")
			c.Clock().Sleep(time.Second)
		}
		c.Record(history.Event{Kind: history.Leave})
	}}}}
	l := mustLab(t, setup)
	l.Assume(Assumptions{}) // for all notes
	w := l.NewWorld()
	for range 100 {
		all := l.Enabled(&w, nil)
		if len(all) == 0 {
			break
		}
		if _, err := l.Step(&w, all[0]); err != nil {
			t.Fatal(err)
		}
	}
	met := map[[2]bool]bool{}
	p := l.clients.procs[0]
	for at := range p.Len() {
		var path []*process.Entry
		for n := uint32(at); n != 0; n = p.At(n).Parent {
			path = append(path, p.At(n))
		}
		entered, inside := false, false
		for i := len(path) - 1; i >= 0; i-- {
			for _, e := range path[i].Notes {
				entered = entered || e.Kind == history.Enter
				inside = e.Kind == history.Enter || inside && e.Kind != history.Leave
			}
		}
		if n := p.At(uint32(at)); n.Entered != entered || n.Inside != inside {
			t.Errorf("entry %d says entered %v, inside %v; the notes say %v, %v", at, n.Entered, n.Inside, entered, inside)
		}
		met[[2]bool{entered, inside}] = true
	}
	if len(met) != 3 {
		t.Errorf("the client stood in %d ways, want 3", len(met))
	}
}
