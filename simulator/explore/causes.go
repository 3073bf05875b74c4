package explore

import (
	"encoding/binary"
	"slices"
)

// Where causes are kept apart, a state knows what has struck on the way to it:
// each fault with what its victim was at, in no order. Two ways to one harm by
// unlike causes then stay two.

// cause is the number of a state's causes.
func (s *transitions) cause(state []uint32) uint32 {
	if !s.byCause {
		return 0
	}
	return state[s.causeAt()]
}

// blame adds the fault of move m to the causes of the state that follows.
func (s *search) blame(state []uint32, m *move) {
	if !s.byCause {
		return
	}
	choice := s.choices[m.choice]
	label := s.sim.Describe(choice.Anonymous())
	if c := int(m.client); c >= 0 {
		label += ", " + s.sim.Doing(c+1, &s.clientTab[c].keys[s.cur[c]], int(choice.Thread))
	}
	all := append(slices.Clone(s.causes[s.cause(s.cur)]), label)
	slices.Sort(all)
	state[s.causeAt()] = s.numberCauses(all)
}

// numberCauses numbers a sorted list; 0 is the empty one.
func (s *transitions) numberCauses(all []string) uint32 {
	var key []byte
	for _, label := range all { // may hold any character, so each says how long it is
		key = append(binary.AppendUvarint(key, uint64(len(label))), label...)
	}
	id, ok := s.causeID[string(key)]
	if ok {
		return id
	}
	if id, ok = s.numbers.next(len(s.causes), "sets of causes"); ok {
		s.causes = append(s.causes, all)
		s.causeID[string(key)] = id
	}
	return id
}
