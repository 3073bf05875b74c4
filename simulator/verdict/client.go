package verdict

import (
	"time"

	"locklab/simulator/history"
)

// A client is what the judges know of one client. The zero client has done nothing. All judges keep here what they
// know of a client alone, so that it is renamed, taken out and added in one piece.
type client struct {
	until  time.Duration // SLOW, while it is unanswered: the true time up to which it is not slow
	second time.Duration // NOISY: the true time at which the running second of its wait ends; 0: it does not wait
	sent   uint32        // NOISY: requests in that second, to one too many
	facts
	made   uint8 // while it is acquiring: the lease by which it has made the key itself; 0: none
	former uint8 // the last lease of its processes that have died, if another one has come in their place
}

// facts are true of a client, a bit each.
type facts uint16

const (
	// For SLOW.
	unanswered facts = 1 << (15 - iota) // it asks for the lock, and the time counts
	paused                              // while it was unanswered

	// Where it is: one of these, or idle; see Stage. One that takes its own lock again is inside and acquiring.
	acquiring
	inside
	leaving
	releasing
	dead

	// For LIE.
	asking  // it is renewing or checking
	decided // it is releasing or asking, and has changed the key: had and lacked stand
	had     // it has had the lock at all moments of the call, or until it gave it back
	lacked  // it has had it at none

	reads // for STALE-WRITE: it is inside and has read since it entered

	// For ORPHAN: it asks for the lock and has met another's orphan, still there, where a server executed its request.
	met

	// For endless.go.
	newest   // it has read the resource since the last accepted write of another client
	outdated // it has read it before
	refused  // it has made an attempt, as long as InVain

	holding = inside | leaving | releasing    // it believes that it has the lock
	active  = holding | acquiring             // it has the lock or is asking for it
	ofCall  = asking | decided | had | lacked // what LIE knows of a call
	ofRole  = paused - 1                      // what counts in a Role: all but what is for SLOW
)

// is reports whether any of some facts is true.
func (f facts) is(any facts) bool { return f&any != 0 }

func (f *facts) set(all facts) { *f |= all }

func (f *facts) unset(all facts) { *f &^= all }

// turn unsets some facts and sets others.
func (f *facts) turn(from, to facts) { *f = *f&^from | to }

// those are the clients of which any of some facts is true.
func (r *Reading) those(any facts) (set history.ClientSet) {
	for c := range r.clients {
		if r.clients[c].is(any) {
			set.Add(uint8(c + 1))
		}
	}
	return set
}

// eachHolder calls f for the owner of the key on every server, and of what its replicas and its disk have.
func (r *Reading) eachHolder(f func(*holder)) {
	for n := range r.grant {
		f(&r.grant[n].holder)
		for i := range r.copied[n] {
			f(&r.copied[n][i])
		}
	}
}

// eachHolder calls f for the owners of keys and the writers of what was accepted.
func (s *Safety) eachHolder(f func(*holder)) {
	s.reading.eachHolder(f)
	f(&s.staleWrite.last.holder)
	f(&s.staleWrite.other.holder)
}

// Rename gives every client its new name.
func (s *Safety) Rename(to *history.Names) {
	for c, known := range s.reading.clients { // of a copy
		s.reading.clients[to[c+1]-1] = known
	}
	s.eachHolder(func(h *holder) {
		if h.isClient() {
			h.owner = to[h.owner]
		}
	})
}

// Recounted returns s with other numbers of attempts.
func (s Safety) Recounted(f history.Recount) Safety {
	recount := func(c uint8, lease *uint8) {
		if *lease != 0 {
			*lease = uint8(f(history.Leases+history.Counter(c), int64(*lease), false))
		}
	}
	for c := range s.reading.clients {
		recount(uint8(c+1), &s.reading.clients[c].made)
		recount(uint8(c+1), &s.reading.clients[c].former)
	}
	s.eachHolder(func(h *holder) {
		if h.isClient() {
			recount(h.owner, &h.lease)
		}
	})
	return s
}

// Role is what the judges know of client c, without its name: two with equal roles can change places before them.
func (s *Safety) Role(c int) uint64 {
	role := uint64(s.reading.clients[c-1].facts & ofRole)
	add := func(h *holder) {
		if role <<= 1; int(h.owner) == c {
			role |= 1
		}
	}
	s.reading.eachHolder(add)
	role = role<<8 | uint64(s.reading.clients[c-1].made)
	add(&s.staleWrite.last.holder)
	add(&s.staleWrite.other.holder)
	return role
}

// Of returns what the judges know of client c alone, from 1: where it is, what it was told, and by which leases.
func (s *Safety) Of(c int) (own Safety) {
	own.reading.clients[c-1] = s.reading.clients[c-1]
	return own
}

// Shared returns what the judges know of no client alone: whose the key is on every server, whether this owner is dead,
// and which servers serve. What was written to the resource is left out: see Outdated. So are what was found, and who
// met an orphan. gone are clients that can do nothing any more: when their keys may be taken over makes no difference.
func (s *Safety) Shared(gone history.ClientSet) Safety {
	shared := Safety{reading: s.reading}
	shared.reading.clients = [MaxClients]client{}
	shared.reading.eachHolder(func(h *holder) {
		if h.isClient() {
			shared.reading.clients[h.owner-1].facts = s.reading.clients[h.owner-1].facts & dead
		}
	})
	for n := range shared.reading.grant {
		if g := &shared.reading.grant[n]; gone.Has(g.owner) {
			g.lapse = 0
		}
	}
	return shared
}

// Add adds what own, which Of has returned, knows of a client of which s knows nothing but that it is dead.
func (s *Safety) Add(own *Safety) {
	for c, mine := range own.reading.clients {
		if mine != (client{}) {
			mine.facts |= s.reading.clients[c].facts
			s.reading.clients[c] = mine
		}
	}
}

// Names are the clients whose keys servers, replicas and disks have.
func (s *Safety) Names() (names history.ClientSet) {
	s.reading.eachHolder(func(h *holder) { names.Add(h.owner) })
	return names
}

// Outdated returns s with writes to the resource as client c, from 1, meets them: outdated: another client has
// written since c read version 0, else none has. A lock's STALE-WRITE depends on that alone.
func (s Safety) Outdated(c int, outdated bool) Safety {
	s.ForgetWrites()
	if outdated {
		s.staleWrite.last = write{version: 1, holder: holder{owner: uint8(c%2 + 1)}}
	}
	return s
}
