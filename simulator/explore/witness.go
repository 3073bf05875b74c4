package explore

import (
	"fmt"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// witnesses fills in the choices of the witnesses.
func (s *search) witnesses(r *Result) (err error) {
	for i := range r.Found {
		f := &r.Found[i]
		if f.Choices, err = s.path(s.visited.found[finding{f.Verdict, f.cause}]); err != nil {
			return err
		}
	}
	return nil
}

// path is the way from the start to a discovery, with the clients by their own numbers:
// in canonical states a client has a place, which changes from step to step.
func (s *search) path(d *discovery) ([]simulator.Choice, error) {
	states, choices := make([]uint32, d.steps), make([]simulator.Choice, d.steps)
	id, via := d.state, d.choice
	for n := d.steps - 1; n >= 0; n-- {
		states[n], choices[n] = id, s.choices[via]
		id, via = s.visited.states.parent(id), s.visited.states.via(id)
	}
	var owner verdict.Names // place -> client
	for c := range owner {
		owner[c] = uint8(c)
	}
	w, err := s.firstWorld()
	if err != nil {
		return nil, err
	}
	there := 0 // choices that w has made
	for n, id := range states {
		to, err := s.redo(id, choices[n])
		if err != nil {
			return nil, err
		}
		choices[n].Client = int8(owner[choices[n].Client])
		if choices[n].Verb == simulator.Orphaned {
			// its place among the orphaned requests of a run depends on the way, so
			// make all choices up to here
			for ; there < n && err == nil; there++ {
				_, err = s.sim.Step(&w, choices[there])
			}
			place := 0
			if err == nil {
				place, err = s.sim.PlaceInWorld(&w, &s.restTab.keys[s.cur[s.restAt()]], int(choices[n].Thread), (*simulator.Names)(&owner))
			}
			if err != nil {
				return nil, fmt.Errorf("explore: the way to a harm cannot be gone again: %w", err)
			}
			choices[n].Thread = int8(place)
		}
		var next verdict.Names
		for place, now := range to {
			next[now] = owner[place]
		}
		owner = next
	}
	return choices, nil
}

// firstWorld is the world at the start of a run. NewWorld would not do: it may empty the
// simulator's tables.
func (s *search) firstWorld() (simulator.World, error) {
	if err := s.loadState(0); err != nil {
		return simulator.World{}, err
	}
	return s.world(s.cur), nil
}

// redo makes a choice of state id again, and says which clients change places by it.
func (s *search) redo(id uint32, c simulator.Choice) (verdict.Names, error) {
	if err := s.loadState(id); err != nil {
		return verdict.Names{}, err
	}
	w := s.world(s.cur)
	judges := s.cur[s.judgeAt()]
	if c.Verb == simulator.Pass {
		judges = s.passJudges(judges, c.D)
	}
	events, err := s.sim.Step(&w, c)
	if err != nil {
		return verdict.Names{}, fmt.Errorf("explore: the way to a harm cannot be gone again: %w", err)
	}
	kept := s.recordEvents(w.Now(), events)
	s.takeState(&w, judges, s.next)
	s.judgeEvents(s.next, kept)
	return s.canonicalizeNames(s.next)
}
