package explore

// drop drops from a state what nothing that follows depends on, because of the faults that
// the budget has left. States that differ in nothing else have the same moves, but for some
// that lead back to where they begin, and these lead again to such states; the judges find
// the same. So one stands for all of them. A server that does not serve, or is split, may
// still hold a message up, or read what another one holds: then nothing is dropped.
//
//   - Time-outs that cannot come, if no fault is left that holds up messages or threads: the
//     answer arrives before the client may give up waiting for it.
//   - What replicas and disks hold, and whose it is, if no fault is left that strikes servers:
//     nothing reads that but a server in whose place it comes.
//
// And at any server, whatever the budget has left: what was written to the resource, if no
// client is inside, or reads or writes. Whoever writes later has read later (see
// Simulator.OldBases), and the judges compare versions with one another only.
func (s *transitions) drop(state []uint32) {
	s.dropVersions(state)
	for n := range s.nodes {
		if e := s.nodeTab.entries[state[s.clients+n]]; !e.serving || e.split {
			return
		}
	}
	left := s.restTab.entries[state[s.restAt()]]
	if left.punctual && !s.timeouts {
		for c := range s.clients {
			e := s.clientTab[c].entries[state[c]]
			if e.patient == unseen {
				e.patient = s.clientPart(c, s.sim.WithoutTimeouts(c+1, s.clientTab[c].keys[state[c]]))
			}
			state[c] = e.patient
		}
	}
	if left.clientside && !s.copies {
		for n := range s.nodes {
			e := s.nodeTab.entries[state[s.clients+n]]
			if e.alone == unseen {
				e.alone = s.nodePart(s.nodeTab.keys[state[s.clients+n]].WithoutCopies())
			}
			state[s.clients+n] = e.alone
		}
		e := s.judgeTab.entries[state[s.judgeAt()]]
		if e.alone == unseen {
			v := s.judgeTab.keys[state[s.judgeAt()]]
			v.ForgetCopies()
			e.alone = s.judges(v)
		}
		state[s.judgeAt()] = e.alone
	}
}

func (s *transitions) dropVersions(state []uint32) {
	rest := s.restTab.entries[state[s.restAt()]]
	if s.versions || rest.late {
		return
	}
	for c := range s.clients {
		if s.clientTab[c].entries[state[c]].onVersion {
			return
		}
	}
	if rest.anew == unseen {
		rest.anew = s.restPart(s.restTab.keys[state[s.restAt()]].WithoutVersion())
	}
	e := s.judgeTab.entries[state[s.judgeAt()]]
	if e.anew == unseen {
		v := s.judgeTab.keys[state[s.judgeAt()]]
		v.ForgetWrites()
		e.anew = s.judges(v)
	}
	state[s.restAt()], state[s.judgeAt()] = rest.anew, e.anew
}
