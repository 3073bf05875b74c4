package explore

import (
	"context"
	"fmt"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A set of states is all that can be reached if the start is in it, and every move of every member leads into it (an
// inductive invariant); and a verdict that no such move comes to does not occur. So the set can be checked without
// trust in how the search found it: recheck goes through the members one after the other, by the rules of the plain
// search (rules.go), which make every move in a whole world, by the simulator's Step. Nothing here relies on what moves
// are thought to reach, on the effects that the search remembers, on its workers or on the order of states.
//
// What is relied on is the simulator, whose tables remember what code and servers did (tests hold them against tables
// that remember nothing); and what counts as one state: a member stands for a world by its parts (simulator.Parts) and,
// with reductions, by its hypotheses (quotient): a move must then lead to a member's world.

// A NotClosedError is a set of states from which a move leads elsewhere, or to a verdict that the search has not found.
type NotClosedError struct {
	State   int // its number in the set, from 0
	Choice  string
	Verdict verdict.Word // "": the move leads out of the set
}

func (e *NotClosedError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *NotClosedError) Message() i18n.Message {
	if e.Verdict != "" {
		return i18n.New("error.recheck.verdict", "state", e.State, "choice", e.Choice, "verdict", string(e.Verdict))
	}
	return i18n.New("error.recheck.open", "state", e.State, "choice", e.Choice)
}

// recheck checks the set of a search that is complete, and returns the number of moves; with an error, 0. That the
// start is in it one sees (search.begin). The error is a *NotClosedError, ctx's, or that of a step.
func (s *search) recheck(ctx context.Context) (moves int, err error) {
	rules, next := NewRules(s.sim, &s.opt), s.successors.next
	var found verdict.Set
	for f := range s.visited.found {
		found.Add(f.word)
	}
	for id := range s.visited.states.n {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := s.loadState(uint32(id)); err != nil {
			return 0, err
		}
		from := s.position(s.successors.cur)
		for _, c := range rules.Allowed(&from) {
			to := from
			words, err := rules.stepFrom(&to, c, from.World.Now())
			if err != nil {
				return 0, fmt.Errorf("explore: %w", err)
			}
			for _, word := range words {
				if found&verdict.SetOf(word) == 0 {
					return 0, &NotClosedError{id, s.sim.Describe(c), word}
				}
			}
			if s.sim.Config().Guard == history.Naive { // FENCED depends on an earlier stale write
				to.judges.Forget()
			}
			s.takeState(&to.World, s.judgeTab.ID(to.judges), next)
			if s.quotient.canonicalize(next) != nil || !s.visited.states.has(next) { // what is refuted is no member
				return 0, &NotClosedError{id, s.sim.Describe(c), ""}
			}
			moves++
		}
	}
	return moves, s.numbers.Exceeded
}

// stepFrom is Rules.Step of a position whose judges know of times from an instant on, as those of a state do.
func (r *Rules) stepFrom(p *Position, c simulator.Choice, since time.Duration) (words []verdict.Word, err error) {
	events, err := r.sim.Step(&p.World, c)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].At -= since
		if events[i].Until != 0 && events[i].Until != history.Forever {
			events[i].Until -= since
		}
	}
	words = r.observe(p, c, events, p.World.Now()-since)
	if passed := p.World.Now() - since; passed > 0 {
		p.judges.Rebase(passed)
	}
	return words, nil
}

// position is the position of a state.
func (s *search) position(state []uint32) Position {
	p := Position{World: s.world(state), judges: s.judgeTab.Keys[state[s.judgeAt]]}
	for c := range s.clients {
		e := s.clientTab[c].Values[state[c]]
		if e.finished {
			p.ended.Add(uint8(c + 1))
		}
		if e.begun {
			p.begun.Add(uint8(c + 1))
		}
	}
	return p
}
