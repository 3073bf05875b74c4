// Package explore answers whether a lock can break: it visits every state that
// any interleaving and any fault within a budget can reach, by the code that
// runs in production, and hands out the shortest way to each harm.
//
// Time: what is ready happens before time moves, in every possible order; time
// moves to the next deadline of anybody. Only a pause lets time pass somebody
// who is ready, as often and as long as the budget allows; it ends at a
// deadline of somebody else, or at its own bound.
package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Stuck is the Note of a Refuse by which the probe says that it waited longer
// than any lease, with everybody else at an end, and was refused still.
const ProbeRefused = "refused after all leases"

// Options bound a search.
type Options struct {
	// Clients, Nodes, Key and TTL of the history that the judges are to read.
	Case history.History
	// Probe is the client, from 1, that begins only when every other client has
	// finished or died. It asks once, waits for longer than any lease, and asks
	// again; if that is refused it says so with Stuck. 0: nobody does, and no
	// deadlock is found.
	Probe int
	// Alike says that so many clients, from the first, run the same code with the
	// same clock, so that states that differ only in who is who count as one.
	Symmetric int
	// Causes looks for the shortest way to each harm by each cause, and not by any:
	// what struck, and what its victim was at. The causes are part of the state
	// then, of which there are several times as many, and reduction is not used.
	Causes bool
	// Plain does without reduction and, with Alike 0, without symmetry.
	NoReduction bool
	// MaxStates ends the search; 0: no limit.
	MaxStates int
	// MaxBytes ends the search when the whole program uses more memory; 0: no
	// limit. It is looked at now and then, so a little more may be used.
	MaxBytes int64
	// Progress is told now and then how far the search has come; nil: nobody asks.
	Progress func(r *Result)
	// Checkpoint is where the search is kept, so that one that was cut short can
	// go on.
	Checkpoint Checkpoint
}

// A Result is what a search has covered and found.
type Result struct {
	Complete    bool   // every reachable state was visited
	Limit       string // the lab or the search had no room to go on: for what, and what to do about it
	States      int
	Transitions int
	Depth       int              // steps from the start to the farthest state
	Open        int              // states that were reached but not visited
	Bytes       int64            // memory of the states, with what finds them again
	ReadsClock  bool             // the time of day was part of the state: somebody reads a clock
	Symmetry    bool             // states that differ only in who is who were counted as one
	Histories   int              // entries of the clients' tables: distinct histories of observations
	Triggered   []simulator.Verb // the faults that have struck, anywhere, in order
	Found       []Witness
	Kept        Kept // of Options.Checkpoint
}

// Found is a harm with the shortest way to it.
type Witness struct {
	Verdict verdict.Word
	Par     int // fewest unlucky moves: strikes of faults
	Steps   int // fewest choices with that many strikes
	cause   uint32
	Cause   []string // with Options.Causes: what struck, as "pause, its SET on the way"; sorted
	Choices []simulator.Choice
}

// Run searches. The error is about code that the lab cannot carry, a
// *CheckpointError, or ctx's; with ctx's the result says how far the search had
// come.
//
// A first pass visits every state, with reduction, and says what there is to
// find; a second one, without, finds the shortest ways to it. The figures of
// the result are those of the first.
func Run(ctx context.Context, sim *simulator.Simulator, opt Options) (*Result, error) {
	k, err := openCheckpoint(opt.Checkpoint)
	if err != nil {
		return nil, err
	}
	r, err := passes(ctx, sim, &opt, k)
	k.finish(r, err)
	return r, err
}

func passes(ctx context.Context, sim *simulator.Simulator, opt *Options, k *checkpointer) (*Result, error) {
	r := k.known()
	if r == nil {
		var err error
		if r, err = pass(ctx, sim, opt, k, nil); err != nil {
			return r, err
		}
		k.passed(r)
	}
	if opt.NoReduction || opt.Causes || len(r.Found) == 0 || k.done() {
		return r, nil
	}
	short, err := pass(ctx, sim, opt, k, r.Found)
	if short == nil {
		return r, err
	}
	if short.Limit != "" { // the ways may not be the shortest
		r.Complete, r.Limit = false, short.Limit
	}
	for i := range r.Found {
		for _, f := range short.Found {
			old := &r.Found[i] // cut short, the second pass may know a longer way only
			if f.Verdict == old.Verdict && (f.Par < old.Par || f.Par == old.Par && f.Steps < old.Steps) {
				r.Found[i] = f
			}
		}
	}
	return r, err
}

// pass is one search. With a list of what there is to find it goes without
// reduction and ends when it has the shortest way to each.
func pass(ctx context.Context, sim *simulator.Simulator, opt *Options, k *checkpointer, wanted []Witness) (*Result, error) {
	for {
		s, err := k.search(sim, opt)
		if err != nil {
			return nil, err
		}
		s.noReduction = s.noReduction || wanted != nil || opt.Causes
		s.visited.wanted = wanted
		err = s.run(ctx, k)
		asymmetric := (*simulator.AsymmetricError)(nil)
		switch {
		case errors.As(err, &asymmetric):
			opt.Symmetric = 0
		case !errors.Is(err, errNowAbsolute):
			r := s.result()
			if what := limit(err); what != "" {
				r.Complete, r.Limit, err = false, what, nil
			}
			if err == nil || errors.Is(err, ctx.Err()) {
				err = errors.Join(err, s.witnesses(r))
				k.after(s)
			}
			return r, err
		}
	}
}

