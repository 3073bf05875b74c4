package search_test

import (
	"context"
	"hash/maphash"
	"slices"

	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/hypothesis"
	"locklab/simulator/verdict"
)

// A plainSearch is the search itself, as simple as it can be: breadth first, over whole worlds, which are visited
// one after the other. It relies on nothing but explore.Rules. The fast search comes to the same verdicts, each by as
// few faults and as few steps, in a small part of the time and the memory. What it adds, file by file of package
// explore: worlds divided into parts with numbers (tables.go), moves that are computed once (moves.go, transitions.go),
// a compact set of states (visited.go, store.go), and the reductions (symmetry.go, drop.go,
// assumptions.go), each of which says what it leaves out and why nothing is lost. engine.go puts them together.
type plainSearch struct {
	// found has, of each verdict, the way with the fewest faults and, of these, the fewest steps.
	found     map[verdict.Word]plainWitness
	states    int // positions that were visited
	histories int // of observations that clients can have

	rules   *rules
	each    func(way []simulator.Choice, p *explore.Position) error
	visited map[spot]arrival
	seeds   [2]maphash.Seed
	to      explore.Position // of the present step
}

// A plainWitness is a way to a verdict.
type plainWitness struct {
	par     int // faults on it
	choices []simulator.Choice
}

// A spot stands for a position, which would take a kilobyte: two hashes of it. That of all positions of a search of a
// billion two have the same is less likely than 1 in 10^20.
type spot [2]uint64

// An arrival is how a position was reached first.
type arrival struct {
	from spot
	via  simulator.Choice
}

// searchPlainly visits all that can come after the start, without assumptions. each, if it is not nil, gets the way to
// each position that has no future, and each way to one that was visited before, with the position.
// The error is that of a step, that of each, or ctx's.
func searchPlainly(
	ctx context.Context, rules *rules, each func(way []simulator.Choice, p *explore.Position) error,
) (*plainSearch, error) {
	rules.sim.Assume(hypothesis.Set{})
	defer rules.sim.Assume(hypothesis.Usual)
	s := &plainSearch{
		found: map[verdict.Word]plainWitness{}, rules: rules, each: each,
		visited: map[spot]arrival{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	start := rules.Start()
	s.reach(&start, arrival{})
	for frontier := []*explore.Position{&start}; len(frontier) > 0; {
		var next []*explore.Position
		for _, from := range frontier {
			var err error
			if next, err = s.expand(from, next); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
		}
		frontier = next
	}
	s.states, s.histories = len(s.visited), rules.sim.Histories()
	return s, nil
}

// expand makes every choice that is allowed in a position, and appends those positions that are new.
func (s *plainSearch) expand(from *explore.Position, next []*explore.Position) ([]*explore.Position, error) {
	key, allowed := s.hash(from), s.rules.Allowed(from)
	if len(allowed) == 0 && s.each != nil {
		return next, s.each(s.way(key), from)
	}
	for _, c := range allowed {
		s.to = *from
		_, words, err := s.rules.Step(&s.to, c)
		if err != nil {
			return nil, err
		}
		how := arrival{key, c}
		s.find(words, &s.to, how)
		if s.reach(&s.to, how) {
			to := s.to
			next = append(next, &to)
		} else if s.each != nil {
			err = s.each(append(s.way(key), c), &s.to)
		}
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// reach reports whether a position is new.
func (s *plainSearch) reach(p *explore.Position, how arrival) bool {
	key := s.hash(p)
	_, known := s.visited[key]
	if !known {
		s.visited[key] = how
	}
	return !known
}

func (s *plainSearch) hash(p *explore.Position) spot {
	return spot{maphash.Comparable(s.seeds[0], *p), maphash.Comparable(s.seeds[1], *p)}
}

// find notes verdicts that a step has come to. The first way to a position has the fewest steps, and all
// ways to it have equally many faults.
func (s *plainSearch) find(words []verdict.Word, p *explore.Position, how arrival) {
	for _, w := range words {
		if best, ok := s.found[w]; !ok || p.Strikes() < best.par {
			s.found[w] = plainWitness{p.Strikes(), append(s.way(how.from), how.via)}
		}
	}
}

// way returns the choices from the start to a position.
func (s *plainSearch) way(to spot) (choices []simulator.Choice) {
	for at := s.visited[to]; at.via.Verb != 0; at = s.visited[at.from] {
		choices = append(choices, at.via)
	}
	slices.Reverse(choices)
	return choices
}
