package explore

// drop drops from a state what nothing that follows depends on. States that differ in
// nothing else have the same moves, but for some that lead back to where they begin, and
// these lead again to such states; the judges find the same. So one stands for all of them.
//
//   - What was written to the resource, if no client is inside, or reads or writes: a client that
//     writes later has read later (see Simulator.OldBases), and the judges compare versions
//     with one another only.
//   - Time-outs that cannot come, if no fault is left that holds up messages or threads: the
//     answer arrives before the client may give up waiting for it.
//   - What replicas and disks hold, and whose it is, if no fault is left that strikes servers:
//     nothing reads that but a server in whose place it comes.
//
// A server that does not serve, or is split, may still hold a message up, or read what
// another one holds.
func (s *quotient) drop(state []uint32) {
	if !s.drops {
		return
	}
	rest := s.restTab.entries[state[s.restAt]]
	if !s.versions && !rest.onVersion {
		s.dropVersions(state)
	}
	for n := range s.nodes {
		if e := s.nodeTab.entries[state[s.clients+n]]; !e.serving || e.split {
			return
		}
	}
	if rest.punctual {
		s.dropTimeouts(state)
	}
	if rest.clientside {
		s.dropCopies(state)
	}
}

func (s *quotient) dropVersions(state []uint32) {
	for c := range s.clients {
		if s.clientTab[c].entries[state[c]].onVersion {
			return
		}
	}
	rest := s.restTab.entries[state[s.restAt]]
	if rest.unwritten == unseen {
		rest.unwritten = s.restPart(s.restTab.keys[state[s.restAt]].WithoutVersion())
	}
	judges := s.judgeTab.entries[state[s.judgeAt]]
	if judges.unwritten == unseen {
		v := s.judgeTab.keys[state[s.judgeAt]]
		v.ForgetWrites()
		judges.unwritten = s.judges(v)
	}
	state[s.restAt], state[s.judgeAt] = rest.unwritten, judges.unwritten
}

func (s *quotient) dropTimeouts(state []uint32) {
	for c := range s.clients {
		e := s.clientTab[c].entries[state[c]]
		if e.patient == unseen {
			e.patient = s.clientPart(c, s.sim.Parts().WithoutTimeouts(c+1, s.clientTab[c].keys[state[c]]))
		}
		state[c] = e.patient
	}
}

func (s *quotient) dropCopies(state []uint32) {
	for n := range s.nodes {
		e := s.nodeTab.entries[state[s.clients+n]]
		if e.alone == unseen {
			e.alone = s.nodePart(s.nodeTab.keys[state[s.clients+n]].WithoutCopies())
		}
		state[s.clients+n] = e.alone
	}
	judges := s.judgeTab.entries[state[s.judgeAt]]
	if judges.alone == unseen {
		v := s.judgeTab.keys[state[s.judgeAt]]
		v.ForgetCopies()
		judges.alone = s.judges(v)
	}
	state[s.judgeAt] = judges.alone
}
