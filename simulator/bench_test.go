package simulator

import (
	"context"
	"fmt"
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

// setAndGet sends SET and GET in turn. fresh makes every command new to all tables.
func setAndGet(fresh bool) func(*Client) {
	n := 0 // outlives the program's runs: only for a bench that never re-runs one
	return func(c *Client) {
		ctx, r := context.Background(), c.Redis(1)
		for i := range commandsPerRun {
			value := "v"
			if fresh {
				n++
				value = fmt.Sprint(n)
			}
			var err error
			if i%2 == 0 {
				err = r.Do(ctx, "SET", "lock", value, "PX", 10000).Err()
			} else {
				err = r.Get(ctx, "lock").Err()
			}
			if err != nil {
				panic(err)
			}
		}
	}
}

// BenchmarkTransition is a step that is in both tables.
func BenchmarkTransition(b *testing.B) {
	l := mustLab(b, Config{Clients: []ClientConfig{{Program: setAndGet(false)}}, Nodes: []NodeConfig{{}}})
	stepThrough(b, l)
	runs := l.Executions(1)
	b.ReportAllocs()
	for b.Loop() {
		stepThrough(b, l)
	}
	if l.Executions(1) != runs {
		b.Fatal("code ran")
	}
	perCommand(b, 2)
}

// perCommand reports the time of one of n parts of a command.
func perCommand(b *testing.B, n int) {
	unit := map[int]string{1: "ns/command", 2: "ns/step"}[n]
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*commandsPerRun*n), unit)
}
