package simulator

import "locklab/simulator/process"

// A simulator's tables hold what its clients' code and its servers do. Models that are not the
// simulator may use them: they need no World, and none of the rules by which a World changes.

// Follow returns what the code of client c, from 1, does when it observes seen at an entry of its
// table, and the entry that follows: the one that represents all with the same future, if the
// client's history is abstracted. Entry 0 is the program that has not begun. does is valid until
// the next call.
func (s *Simulator) Follow(c int, at uint32, seen process.Observation) (does *process.Entry, to uint32, err error) {
	p := s.clients.procs[c-1]
	did, err := p.Advance(at, seen)
	if err != nil {
		return nil, 0, err
	}
	if to, err = p.Forget(did); err != nil {
		return nil, 0, err
	}
	return p.At(did), to, s.room.Take()
}
