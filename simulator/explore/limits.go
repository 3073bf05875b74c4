package explore

import (
	"context"
	"errors"
	"math"
	"slices"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
	"locklab/simulator/verdict"
)

// How many entries a search can number. A search that needs more ends and says so.
const (
	maxIDs     = math.MaxUint32 - 1     // entries of a table; the largest number is intern.Unseen
	maxStates  = math.MaxUint32 - 1<<20 // with room for the arcs of the state at which the search ends
	maxChoices = math.MaxUint16 + 1     // kinds of choice
)

// numbers are the room of a search, for kinds of choice too.
type numbers struct {
	intern.Room
	choices int // kinds of choice, at most
	seen    simulator.Traits
}

// limit returns what Result.Limit says of an error; zero: it is about no limit.
func limit(err error) i18n.Message {
	if e := (*simulator.LimitError)(nil); errors.As(err, &e) {
		return e.What
	}
	return i18n.Message{}
}

// A Boundary is the relation of a verdict, with its par, to ends: is it met only where something happens at the very
// instant at which something ends at a server, and after that end.
type Boundary uint8

const (
	Unchecked    Boundary = iota
	Beyond                // it is also met where what ends outlives all else that happens at its last instant
	BoundaryOnly          // it is not, in whole steps
)

// boundaryStates are searched at least for Result.Boundary.
const boundaryStates = 200_000

// atBoundary searches once more for verdicts that s, which is complete, has found, in a quarter of its states, or some
// more where those are few, while all that ends by itself at a server - a key's life, a session, an outage - outlives
// everything else that happens at the instant at which it ends. It says of each verdict whether it was met so, with as
// few faults. Everything else is as in s: that a timer, a message or a bound of a fault falls on an instant at which
// something else happens is not looked at; nor are ends to which a jump of a server's clock leads. It uses the tables
// of s, where nearly all that follows is known, and discards its states.
func (s *search) atBoundary(ctx context.Context, found []Witness) (map[verdict.Word]Boundary, error) {
	wanted := slices.Clone(found)
	for i := range wanted {
		wanted[i].cause = 0
	}
	opt := s.opt
	opt.Causes, opt.Progress, opt.outliving = false, nil, true
	opt.MaxStates = max(boundaryStates, s.visited.states.n/4)
	if s.byCause { // they are part of its states
		s = newPass(s.sim, &opt, wanted)
	} else {
		start := s.visited.states.words(0)
		s.opt, s.successors.outliving = opt, true
		s.visited = newVisited(len(start), &s.opt)
		s.visited.wanted = wanted
		s.visited.begin(start)
	}
	r, err := s.pass(ctx)
	if err != nil {
		return nil, err
	}
	met := map[verdict.Word]Boundary{}
	for _, w := range wanted {
		if r.settled {
			met[w.Verdict] = BoundaryOnly
		}
		for _, f := range r.Found {
			if f.Verdict == w.Verdict && f.Par <= w.Par {
				met[w.Verdict] = Beyond
			}
		}
	}
	return met, nil
}
