package explore

// dropTimeouts drops from a state the time-outs that cannot come: no fault is left that
// holds up messages or threads, every server runs, and the answer arrives before the
// client may give up waiting for it. Nothing that follows depends on when it would have:
// states that differ in nothing else have the same moves, and these lead again to such
// states.
func (s *transitions) dropTimeouts(state []uint32) {
	if s.timeouts || !s.restTab.entries[state[s.restAt()]].punctual {
		return
	}
	for n := range s.nodes {
		if e := s.nodeTab.entries[state[s.clients+n]]; !e.serving || e.split {
			return
		}
	}
	for c := range s.clients {
		e := s.clientTab[c].entries[state[c]]
		if e.patient == unseen {
			e.patient = s.clientPart(c, s.sim.WithoutTimeouts(c+1, s.clientTab[c].keys[state[c]]))
		}
		state[c] = e.patient
	}
}
