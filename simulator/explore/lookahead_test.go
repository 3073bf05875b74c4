package explore

import (
	"reflect"
	"runtime"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
)

// TestLookahead: workers change nothing. Every state, every way to it and every entry of the tables has
// the number that it has without them.
func TestLookahead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, id := range []string{"token", "getset", "zk-recheck"} {
		entry, _ := algorithms.ByName(id)
		allowed, err := faults.Budget("crash=1,pause=1").Parse()
		if err != nil {
			t.Fatal(err)
		}
		b := &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 2, Nodes: 1, TTL: 9 * time.Second, Limits: Limits{MaxStates: 50_000}},
			Timing: &Durations{Timing: simulator.Timing{Step: 900 * time.Millisecond, Latency: 900 * time.Millisecond, Lateness: 900 * time.Millisecond}, Work: 3600 * time.Millisecond, Timeout: 3 * time.Second, Idle: 9 * time.Second}}
		with := searched(t, b)
		b.Plain.Workers = true
		without := searched(t, b)
		if len(with.ahead.chunks) == 0 || len(without.ahead.chunks) > 0 {
			t.Errorf("%s: %d chunks with workers, %d without", id, len(with.ahead.chunks), len(without.ahead.chunks))
		}
		if got, want := with.result(), without.result(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
		if !reflect.DeepEqual(with.visited.states, without.visited.states) {
			t.Errorf("%s: the states differ", id)
		}
		if !reflect.DeepEqual(with.choices, without.choices) || !reflect.DeepEqual(with.nodeTab.keys, without.nodeTab.keys) || !reflect.DeepEqual(with.judgeTab.keys, without.judgeTab.keys) {
			t.Errorf("%s: the tables differ", id)
		}
	}
}
