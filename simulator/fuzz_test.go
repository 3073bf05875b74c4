package simulator

import (
	"testing"
	"time"
)

// FuzzTrace reads any bytes as the content of a link, which its checksum does not keep
// the fuzzer from.
func FuzzTrace(f *testing.F) {
	for _, t := range []Trace{
		{Strategy: "token", Scenario: "gc-pause", Settings: "ttl=10s", Choices: []Choice{{Verb: Start, Client: 1}, {Verb: Pass, D: time.Second}}},
		{Scenario: "search", Choices: []Choice{{Verb: Orphaned, Client: 1, Thread: 3}, {Verb: FaultVerb, Client: 2, Node: 1, D: 1}, {Verb: Heal, Node: 2}}},
	} {
		f.Add(t.plain())
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		trace, err := parseTrace(content)
		if err != nil {
			return
		}
		again, err := parseTrace(trace.plain())
		if err != nil || again.Link() != trace.Link() {
			t.Errorf("%q: %v", content, err)
		}
	})
}
