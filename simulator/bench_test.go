package simulator

import (
	"context"
	"testing"
)

// Every command here is two steps: its request arrives, its reply arrives and
// the client goes on to its next command.
const commandsPerRun = 1000

// stepThrough plays one run of a simulator whose only client sends commandsPerRun
// commands, one after the other.
func stepThrough(tb testing.TB, l *Simulator) {
	w := l.NewWorld()
	for c := (Choice{Verb: Start, Client: 1}); !l.Quiet(&w); {
		if _, err := l.Step(&w, c); err != nil {
			tb.Fatal(err)
		}
		if c.Verb == Arrive {
			c.Verb = Answer
		} else {
			c.Verb = Arrive
		}
	}
}

func BenchmarkLink(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		goldenTrace.Link()
	}
}

// setAndGet sends SET and GET in turn.
func setAndGet(c *Client) {
	ctx, r := context.Background(), c.Redis(1)
	for i := range commandsPerRun {
		var err error
		if i%2 == 0 {
			err = r.Do(ctx, "SET", "lock", "v", "PX", 10000).Err()
		} else {
			err = r.Get(ctx, "lock").Err()
		}
		if err != nil {
			panic(err)
		}
	}
}

// BenchmarkTransition is a step that is in both tables.
func BenchmarkTransition(b *testing.B) {
	l := mustLab(b, Config{Clients: []ClientConfig{{Program: setAndGet}}, Nodes: []NodeConfig{{}}})
	stepThrough(b, l)
	runs := l.Executions(1)
	b.ReportAllocs()
	for b.Loop() {
		stepThrough(b, l)
	}
	if l.Executions(1) != runs {
		b.Fatal("code ran")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*commandsPerRun*2), "ns/step")
}
