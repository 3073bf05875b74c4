package verdict

import "locklab/simulator/history"

// endless is the memory of the judges for clients that make any number of attempts: nothing in it counts without end. Of an
// accepted write only its order to what clients have read matters. So clients that have read the resource since the last accepted
// write of another client are newest, and those that have not are outdated. Only a search of any number of attempts uses it.
type endless struct {
	newest, outdated history.ClientSet
	refused          history.ClientSet // have made an attempt, as long as InVain
}

// ObserveVersion is called before Observe where versions of the resource are all 0: a read makes its client the newest, an accepted
// write makes all others outdated, and the judge of stale writes learns which the writer is. A write that is stale itself makes
// others outdated, too: STALE-WRITE has been found then.
func (s *Safety) ObserveVersion(e *history.Event) {
	c := client8(e.Client)
	switch e.Kind {
	case history.Read:
		s.endless.newest.Add(c)
		s.endless.outdated.Remove(c)
	case history.Write:
		*s = s.Outdated(e.Client, s.endless.outdated.Has(c))
		if e.OK {
			s.endless.outdated |= s.endless.newest &^ history.Only(c)
			s.endless.newest &= history.Only(c)
		}
	}
}

// ForgetCounts drops the writes that ObserveVersion has returned and, unless no attempt has succeeded so far, the refused clients.
func (s *Safety) ForgetCounts() {
	s.ForgetWrites()
	if !s.InVain() {
		s.endless.refused = 0
	}
}

// Unsettled are the clients of which Settled would forget something.
func (s *Safety) Unsettled() (names history.ClientSet) {
	for c := range client8(MaxClients) {
		if (s.endless.newest | s.endless.outdated).Has(c+1) || s.reading.former[c] != 0 {
			names.Add(c + 1)
		}
	}
	return names
}

// Settled returns s without what client c, from 1, has read, and without the attempts of its processes that have died. It is
// for a client that will not write on what it has read, and of which no request is under way that it does not wait for.
func (s Safety) Settled(c int) Safety {
	s.endless.newest.Remove(client8(c))
	s.endless.outdated.Remove(client8(c))
	s.reading.former[c-1] = 0
	return s
}

// Mentions reports whether s knows anything of client c, from 1.
func (s *Safety) Mentions(c int) bool { return s.Role(c) != 0 || s.reading.former[c-1] != 0 }

// Attempted returns s after client c, from 1, has made an attempt and goes on as client next.
func (s Safety) Attempted(c, next int) Safety {
	s.endless.refused.Remove(client8(c))
	if s.InVain() {
		s.endless.refused.Add(client8(next))
	}
	return s
}

// AttemptsInVain returns the number of clients that have made an attempt, if InVain.
func (s *Safety) AttemptsInVain() int { return s.endless.refused.Len() }

// Recounted returns s with other numbers of attempts.
func (s Safety) Recounted(f history.Recount) Safety {
	lease := func(of client8, lease *uint8) {
		if of != 0 && of != nobody && *lease != 0 {
			*lease = uint8(f(history.Leases+history.Counter(of), int64(*lease), false))
		}
	}
	r := &s.reading
	for c := range client8(MaxClients) {
		lease(c+1, &r.made[c])
		lease(c+1, &r.former[c])
	}
	for n := range r.grant {
		lease(r.grant[n].owner, &r.grant[n].lease)
		for i := range r.copied[n] {
			lease(r.copied[n][i].owner, &r.copied[n][i].lease)
		}
	}
	lease(s.staleWrite.last.by, &s.staleWrite.last.lease)
	lease(s.staleWrite.other.by, &s.staleWrite.other.lease)
	return s
}