var errNowAbsolute = errors.New("explore: a clock was read, or replicas were waited for, for the first time")

// search is one pass over the states, in order of strikes and then of steps. It
// goes by layers: the states of one layer have cost the same strikes and steps.
// What follows from them is worked out here and entered into the ledger, which
// knows the states, on a core of its own.
type search struct {
	*transitions
	opt         Options
	visited     *visited
	out         *batch // not yet given to the ledger
	next        []uint32
	cur         []uint32  // the state that is visited, with every client under its own number
	moves       []move    // of cur
	noReduction bool      // without reduction
	before      *snapshot // how it stood before the layer; nil: nobody needs to know
}

func newSearch(sim *simulator.Simulator, opt Options) *search {
	s := &search{transitions: newTransitions(sim, verdict.CaseOf(&opt.Case), opt.Probe, opt.Symmetric, opt.Causes), opt: opt, noReduction: opt.NoReduction}
	s.visited = newVisited(s.stride(), &s.opt)
	s.next, s.cur = make([]uint32, s.stride()), make([]uint32, s.stride())
	return s
}

func (s *search) run(ctx context.Context, k *checkpointer) error {
	l := s.visited
	if l.states.n == 0 {
		if err := s.begin(); err != nil {
			return err
		}
	}
	for {
		if err := k.before(s); err != nil {
			return err
		}
		layer := l.layer()
		if layer == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.visit(ctx, layer); err != nil {
			return err
		}
	}
}

// begin enters the first state.
func (s *search) begin() error {
	w := s.sim.NewWorld()
	s.takeState(&w, s.judges(verdict.Safety{}), s.next)
	if err := s.canonicalize(s.next); err != nil {
		return err
	}
	s.visited.begin(s.next)
	return nil
}

// visit makes every choice of every state of a layer.
func (s *search) visit(ctx context.Context, layer []uint32) error {
	states := s.visited.states.view()
	desk := s.visited.open(len(layer))
	err := s.visitAll(ctx, layer, states, desk)
	if s.out != nil {
		s.out.histories = s.sim.Histories()
		desk.write(s.out)
	}
	desk.close(err == nil)
	if s.visited.stopped.Load() {
		return nil // what came to light beyond the end does not count
	}
	return err
}

func (s *search) visitAll(ctx context.Context, layer []uint32, states *store, desk *layerWriter) error {
	absolute, waits := s.sim.ReadsClock(), s.sim.SendsWait()
	s.out = desk.emptyBatch()
	for i, id := range layer {
		s.out.at = uint32(i)
		copy(s.cur, states.words(id))
		if err := s.restore(s.cur); err != nil {
			return err
		}
		arcs := len(s.out.arcs)
		err := s.expand(id)
		if err = errors.Join(err, s.numbers.full); err != nil {
			if s.numbers.full != nil {
				s.out.cut(arcs) // they may go by numbers that mean something else
			}
			return err
		}
		if s.sim.ReadsClock() != absolute || s.sim.SendsWait() != waits {
			return errNowAbsolute
		}
		if !s.out.full() {
			continue
		}
		s.out.histories = s.sim.Histories()
		desk.write(s.out)
		if s.out = desk.emptyBatch(); s.out == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) result() *Result {
	r := s.visited.result()
	r.ReadsClock, r.Symmetry = len(s.cur) > s.timeAt(), s.symmetric > 1
	for ch, struck := range s.visited.triggered {
		if v := s.choices[ch].Verb; struck && !slices.Contains(r.Triggered, v) {
			r.Triggered = append(r.Triggered, v)
		}
	}
	slices.Sort(r.Triggered)
	for i := range r.Found {
		r.Found[i].Cause = s.causes[r.Found[i].cause]
	}
	return r
}

// witnesses fills in the ways to what was found.
func (s *search) witnesses(r *Result) (err error) {
	for i := range r.Found {
		f := &r.Found[i]
		if f.Choices, err = s.path(s.visited.found[finding{f.Verdict, f.cause}]); err != nil {
			return err
		}
	}
	return nil
}

// path is the way from the start to a discovery, by the clients' own names: the
// states on the way call them by their places, which change from step to step.
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
			// its place in the state is none in a run: there it depends on the way
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

// firstWorld is the world at the start of a run. A new one of the lab's could empty
// its tables.
func (s *search) firstWorld() (simulator.World, error) {
	if err := s.loadState(0); err != nil {
		return simulator.World{}, err
	}
	return s.world(s.cur), nil
}

// follow makes a choice of state id again and says who changes places by it.
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
