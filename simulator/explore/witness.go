package explore

import (
	"errors"
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/translate"
	"locklab/simulator/verdict"
)

// witnesses fills in the choices of the witnesses.
func (s *search) witnesses(r *Result) (err error) {
	for i := range r.Found {
		f := &r.Found[i]
		if s.again != nil {
			if f.Attempts, err = attemptsOn(s, s.visited.found[finding{f.Verdict, f.cause}]); err != nil {
				return err
			}
			continue
		}
		if f.Choices, err = s.path(s.visited.found[finding{f.Verdict, f.cause}]); err != nil {
			return err
		}
	}
	return nil
}

// A ScheduleError is client code that cannot be carried on, after some choices.
type ScheduleError struct {
	Err     error
	Choices []simulator.Choice // the last one is that which could not be made
}

func (e *ScheduleError) Error() string { return e.Err.Error() }
func (e *ScheduleError) Unwrap() error { return e.Err }

// failedMove is an error of a move from a state.
type failedMove struct {
	error
	from uint32
	via  uint16
}

func (e *failedMove) Unwrap() error { return e.error }

// schedule is err with the choices that have led to it, if it is about code that a move
// has run. To be called when all states of the layer are entered.
func (s *search) schedule(err error) error {
	failed, limited, asymmetric := (*failedMove)(nil), (*simulator.LimitError)(nil), (*hypothesis.Refuted)(nil)
	unlike := errors.As(err, &asymmetric) && asymmetric.Of <= hypothesis.Peers
	if !errors.As(err, &failed) || errors.As(err, &limited) || unlike {
		return err
	}
	steps := int(s.visited.states.depth(failed.from)) + 1
	choices, way := s.path(&discovery{steps: steps, state: failed.from, choice: failed.via, failed: true})
	if way != nil {
		return err
	}
	return &ScheduleError{failed.error, choices}
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
	owner := history.Same() // place -> client
	w, there := s.start, 0  // how many choices w has made
	for n, id := range states {
		if d.failed && n == d.steps-1 {
			choices[n].Client = int8(owner[choices[n].Client])
			break
		}
		to, after, err := s.redo(id, choices[n])
		if err != nil {
			return nil, err
		}
		c := &choices[n]
		c.Client = int8(owner[c.Client])
		atServer := c.Verb >= simulator.FaultVerb && c.Node > 0
		if byPlace := atServer || c.Verb == simulator.Orphaned || c.Verb == simulator.End; byPlace {
			// make all choices up to here
			for ; there < n && err == nil; there++ {
				_, err = s.sim.Step(&w, choices[there])
			}
			if err == nil {
				c.Thread, err = s.placeInRun(&w, *c, &after, &owner)
			}
			if err != nil {
				return nil, fmt.Errorf("explore: the way to a harm cannot be gone again: %w", err)
			}
		}
		var next history.Names
		for place, now := range to {
			next[now] = owner[place]
		}
		owner = next
	}
	return choices, nil
}

// placeInRun is the Thread of choice c, of the present state, in w, where clients have other names; after is the world
// after it. The place of an orphaned request depends on the way, and that of a key on the names in those of all keys.
func (s *search) placeInRun(
	w *simulator.World, c simulator.Choice, after *simulator.World, owner *history.Names,
) (int8, error) {
	if c.Verb == simulator.Orphaned {
		place, err := s.sim.Parts().PlaceInWorld(w, &s.restTab.Keys[s.successors.cur[s.restAt]], int(c.Thread), owner)
		return int8(place), err
	}
	want, err := s.sim.Symmetry().Node(s.sim.Parts().Node(after, int(c.Node)), translate.Rename(owner))
	if err != nil {
		return 0, err
	}
	all, err := s.sim.Parts().Faults(w, nil)
	if err != nil {
		return 0, err
	}
	if c.Verb == simulator.End {
		all = s.sim.Enabled(w, nil)
	}
	for _, other := range append([]simulator.Choice{c}, all...) { // mostly it is the same
		same := c
		if same.Thread = other.Thread; same != other {
			continue
		}
		next := *w
		if _, err := s.sim.Step(&next, other); err == nil && s.sim.Parts().Node(&next, int(c.Node)) == want {
			return other.Thread, nil
		}
	}
	return 0, fmt.Errorf("no %s of this run does the same", s.sim.Describe(c))
}

// redo makes a choice of state id again. It returns which clients change places by it,
// and the world after it, with the clients in the places of that state.
func (s *search) redo(id uint32, c simulator.Choice) (to history.Names, w simulator.World, err error) {
	if err = s.loadState(id); err != nil {
		return to, w, err
	}
	w = s.world(s.successors.cur)
	if _, err = s.step(&w, c, s.successors.next); err != nil {
		return to, w, fmt.Errorf("explore: the way to a harm cannot be gone again: %w", err)
	}
	to, err = s.quotient.canonicalizeNames(s.successors.next)
	return to, w, err
}

// step makes a choice in w, the world of the state in cur, and puts the state that follows into next.
func (s *search) step(w *simulator.World, c simulator.Choice, next []uint32) (found verdict.Set, err error) {
	judges := s.successors.cur[s.judgeAt]
	if c.Verb == simulator.Pass {
		judges, found = s.transitions.passJudges(judges, c.D)
	}
	events, err := s.sim.Step(w, c)
	if err != nil {
		return 0, err
	}
	kept := s.recordEvents(w.Now(), events)
	s.takeState(w, judges, next)
	return found | s.transitions.judgeEvents(next, kept), nil
}

// reorder moves the choices of a witness so that those of one client stay together, as far as they do not depend on one
// another. same reports whether a list of choices can be made and comes to the same verdict.
func reorder(choices []simulator.Choice, same func([]simulator.Choice) bool) []simulator.Choice {
	choices = slices.Clone(choices)
	for i := 1; i < len(choices); i++ {
		who := choices[i-1].Client
		if who == 0 || choices[i].Client == who {
			continue
		}
		for j := i + 1; j < len(choices); j++ {
			if choices[j].Client != who {
				continue
			}
			moved := slices.Clone(choices)
			step := moved[j]
			moved = slices.Insert(slices.Delete(moved, j, j+1), i, step)
			if same(moved) {
				choices = moved
			}
			break // later ones of this client come after this one
		}
	}
	return choices
}

// With Options.Causes a state has the faults that were injected on the way to it, each
// with what the client was doing that it hit, sorted. Ways to one verdict by different causes then stay apart.

// cause is the number of a state's causes.
func (s *tables) cause(state []uint32) uint32 {
	if !s.byCause {
		return 0
	}
	return state[s.causeAt]
}

// blame adds the fault of move m to the causes of the state that follows.
func (s *successors) blame(state []uint32, m *move) {
	if !s.byCause {
		return
	}
	choice := s.choices[m.choice]
	label := s.sim.Describe(choice.Anonymous())
	if c := int(m.client); c >= 0 {
		thread := int(choice.Thread) % simulator.MaxThreads // see faults.PauseThread
		label += ", " + s.sim.Parts().Doing(c+1, &s.clientTab[c].Keys[s.cur[c]], thread)
	}
	all := append(slices.Clone(s.causes.Values[s.cause(s.cur)]), label)
	slices.Sort(all)
	state[s.causeAt] = numberList(&s.causes, all)
}
