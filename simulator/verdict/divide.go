package verdict

import "locklab/simulator/history"

// Of returns what the judges know of client c alone, from 1: where it is, what it was told, and by which leases.
func (s *Safety) Of(c int) (own Safety) {
	mine := history.Only(client8(c))
	from, to := s.sets(), own.sets()
	for i := range from {
		*to[i] = *from[i] & mine
	}
	own.reading.made[c-1], own.reading.former[c-1] = s.reading.made[c-1], s.reading.former[c-1]
	return own
}

// Shared returns what the judges know of no client alone: whose the key is on every server, whether this owner is dead, and
// which servers serve. What was written to the resource is left out: see Outdated. So are what was found, and who met an
// orphan. gone are clients that can do nothing any more: when their keys may be taken over makes no
// difference.
func (s *Safety) Shared(gone history.ClientSet) Safety {
	shared := *s
	for n := range shared.reading.grant {
		if owner := shared.reading.grant[n].owner; owner != nobody && gone.Has(owner) {
			shared.reading.lapse[n] = 0
		}
	}
	dead := shared.reading.dead & s.Names()
	for _, set := range shared.sets() {
		*set = 0
	}
	shared.reading.dead, shared.reading.made, shared.reading.former = dead, [MaxClients]uint8{}, [MaxClients]uint8{}
	shared.staleWrite, shared.fence, shared.words, shared.answered = staleWrite{}, fence{}, 0, false
	return shared
}

// Add adds what own, which Of has returned, knows of a client of which s knows nothing.
func (s *Safety) Add(own *Safety) {
	from, to := own.sets(), s.sets()
	for i := range from {
		*to[i] |= *from[i]
	}
	for c := range own.reading.made {
		s.reading.made[c] |= own.reading.made[c]
		s.reading.former[c] |= own.reading.former[c]
	}
}

// Names are the clients whose keys servers, replicas and disks have.
func (s *Safety) Names() (names history.ClientSet) {
	add := func(c client8) {
		if c != nobody {
			names.Add(c)
		}
	}
	for n := range s.reading.grant {
		add(s.reading.grant[n].owner)
		for _, copied := range s.reading.copied[n] {
			add(copied.owner)
		}
	}
	return names
}

// Outdated returns s with writes to the resource as client c, from 1, meets them: outdated: another client has written since
// c read version 0, else none has. A lock's STALE-WRITE depends on that alone.
func (s Safety) Outdated(c int, outdated bool) Safety {
	s.staleWrite.last, s.staleWrite.other = wrote{}, wrote{}
	if outdated {
		s.staleWrite.last = wrote{version: 1, by: client8(c%2 + 1)}
	}
	return s
}
