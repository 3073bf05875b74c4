package explore

import (
	"context"
	"errors"
	"slices"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

var errNowAbsolute = errors.New("explore: a clock was read, or used to measure, replicas were waited for, a request was abandoned, or an old version was written on, for the first time")

// ErrReadsClock is a search of every timing in which clients wait without end, of code
// that reads a clock: it has no end. Bound Timing.Idle. Its checkpoint is empty then.
var ErrReadsClock = errors.New("explore: a clock is read by clients that wait without end")

// search is one pass over the states, in the order of their faults and then of their
// steps. It goes by layers: all states of a layer have the same number of both. What
// follows from them is computed here, and entered into visited by another goroutine.
type search struct {
	successors
	opt     Options
	visited *visited
	last    *snapshot // of where the search could be saved last; nil: there is none

	checked  int  // histories at the last checkCode
	repeated bool // by which all of them were run twice

	lengths simulator.Lengths

	start simulator.World // of the first state as a run has it; zero: as its parts have it
}

// newPass makes the search of a pass. wanted are the witnesses that it is to find, without
// reduction; nil: everything is to be visited.
func newPass(sim *simulator.Simulator, opt *Options, wanted []Witness) *search {
	s := newSearch(sim, *opt)
	s.noReduction = s.noReduction || wanted != nil && !opt.outliving || opt.Causes
	s.visited.wanted = wanted
	return s
}

func newSearch(sim *simulator.Simulator, opt Options) *search {
	s := &search{opt: opt, successors: successors{
		transitions: newTransitions(sim, &opt), step: opt.Step, outliving: opt.outliving, noReduction: opt.Plain.Order,
	}}
	s.drops, s.versions = !opt.Plain.Parts && opt.Step > 0, sim.OldBases()
	s.visited = newVisited(s.stride(), &s.opt)
	s.next, s.cur = make([]uint32, s.stride()), make([]uint32, s.stride())
	return s
}

func (s *search) run(ctx context.Context, k *checkpointer) error {
	err := s.visitLayers(ctx, k)
	claims := s.visited.done || len(s.visited.found) > 0
	if !claims || err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	if wrong := s.checkCode(); wrong != nil {
		return wrong
	}
	s.repeated = true
	return err
}

// checkCode checks what the search takes for granted of the code: that it is a function of what it
// observes, and that it uses its clock only to measure, if that is assumed.
func (s *search) checkCode() error {
	if s.visited.wanted == nil { // otherwise a pass before this one has claimed all
		if err := s.sim.Repeat(); err != nil {
			return err
		}
	}
	return s.sim.CheckMeasures()
}

func (s *search) visitLayers(ctx context.Context, k *checkpointer) error {
	v := s.visited
	if v.states.n > 0 {
		s.learn() // from the tables of a checkpoint
	} else if err := s.begin(); err != nil {
		return err
	}
	for {
		if err := k.at(s); err != nil {
			return err
		}
		layer := v.layer()
		if layer == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.visit(ctx, layer, k); err != nil {
			return err
		}
		if n := s.sim.Histories(); n > 4*s.checked { // soon, so that no long search is in vain
			s.checked = n
			if err := s.checkCode(); err != nil {
				return err
			}
		}
	}
}

// begin enters the first state.
func (s *search) begin() error {
	if err := s.takeStart(s.sim.NewWorld()); err != nil {
		return err
	}
	s.visited.begin(s.next)
	return nil
}

// takeStart puts the state in which every run begins into next.
func (s *search) takeStart(w simulator.World) error {
	s.takeState(&w, s.judges(verdict.Safety{}), s.next)
	return s.canonicalize(s.next)
}

// visit makes every choice of every state of a layer.
func (s *search) visit(ctx context.Context, layer []uint32, k *checkpointer) error {
	states := s.visited.states.view()
	writer := s.visited.open(len(layer))
	err := s.visitAll(ctx, layer, states, writer, k)
	if s.out != nil {
		s.count(s.out)
		writer.write(s.out)
	}
	writer.close(err == nil)
	if s.visited.stopped.Load() {
		return nil // errors beyond the end do not count
	}
	return s.schedule(err)
}

// count says in a batch how far the tables have come.
func (s *search) count(b *batch) {
	s.learn()
	b.histories, b.lengths = s.sim.Histories(), len(s.lengths.List)
}

// learn looks for lengths in what is new in the tables. What the probe waits for ends
// after all else.
func (s *search) learn() {
	clients := s.clients
	if s.probe > 0 {
		clients = s.probe - 1
	}
	s.sim.Learn(&s.lengths, clients)
}

func (s *search) visitAll(ctx context.Context, layer []uint32, states *store, writer *layerWriter, k *checkpointer) error {
	absolute, measured, waits, abandons, oldBases := s.sim.ReadsClock(), s.sim.Measured(), s.sim.SendsWait(), s.sim.Abandons(), s.sim.OldBases()
	s.out = writer.emptyBatch()
	for i, id := range layer {
		s.out.at = uint32(i)
		copy(s.cur, states.words(id))
		if err := s.restore(s.cur); err != nil {
			return err
		}
		arcs := len(s.out.arcs)
		err := s.expand(id)
		if failed := (*failedMove)(nil); errors.As(err, &failed) {
			failed.from = id
		}
		if err = errors.Join(err, s.numbers.full); err != nil {
			if s.numbers.full != nil {
				s.out.cut(arcs) // their numbers may be wrong
			}
			return err
		}
		if s.sim.ReadsClock() != absolute || s.sim.Measured() != measured || s.sim.SendsWait() != waits || s.sim.Abandons() != abandons || s.sim.OldBases() != oldBases {
			return errNowAbsolute
		}
		if !s.out.full() {
			continue
		}
		s.count(s.out)
		writer.write(s.out)
		s.out = nil
		if stop := ctx.Err(); stop != nil || k.due() {
			writer.reach(i + 1)
			if err := errors.Join(stop, k.at(s)); err != nil {
				return err
			}
		}
		if s.out = writer.emptyBatch(); s.out == nil {
			return nil
		}
	}
	return nil
}

func (s *search) result() *Result {
	r := s.visited.result()
	r.ReadsClock, r.Symmetry = len(s.cur) > s.timeAt(), s.symmetric > 1
	r.Measures = s.sim.Measured() && !r.ReadsClock
	r.Asymmetry, r.Repeated = s.opt.asymmetry, s.repeated
	r.Lengths = slices.SortedFunc(slices.Values(s.lengths.List[:min(s.visited.lengths, len(s.lengths.List))]), simulator.Length.Compare)
	for ch, injected := range s.visited.triggered {
		if v := s.choices[ch].Verb; injected && !slices.Contains(r.Triggered, v) {
			r.Triggered = append(r.Triggered, v)
		}
	}
	slices.Sort(r.Triggered)
	for i := range r.Found {
		r.Found[i].Cause = s.causes[r.Found[i].cause]
	}
	return r
}
