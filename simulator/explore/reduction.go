package explore

import (
	"locklab/simulator"
	"locklab/simulator/history"
)

// Partial-order reduction. That a client gets a reply, or wakes, and goes on to its next
// request is independent of what the others do: it makes no difference whether they do
// it before or after. So if one client can do such a thing and nothing else, the search
// does not try the moves of the others in that state; they are tried afterwards. The
// client's only choice and the faults on that client are a persistent set (Godefroid
// 1996).
//
// The reduction does not apply to a step that the judges see, because they compare the
// order of the clients' steps; nor if a fault of a server is possible for which the
// client waits before or after the step, because then the reply could be lost instead,
// or the next request not yet be under way; nor, at any timing, where SLOW is looked for: how long a
// step waits then makes a difference. Reduction keeps every verdict and every end
// of a run. It does not keep the number of steps to a verdict, so witnesses are searched
// for without it.

// mayGoFirst reports whether the client has a single choice, of a kind that is independent
// of all others, and no request under way.
func mayGoFirst(e *clientEntry, part *simulator.ClientPart) bool {
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

// first is a client whose step alone is tried in a state; -1: there is none.
func (s *successors) first(state []uint32) (int, error) {
	if s.noReduction {
		return -1, nil
	}
	for c := range s.clients {
		e := s.clientTab[c].entries[state[c]]
		if !e.single || c+1 == s.probe || s.rested(c, state) {
			continue
		}
		m := s.ownMove(c, 0)
		eff, err := s.transitions.effect(state, &m)
		if err != nil {
			return -1, err
		}
		servers := e.waitsOn | s.clientTab[c].entries[eff.client].waitsOn
		if next := s.clientTab[c].entries[eff.client]; s.step > 0 && e.due > 0 && e.begun && !(next.timeless && next.due > 0) {
			continue // when it does this makes a difference
		}
		if s.transitions.unjudged(eff.events, state) && !s.transitions.endangered(servers, state) {
			return c, nil
		}
	}
	return -1, nil
}

// unjudged reports whether the order of these events and those of other clients makes no difference to any verdict: that
// of an Acquire and of a Send does not. Nor does that of a Sleep of an attempt that no orphan has refused, unless a request of that client
// can still meet one.
func (s *transitions) unjudged(events uint32, state []uint32) bool {
	list, judges := s.events.entries[events], &s.judgeTab.keys[state[s.judgeAt]]
	for i := range list {
		e := &list[i]
		late := s.restTab.entries[state[s.restAt]].senders&(1<<e.Client) != 0
		if e.Kind != history.Acquire && e.Kind != history.Send && !(e.Kind == history.Sleep && !late && !judges.RefusedByOrphan(e)) {
			return false
		}
	}
	return true
}

// endangered reports whether the connections to one of these servers can still break, by
// a fault or when its network heals.
func (s *transitions) endangered(servers uint8, state []uint32) bool {
	for n := range s.nodes {
		if servers&(1<<n) != 0 && (s.nodeTab.entries[state[s.clients+n]].split || len(s.faultsOn(-1, n, state)) > 0) {
			return true
		}
	}
	return false
}
