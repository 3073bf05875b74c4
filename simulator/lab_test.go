package simulator

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/history"
)

var unlock = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`)

// tokenProgram is a small lock user: SET NX PX with a token, one second of
// work, release by script, n rounds.
func tokenProgram(n int) func(*Client) {
	return func(c *Client) {
		ctx := context.Background()
		r := c.Redis(1)
		for range n {
			tok := c.Token()
			c.Record(history.Event{Kind: history.Acquire})
			err := r.Do(ctx, "SET", "lock", tok, "NX", "PX", 10000).Err()
			if err != nil {
				c.Record(history.Event{Kind: history.Refuse, Note: err.Error()})
				c.Clock().Sleep(time.Second)
				continue
			}
			c.Record(history.Event{Kind: history.Enter})
			c.Clock().Sleep(time.Second)
			c.Record(history.Event{Kind: history.Leave})
			unlock.Run(ctx, r, []string{"lock"}, tok)
			c.Record(history.Event{Kind: history.Released})
		}
	}
}

func mustLab(t testing.TB, s Setup) *Lab {
	t.Helper()
	l, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// first always takes the first enabled choice.
func playFirst(t testing.TB, l *Lab, keep bool) (events []history.Event, choices []Choice) {
	t.Helper()
	w := l.NewWorld()
	var buf []Choice
	for !l.Quiet(&w) {
		buf = l.Enabled(&w, buf[:0])
		if len(buf) == 0 {
			t.Fatal("nothing is enabled and somebody waits")
		}
		ev, err := l.Step(&w, buf[0])
		if err != nil {
			t.Fatal(err)
		}
		if keep {
			events = append(events, ev...)
		}
		choices = append(choices, buf[0])
	}
	return events, choices
}

func TestSmoke(t *testing.T) {
	l := mustLab(t, Setup{Clients: []ClientSetup{{Program: tokenProgram(2)}, {Program: tokenProgram(2)}}, Nodes: []NodeSetup{{}}})
	ev, ch := playFirst(t, l, true)
	for _, e := range ev {
		t.Logf("%v %v c%d n%d %q %s %s->%s", e.At, e.Kind, e.Client, e.Node, e.Cmd, e.Reply, e.Before, e.After)
	}
	t.Log(len(ch), l.Size(), l.Runs(1), l.Runs(2))
}

func BenchmarkRun(b *testing.B) {
	l := mustLab(b, Setup{Clients: []ClientSetup{{Program: tokenProgram(2)}, {Program: tokenProgram(2)}}, Nodes: []NodeSetup{{}}})
	var steps int
	b.ReportAllocs()
	for b.Loop() {
		_, ch := playFirst(b, l, false)
		steps += len(ch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}
