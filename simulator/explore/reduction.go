package explore

import (
	"locklab/simulator"
	"locklab/simulator/history"
)

// Partial-order reduction. That a client hears a reply, or wakes, and goes on to
// its next request concerns nobody else: whatever others do meanwhile comes to
// the same before and after. So where one client can do such a thing, and
// nothing else, a search need not try what the others could do first; they can
// do it afterwards (a persistent set: Godefroid 1996; ours is a client's only
// choice together with the faults that strike that client).
//
// What must not be left out: a step that the judges see (they compare one
// client's order with another's), and a fault of a server that the client waits
// for before or after the step (the reply could be lost instead, or the next
// request not yet be under way). Reduction keeps every verdict and
// every end of a run; it does not keep the number of steps to a verdict, so
// witnesses are searched for without it.

// mayGoFirst says whether the client has a single choice, of the kind that
// concerns nobody else, and nothing under way beside it.
func (s *transitions) mayGoFirst(e *clientEntry, part *simulator.ClientPart) bool {
	if len(e.own) != 1 || len(e.arriveID) > 0 || e.awaits { // news may come first
		return false
	}
	switch e.own[0].Verb {
	case simulator.Start, simulator.Answer:
		return part.Threads() == 1
	case simulator.Wake:
		return part.Threads() == 0
	}
	return false
}

// first is a client that may go before all others in a state; -1: none may.
func (s *search) first(state []uint32) (int, error) {
	if s.noReduction {
		return -1, nil
	}
	for c := range s.clients {
		e := s.clientTab[c].entries[state[c]]
		if !e.single || c+1 == s.probe {
			continue
		}
		m := s.ownMove(c, 0)
		eff, err := s.effect(state, &m)
		if err != nil {
			return -1, err
		}
		servers := e.waitsOn | s.clientTab[c].entries[eff.client].waitsOn
		if s.unjudged(eff.events) && !s.endangered(servers, state) {
			return c, nil
		}
	}
	return -1, nil
}

// unseen says whether nobody is judged by these events: that a client asks for
// the lock changes nothing for anybody.
func (s *transitions) unjudged(events uint32) bool {
	for i := range s.events[events] {
		if s.events[events][i].Kind != history.Acquire {
			return false
		}
	}
	return true
}

// endangered says whether the connections to one of these servers can still
// break: by a fault, or when its network heals.
func (s *transitions) endangered(servers uint8, state []uint32) bool {
	for n := range s.nodes {
		if servers&(1<<n) != 0 && (s.nodeTab.entries[state[s.clients+n]].split || len(s.faultsOn(-1, n, state)) > 0) {
			return true
		}
	}
	return false
}
