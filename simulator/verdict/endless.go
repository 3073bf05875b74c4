package verdict

import "locklab/simulator/history"

// What the judges know of clients of any number of attempts: nothing in it counts for ever. Of an accepted write only
// its order to what clients have read matters. Clients that have read the resource since the last accepted write of
// another client are newest, and those that have not are outdated. Only a search of any number of attempts uses it.

// ObserveVersion is called before Observe where versions of the resource are all 0: a read makes its client the
// newest, an accepted write makes all others outdated, and the judge of stale writes learns which the writer is. A
// write that is stale itself makes others outdated, too: STALE-WRITE has been found then.
func (s *Safety) ObserveVersion(e *history.Event) {
	switch e.Kind {
	case history.Read:
		s.reading.clients[e.Client-1].turn(outdated, newest)
	case history.Write:
		*s = s.Outdated(e.Client, s.reading.clients[e.Client-1].is(outdated))
		for c := range s.reading.clients {
			if other := &s.reading.clients[c]; e.OK && c != e.Client-1 && other.is(newest) {
				other.turn(newest, outdated)
			}
		}
	}
}

// ForgetCounts drops the writes that ObserveVersion returned and, once an attempt has succeeded, the refused clients.
func (s *Safety) ForgetCounts() {
	s.ForgetWrites()
	if !s.InVain() {
		for c := range s.reading.clients {
			s.reading.clients[c].unset(refused)
		}
	}
}

// Unsettled are the clients of which Settled would forget something.
func (s *Safety) Unsettled() (names history.ClientSet) {
	for c, known := range s.reading.clients {
		if known.is(newest|outdated) || known.former != 0 {
			names.Add(uint8(c + 1))
		}
	}
	return names
}

// Settled returns s without what client c, from 1, has read, and without the attempts of its dead processes. It is for
// a client that will not write on what it has read, and of which no request is under way that it does not wait for.
func (s Safety) Settled(c int) Safety {
	s.reading.clients[c-1].unset(newest | outdated)
	s.reading.clients[c-1].former = 0
	return s
}

// Mentions reports whether s knows anything of client c, from 1.
func (s *Safety) Mentions(c int) bool { return s.Role(c) != 0 || s.reading.clients[c-1].former != 0 }

// Attempted returns s after client c, from 1, has made an attempt and goes on as client next.
func (s Safety) Attempted(c, next int) Safety {
	s.reading.clients[c-1].unset(refused)
	if s.InVain() {
		s.reading.clients[next-1].set(refused)
	}
	return s
}

// AttemptsInVain returns the number of clients that have made an attempt, if InVain.
func (s *Safety) AttemptsInVain() int { return s.reading.those(refused).Len() }
