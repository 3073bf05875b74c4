package explore

import (
	"context"
	"fmt"

	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/internal/codec"
)

// A search that was stopped, by whatever means, goes on from its checkpoint and then
// comes to the same result, number for number and step for step, as one that was not.
// States consist of numbers of table entries, so the tables are written in order: every
// number then means the same again. The remembered effects of moves are not written.
// They consist of entries that the tables have already, so that computing them again
// adds no numbers.
//
// A checkpoint is a search before one of its layers, or within one, when all that follows
// from its first states is entered. A search that is cut short elsewhere is taken back
// there (see snapshot): the tables may be ahead of the visited states, by an amount that
// depends on the machine.

// phase is how far a search has come.
type phase uint8

const (
	visiting   phase = iota // in the first pass
	shortening              // in the second
	finished
)

// checkpointer reads and writes the checkpoint of a search. Its first segment has the phase and
// the result of the first pass, if that is done, and every one what the search has more than at
// the segment before. A nil one does nothing.
type checkpointer struct {
	*checkpoint.File
	phase  phase
	first  *Result       // of the first pass, once that is done
	rest   *codec.Reader // the rest of the first segment, from which a pass is to go on
	off    bool          // the present pass is not to be kept
	cut    bool          // the search was cut short
	always bool          // Plain.SaveAfter
	base   *snapshot     // what the file has of the present pass; nil: nothing
}

// due reports whether a search is to be saved now.
func (k *checkpointer) due() bool { return k != nil && !k.off && (k.always || k.Due()) }

// openCheckpoint reads the checkpoint, if there is one, up to the tables. The error is a
// *checkpoint.Error, or ctx's.
func openCheckpoint(ctx context.Context, opt *Options) (*checkpointer, error) {
	if opt.Checkpoint.File == "" {
		return nil, nil
	}
	f, err := checkpoint.Open(ctx, opt.Checkpoint)
	if err != nil {
		return nil, err
	}
	k := &checkpointer{File: f, always: opt.Plain.SaveAfter > 0}
	if err := k.readResult(ctx); err != nil {
		k.release()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, k.Unreadable(err)
	}
	return k, nil
}

func (k *checkpointer) release() {
	if k != nil {
		k.Release()
	}
}

// empty gives up what the file keeps, of a search that cannot end.
func (k *checkpointer) empty() error {
	if k == nil {
		return nil
	}
	return k.Empty()
}

// readResult reads how far the search had come, and what had come out.
func (k *checkpointer) readResult(ctx context.Context) error {
	if k.Segments() == 0 {
		return nil
	}
	k.rest = k.Segment(ctx, 0)
	if k.rest.Get(&k.phase); k.phase != visiting {
		k.Kept.Visited, k.first = true, &Result{}
		k.rest.Get(k.first)
	}
	err := k.rest.Err()
	if err == nil {
		err = k.checkResult()
	}
	if err == nil && k.phase == finished {
		k.Kept.Finished = true
		k.rest = nil
	}
	return err
}

// known is the result of the first pass, if the checkpoint has it.
func (k *checkpointer) known() *Result {
	if k == nil {
		return nil
	}
	return k.first
}

// search is the search of the next pass: the one that was kept, or a new one.
func (k *checkpointer) search(ctx context.Context, sim *simulator.Simulator, opt *Options, wanted []Witness) (s *search, err error) {
	switch {
	case k == nil:
		return newPass(sim, opt, wanted), nil
	case k.rest == nil:
		k.base = nil
		s = newPass(sim, opt, wanted)
	default:
		if s, err = k.load(ctx, sim, opt, wanted); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, k.Unreadable(err)
		}
		k.Loaded()
	}
	s.visited.kept = !k.off
	return s, nil
}

// load reads the search of a pass, segment by segment, and checks it. base is what the file
// has, and not what the check may add to the tables.
func (k *checkpointer) load(ctx context.Context, sim *simulator.Simulator, opt *Options, wanted []Witness) (s *search, err error) {
	in := k.rest
	k.rest = nil
	before, start := opt.assumed, sim.NewWorld() // which empties the tables
	in.Get(&opt.assumed.Assumptions, &opt.assumed.asymmetry)
	if !opt.assumed.NoStrongerThan(before.Assumptions) {
		return nil, errUnsound
	}
	sim.Assume(opt.assumed.Assumptions)
	k.base = &snapshot{}
	for i := range k.Segments() {
		if i > 0 {
			in = k.Segment(ctx, i)
		}
		if err := sim.Tables().Load(in); err != nil {
			return nil, err
		}
		if s == nil {
			s = newPass(sim, opt, wanted)
			k.base.clients = make([]int, len(s.clientTab))
		}
		if err := s.load(in, k.base); err != nil {
			return nil, err
		}
		k.base = s.snapshot()
	}
	whole, err := (&loaded{s}).check(ctx, start)
	k.Kept.Sampled = !whole
	return s, err
}

// at is called where s can be saved: before a layer, or within one when all that follows
// from the states up to v.place is entered. It takes a snapshot, and saves s if that is
// due.
func (k *checkpointer) at(s *search) error {
	if k == nil || k.off || s.visited.stopped.Load() { // what was entered last may not be whole
		return nil
	}
	s.last = s.snapshot()
	if k.due() {
		k.save(s)
	}
	return k.Lost() // before anything is lost
}

// after is called when s has ended.
func (k *checkpointer) after(s *search) {
	if k == nil || k.off || s.visited.ended() {
		return
	}
	k.cut = true
	if s.last != nil {
		s.visited.rewind(s.last)
		k.save(s)
	}
}

// finish is called with the result of the whole search.
func (k *checkpointer) finish(r *Result, err error) {
	if k == nil || r == nil {
		return
	}
	if err == nil && !k.cut && !k.Kept.Finished {
		k.Save(r.States, true, func(w *codec.Writer) { w.Put(finished, *r) })
	}
	r.Kept = k.Kept
	r.Kept.Open = k.cut && r.Limit.IsZero() // a limit would only be exceeded again
}

// save writes s as of its last snapshot: what the file has not yet, or a new file.
func (k *checkpointer) save(s *search) {
	from, to := k.base, s.last
	anew := from == nil || !k.Grows()
	saved := k.Save(to.states, anew, func(w *codec.Writer) {
		if anew {
			from = &snapshot{clients: make([]int, len(to.clients))}
			if w.Put(k.phase); k.phase == shortening {
				w.Put(*k.first)
			}
			w.Put(s.opt.assumed.Assumptions, s.opt.assumed.asymmetry)
		}
		s.save(w, from, to)
	})
	if saved {
		k.base = to
		s.visited.saved(to)
	}
	s.visited.checkpoint = k.Kept
}

// unfit turns a panic of a search that went on from its checkpoint into an error: the
// file holds something that no check has noticed.
func (k *checkpointer) unfit(r **Result, err *error) {
	if k == nil || k.Kept.Had == 0 {
		return
	}
	if p := recover(); p != nil {
		*r, *err = nil, k.Unreadable(fmt.Errorf("%w: %v", errUnsound, p))
	}
}
