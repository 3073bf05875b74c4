package explore

import (
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// A search that is larger than a machine is split by its first choices. Its head visits
// states, without reduction, until enough of them wait; each of these begins a search of
// its own (Options.From). Together they visit every state: a way to a state that the head
// has not visited passes through one that waits. Par and steps of a verdict are the
// smallest of all, since every way to it is in one of them: a state's faults are part of the
// state, and its steps count from the start of the run.
//
// The searches know nothing of one another, and visit twice what two of them can reach.

// enough says whether as many states wait as Options.Head wants.
func (v *visited) enough() bool {
	return v.opt.Head > 0 && v.expanded > 0 && v.states.n-v.expanded >= v.opt.Head
}

// beginFrom enters the state after Options.From.
func (s *search) beginFrom() error {
	w := s.sim.NewWorld()
	s.takeState(&w, s.judges(verdict.Safety{}), s.next)
	faults := 0
	for _, c := range s.opt.From {
		judges := s.next[s.judgeAt()]
		if c.Verb == simulator.Pass {
			judges = s.passJudges(judges, c.D)
		}
		events, err := s.sim.Step(&w, c)
		if err != nil {
			return fmt.Errorf("explore: the first choices cannot be made: %w", err)
		}
		kept := s.recordEvents(w.Now(), events)
		s.takeState(&w, judges, s.next)
		s.judgeEvents(s.next, kept)
		if c.Verb >= simulator.FaultVerb {
			faults++
		}
	}
	to, err := s.canonicalizeNames(s.next)
	if err != nil {
		return err
	}
	s.start = w
	for now, place := range to {
		s.startNames[place] = uint8(now)
	}
	s.visited.begin(s.next, faults, len(s.opt.From))
	return nil
}

// frontier fills in the ways to the states that wait.
func (s *search) frontier(r *Result) error {
	v := s.visited
	if s.opt.Head == 0 || v.done || !v.enough() {
		return nil
	}
	for i := range v.queue {
		q := &v.queue[i]
		waiting := slices.DeleteFunc(slices.Clone(q.below), func(id uint32) bool { return q.moved[id] })
		for _, id := range append(waiting, q.own...) {
			way, err := s.path(&discovery{steps: int(v.states.depth(id)), state: v.states.parent(id), choice: v.states.via(id)})
			if err != nil {
				return err
			}
			r.Frontier = append(r.Frontier, way)
		}
	}
	return nil
}
