package explore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// search is the fast search: it visits every state that can be reached, those with the fewest faults first and of these
// those with the fewest steps. visited is the set of states with the frontier, successors makes the choices of a state,
// and witness.go follows the way back to a verdict. All states of a layer have the same cost. What follows from them is
// computed here, ahead of that by workers (lookahead.go), and entered into visited by another goroutine.
//
// Nothing here is a reduction. What counts as one state is decided by quotient (symmetry.go, drop.go), and
// what clients forget by assumptions.go. With Plainest there is none of them.
type search struct {
	*tables
	transitions *transitions
	quotient    *quotient
	successors  *successors
	visited     *visited

	opt   Options
	start simulator.World // of the first state, as a run has it

	ahead    lookahead
	checked  int  // histories at the last checkCode
	repeated bool // by which all of them were run twice, and all else was checked that run checks
	tokens   simulator.TokenUse
	lengths  simulator.Lengths
}

// newPass makes the search of a pass. wanted are the witnesses that it is to find; nil: everything is to be visited.
func newPass(sim *simulator.Simulator, opt *Options, wanted []Witness) *search {
	s := newSearch(sim, *opt)
	s.visited.wanted = wanted
	return s
}

// newSearch makes a search of no state yet, in which everything is to be visited.
func newSearch(sim *simulator.Simulator, opt Options) *search {
	tables := newTables(sim, &opt)
	s := &search{
		opt: opt, tables: tables, quotient: newQuotient(tables, &opt),
		transitions: &transitions{tables: tables, passed: map[time.Duration]*passed{}},
	}
	s.successors = &successors{
		tables: tables, transitions: s.transitions, quotient: s.quotient,
		step: opt.Step, outliving: opt.outliving, late: opt.Late,
	}
	s.visited = newVisited(s.stride(), &s.opt)
	s.successors.next, s.successors.cur = make([]uint32, s.stride()), make([]uint32, s.stride())
	return s
}

// run visits all states, and then checks the code before anything is claimed of it.
func (s *search) run(ctx context.Context) error {
	err := s.visitLayers(ctx)
	claims := s.visited.done || len(s.visited.found) > 0
	if s.repeated && s.checked == s.sim.Histories() { // by the run before this one
		return err
	}
	if !claims || err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	symmetry := s.sim.Symmetry()
	if wrong := errors.Join(s.checkAgain(), symmetry.CheckPeers(), symmetry.CheckOrder()); wrong != nil {
		return wrong
	}
	if wrong := s.checkCode(); wrong != nil {
		return wrong
	}
	if wrong := s.sim.Symmetry().CheckRests(); wrong != nil {
		return wrong
	}
	s.checked, s.repeated = s.sim.Histories(), true
	var wrong error
	s.tokens, wrong = s.sim.Symmetry().TokenUse()
	return cmp.Or(wrong, err)
}

func (s *search) visitLayers(ctx context.Context) error {
	if s.visited.states.n == 0 { // else the caller has begun
		if err := s.begin(); err != nil {
			return err
		}
	}
	for {
		layer := s.visited.layer()
		if layer == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.visit(ctx, layer); err != nil {
			return err
		}
		if err := s.checkSoon(); err != nil {
			return err
		}
	}
}

// begin enters the first state.
func (s *search) begin() error {
	if s.opt.active > 0 {
		if err := newAgain(s, s.opt.active, s.opt.endless); err != nil {
			return err
		}
	}
	s.start = s.sim.NewWorld()
	s.takeState(&s.start, s.judgeTab.ID(verdict.Safety{}), s.successors.next)
	if s.again != nil {
		s.again.begin(s.successors.next)
	}
	if err := s.quotient.canonicalize(s.successors.next); err != nil {
		return err
	}
	s.visited.begin(s.successors.next)
	return nil
}

// visit makes every choice of every state of a layer.
func (s *search) visit(ctx context.Context, layer []uint32) error {
	writer := s.visited.open(len(layer))
	err := s.visitAll(ctx, layer, s.visited.states.view(), writer)
	if s.successors.out != nil {
		s.write(writer)
	}
	writer.close()
	if s.visited.stopped.Load() {
		return nil // errors beyond the end do not count
	}
	return s.schedule(err)
}

func (s *search) visitAll(ctx context.Context, layer []uint32, states *store, writer *layerWriter) error {
	next, seen := s.successors, s.sim.Traits()
	s.ahead.end()
	defer s.ahead.end()
	next.out = writer.emptyBatch()
	for i, id := range layer {
		next.out.at = uint32(i)
		if !s.ahead.follow(s, layer[i:], states, next.out) {
			if err := s.expand(id, states.words(id)); err != nil {
				return err
			}
			if s.sim.Traits() != seen {
				return errNewTrait
			}
		}
		if !next.out.full() {
			continue
		}
		s.write(writer)
		if err := ctx.Err(); err != nil {
			writer.written = i + 1
			return err
		}
		if next.out = writer.emptyBatch(); next.out == nil {
			return nil
		}
	}
	writer.written = len(layer)
	return nil
}

// expand adds all that follows from a state to the batch; nothing of it if a number ran out.
func (s *search) expand(id uint32, words []uint32) error {
	next := s.successors
	copy(next.cur, words)
	if err := s.quotient.restore(next.cur); err != nil {
		return err
	}
	before := len(next.out.arcs)
	err := next.expand(id)
	if s.numbers.Exceeded != nil {
		next.out.cut(before) // their numbers may be wrong
	}
	if err == nil && s.numbers.Exceeded == nil {
		return nil
	}
	if failed := (*failedMove)(nil); errors.As(err, &failed) {
		failed.from = id
	}
	return errors.Join(err, s.numbers.Exceeded)
}

// write gives the batch to the goroutine that enters it, with the sizes that the tables have reached.
func (s *search) write(writer *layerWriter) {
	s.learn()
	b := s.successors.out
	b.histories, b.lengths = s.sim.Histories(), len(s.lengths.List)
	writer.write(b)
	s.successors.out = nil
}

// loadState puts state id into cur, with every client under its own number.
func (s *search) loadState(id uint32) error {
	copy(s.successors.cur, s.visited.states.words(id))
	return s.quotient.restore(s.successors.cur)
}
