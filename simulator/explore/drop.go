package explore

import (
	"locklab/simulator"
	"locklab/simulator/intern"
	"locklab/simulator/verdict"
)

// drop drops from a state what nothing that follows depends on. States that differ in nothing else have the same moves,
// but for some self-loops, and these lead again to such states; the judges find the same. So one stands for all.
//
//   - What was written to the resource, if no client is inside, or reads or writes: a client that
//     writes later has read later (see simulator.Traits), and the judges compare versions
//     with one another only.
//   - Time-outs that cannot come, if no fault is left that holds up messages or threads: the
//     answer arrives before the client may give up waiting for it.
//   - How long ago keys of replicas and disks have come to their ends, if no fault is left that sets the
//     clocks of servers back.
//   - What replicas and disks hold, and whose it is, if no fault is left that strikes servers:
//     nothing reads that but a server in whose place it comes.
//
// A server that does not serve, or is split, may still hold a message up, or read what
// another one holds. It reports whether time-outs were dropped.
func (s *quotient) drop(state []uint32) (timeouts bool) {
	if !s.drops {
		return false
	}
	rest := s.restTab.Values[state[s.restAt]]
	if !s.versions && !rest.onVersion {
		s.dropVersions(state)
	}
	for n := range s.nodes {
		if e := s.nodeTab.Values[state[s.clients+n]]; !e.serving || e.split {
			return false
		}
	}
	if rest.left.Punctual {
		for c := range s.clients {
			state[c] = s.withoutTimeouts(c, state[c])
		}
	}
	switch {
	case rest.left.Clientside:
		s.dropCopies(state)
	case rest.left.Advancing:
		for n := s.clients; n < s.restAt; n++ {
			state[n] = s.nodeTab.Image(&s.dropped.ages, state[n], simulator.NodePart.WithoutAges)
		}
	}
	return rest.left.Punctual
}

// dropped are the components without what drop drops from them.
type dropped struct {
	timeouts                                   [simulator.MaxClients]intern.Column
	copies, ages, versions, writes, judgedCopy intern.Column
}

func (s *quotient) dropVersions(state []uint32) {
	for c := range s.clients {
		if s.clientTab[c].Values[state[c]].onVersion {
			return
		}
	}
	state[s.restAt] = s.restTab.Image(&s.dropped.versions, state[s.restAt], simulator.RestPart.WithoutVersion)
	state[s.judgeAt] = s.judgeTab.Image(&s.dropped.writes, state[s.judgeAt], func(v verdict.Safety) verdict.Safety {
		v.ForgetWrites()
		return v
	})
}

// withoutTimeouts is a state of client c, from 0, without time-outs that cannot come.
func (s *quotient) withoutTimeouts(c int, id uint32) uint32 {
	return s.clientTab[c].Image(&s.dropped.timeouts[c], id, func(p simulator.ClientPart) simulator.ClientPart {
		return s.sim.Parts().WithoutTimeouts(c+1, p)
	})
}

func (s *quotient) dropCopies(state []uint32) {
	for n := s.clients; n < s.restAt; n++ {
		state[n] = s.nodeTab.Image(&s.dropped.copies, state[n], simulator.NodePart.WithoutCopies)
	}
	state[s.judgeAt] = s.judgeTab.Image(&s.dropped.judgedCopy, state[s.judgeAt], func(v verdict.Safety) verdict.Safety {
		v.ForgetCopies()
		return v
	})
}
