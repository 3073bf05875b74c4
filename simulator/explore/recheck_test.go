package explore

import (
	"errors"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator/verdict"
)

// TestRecheckRefuses: a set that lacks a state, or a search that has not found a verdict, is refused.
func TestRecheckRefuses(t *testing.T) {
	entry, _ := algorithms.ByName("setnx-expire")
	allowed, err := faults.Budget("crash=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Entry: entry, Faults: allowed, Scope: Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: 9 * time.Second}}
	for name, spoil := range map[string]func(s *search){
		"": func(*search) {},
		"a state": func(s *search) {
			words := s.visited.states.words(uint32(s.visited.states.n / 2))
			_, at := s.visited.states.find(words)
			s.visited.states.index[at].Tag++ // it is not found any more
		},
		"a verdict": func(s *search) {
			for f := range s.visited.found {
				if f.word == verdict.Deadlock {
					delete(s.visited.found, f)
				}
			}
		},
	} {
		s := searched(t, m)
		spoil(s)
		_, err := s.recheck(t.Context())
		open := (*NotClosedError)(nil)
		if refused := errors.As(err, &open); refused != (name != "") || refused && (name == "a verdict") != (open.Verdict == verdict.Deadlock) {
			t.Errorf("without %q: %v", name, err)
		}
	}
}
