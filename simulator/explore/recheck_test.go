package explore

import (
	"errors"
	"testing"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/verdict"
)

// TestRecheckRefuses: a set that lacks a state, or a search that has not found a verdict, is refused. That of a lock
// whose clients listen for messages, which come before and after they listen, is not.
func TestRecheckRefuses(t *testing.T) {
	listens := effectsOf(t, "naive-wake", "lose-reply=1", Limits{})
	listens.Uses, listens.Timing = client.Wait, anyTiming(simulator.Never)
	if moves, err := searched(t, listens).recheck(t.Context()); err != nil || moves < 1000 {
		t.Errorf("%d moves of clients that listen: %v", moves, err)
	}
	m := effectsOf(t, "setnx-expire", "crash=1", Limits{})
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
		if refused := errors.As(err, &open); refused != (name != "") || refused &&
			(name == "a verdict") != (open.Verdict == verdict.Deadlock) {
			t.Errorf("without %q: %v", name, err)
		}
	}
}
