package explore

import (
	"slices"

	"locklab/simulator"
)

// With Options.Causes a state has the faults that were injected on the way to it, each
// with what the client was doing that it hit, sorted. Ways to one verdict by different
// causes then stay apart.

// cause is the number of a state's causes.
func (s *tables) cause(state []uint32) uint32 {
	if !s.byCause {
		return 0
	}
	return state[s.causeAt]
}

// blame adds the fault of move m to the causes of the state that follows.
func (s *successors) blame(state []uint32, m *move) {
	if !s.byCause {
		return
	}
	choice := s.choices[m.choice]
	label := s.sim.Describe(choice.Anonymous())
	if c := int(m.client); c >= 0 {
		label += ", " + s.sim.Parts().Doing(c+1, &s.clientTab[c].keys[s.cur[c]], int(choice.Thread)%simulator.MaxThreads) // see faults.PauseThread
	}
	all := append(slices.Clone(s.causes.entries[s.cause(s.cur)]), label)
	slices.Sort(all)
	state[s.causeAt] = numberList(&s.causes, all)
}
