package explore

import (
	"context"
	"hash/maphash"
	"slices"

	"locklab/simulator"
	"locklab/simulator/hypothesis"
	"locklab/simulator/verdict"
)

// A PlainSearch is the search itself, as simple as it can be: breadth first, over whole worlds, which are visited
// one after the other. It relies on nothing but Rules. [Run] comes to the same verdicts, each by as few faults
// and as few steps, in a small part of the time and the memory; tests compare the two. What it adds, file by
// file: worlds divided into parts with numbers (tables.go), moves that are computed once (moves.go, transitions.go),
// a compact set of states (visited.go, store.go), and the reductions (symmetry.go, drop.go,
// assumptions.go), each of which says what it leaves out and why nothing is lost. engine.go puts them together.
type PlainSearch struct {
	// Found has, of each verdict, the way with the fewest faults and, of these, the fewest steps.
	Found     map[verdict.Word]PlainWitness
	States    int // positions that were visited
	Histories int // of observations that clients can have

	rules   *Rules
	each    func(way []simulator.Choice, p *Position) error
	visited map[spot]arrival
	seeds   [2]maphash.Seed
	to      Position // of the present step
}

// A PlainWitness is a way to a verdict.
type PlainWitness struct {
	Par     int // faults on it
	Choices []simulator.Choice
}

// A spot stands for a position, which would take a kilobyte: two hashes of it. That of all positions of a search of a
// billion two have the same is less likely than 1 in 10^20.
type spot [2]uint64

// An arrival is how a position was reached first.
type arrival struct {
	from spot
	via  simulator.Choice
}

// SearchPlainly visits all that can come after the start, without Assumptions. each, if it is not nil, gets the way to
// each position that has no future, and each way to one that was visited before, with the position.
// The error is that of a step, that of each, or ctx's.
func SearchPlainly(
	ctx context.Context, rules *Rules, each func(way []simulator.Choice, p *Position) error,
) (*PlainSearch, error) {
	rules.sim.Assume(hypothesis.Set{})
	defer rules.sim.Assume(hypothesis.Usual)
	s := &PlainSearch{
		Found: map[verdict.Word]PlainWitness{}, rules: rules, each: each,
		visited: map[spot]arrival{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	start := rules.Start()
	s.reach(&start, arrival{})
	for frontier := []*Position{&start}; len(frontier) > 0; {
		var next []*Position
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
	s.States, s.Histories = len(s.visited), rules.sim.Histories()
	return s, nil
}

// expand makes every choice that is allowed in a position, and appends those positions that are new.
func (s *PlainSearch) expand(from *Position, next []*Position) ([]*Position, error) {
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
func (s *PlainSearch) reach(p *Position, how arrival) bool {
	key := s.hash(p)
	_, known := s.visited[key]
	if !known {
		s.visited[key] = how
	}
	return !known
}

func (s *PlainSearch) hash(p *Position) spot {
	return spot{maphash.Comparable(s.seeds[0], *p), maphash.Comparable(s.seeds[1], *p)}
}

// find notes verdicts that a step has come to. The first way to a position has the fewest steps, and all
// ways to it have equally many faults.
func (s *PlainSearch) find(words []verdict.Word, p *Position, how arrival) {
	for _, w := range words {
		if best, ok := s.Found[w]; !ok || int(p.strikes) < best.Par {
			s.Found[w] = PlainWitness{int(p.strikes), append(s.way(how.from), how.via)}
		}
	}
}

// way returns the choices from the start to a position.
func (s *PlainSearch) way(to spot) (choices []simulator.Choice) {
	for at := s.visited[to]; at.via.Verb != 0; at = s.visited[at.from] {
		choices = append(choices, at.via)
	}
	slices.Reverse(choices)
	return choices
}

// Plain says what a search does without. The zero value is the search that users make; without
// any reduction it is that of engine.go alone, with which tests compare.
type Plain struct {
	Symmetry     bool // every client is told apart from those that run the same code
	Transactions bool // an ensemble numbers every transaction, as a real one does, and not only creations
	Histories    bool // clients keep all that they have observed since they rested; so in lockstep
	Rests        bool // clients keep what they have observed when they rest and when they have ended, too
	Parts        bool // a state keeps what nothing that follows depends on, see drop; so in lockstep
	Clocks       bool // a state has the time of day wherever a clock was read, also if it only measures
	Interfaces   bool // each view is in a world with every other, and makes all moves in each; see interfaces.go
	Workers      bool // one goroutine computes what follows from the states; see lookahead.go

	// For tests, which cannot wait for billions of states; 0: as many as there can be.
	IDs, States, Choices int
}

// Plainest does without all reductions of a search.
var Plainest = Plain{
	Symmetry: true, Transactions: true, Histories: true, Rests: true, Parts: true, Clocks: true, Workers: true,
}
