package simulator

import "locklab/simulator/process"

// A simulator learns what its clients' code and its servers do. What it has learned, and
// whatever else somebody asks, is there for models that are not the simulator: they need no
// World, and none of the rules by which a World changes.

// Follow is what the code of client c, from 1, does when it observes seen at an entry of its
// table, and the entry at which it then stands: another one with the same future, if the
// client forgets. Entry 0 is the program that has not begun. The entry is good until the
// next call.
func (s *Simulator) Follow(c int, at uint32, seen process.Observation) (does *process.Entry, to uint32, err error) {
	p := s.procs[c-1]
	did, err := p.Advance(at, seen)
	if err != nil {
		return nil, 0, err
	}
	if to, err = p.Forget(did); err != nil {
		return nil, 0, err
	}
	return p.At(did), to, s.room.Take()
}
