package verdict_test

import (
	. "locklab/simulator/verdict"
	"strconv"
	"testing"
	"time"

	"locklab/simulator/history"
)

// orderly is a run of three clients that take turns without a fault, with all
// the traffic that a real one has, about 150 events long.
func orderly(nodes int) *history.History {
	h := &history.History{Clients: 3, Nodes: nodes, Key: "lock", TTL: 10 * time.Millisecond}
	version := 0
	for turn := range 150 / (11 + 8*nodes) {
		at := time.Duration(turn) * time.Millisecond
		c, other := turn%3+1, (turn+1)%3+1
		add := func(e history.Event) {
			e.At = at
			if e.Client == 0 {
				e.Client = c
			}
			h.Events = append(h.Events, e)
		}
		ask := func(before, after string) {
			for n := 1; n <= nodes; n++ {
				add(history.Event{Kind: history.Send, Node: n})
				add(history.Event{Kind: history.Apply, Node: n})
				add(history.Event{Kind: history.Change, Node: n, Key: "lock", Before: before, After: after, Until: at + h.TTL})
				add(history.Event{Kind: history.Answer, Node: n})
			}
		}
		token := strconv.Itoa(turn)
		add(history.Event{Kind: history.Acquire})
		ask("", token)
		add(history.Event{Kind: history.Enter})
		add(history.Event{Kind: history.Acquire, Client: other})
		add(history.Event{Kind: history.Refuse, Client: other})
		add(history.Event{Kind: history.Read, Node: history.Resource, Version: version})
		add(history.Event{Kind: history.Sleep})
		add(history.Event{Kind: history.Wake})
		version++
		add(history.Event{Kind: history.Write, Node: history.Resource, Base: version - 1, Version: version, OK: true})
		add(history.Event{Kind: history.Leave})
		add(history.Event{Kind: history.Release})
		ask(token, "")
		add(history.Event{Kind: history.Released, Claims: true, OK: true})
		h.End = at
	}
	return h
}

func benchmark(b *testing.B, h *history.History, run func()) {
	if j := Judge(h); j.Verdicts[0] != Holds {
		b.Fatalf("the run to measure is not quiet: %s", short(j.Findings))
	}
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(h.Events)), "ns/event")
}

func BenchmarkJudge(b *testing.B) {
	for _, nodes := range []int{1, 5} {
		b.Run(strconv.Itoa(nodes)+"-nodes", func(b *testing.B) {
			h := orderly(nodes)
			benchmark(b, h, func() { Judge(h) })
		})
	}
}

// Nothing found, nothing allocated.
func TestNoAllocations(t *testing.T) {
	h := orderly(5)
	if n := testing.AllocsPerRun(100, func() { Judge(h) }); n != 0 {
		t.Errorf("%v allocations to judge a quiet run", n)
	}
}
