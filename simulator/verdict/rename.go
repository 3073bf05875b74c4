package verdict

import "locklab/simulator/history"

// Rename gives every client its new name.
func (s *Safety) Rename(to *history.Names) {
	f := &s.reading
	for _, set := range s.sets() {
		*set = set.Renamed(to)
	}
	for _, leases := range []*[MaxClients]uint8{&f.made, &f.former} {
		old := *leases
		*leases = [MaxClients]uint8{}
		for c, lease := range old {
			if lease != 0 {
				leases[to[c+1]-1] = lease
			}
		}
	}
	for n := range f.grant {
		f.grant[n].owner = named(f.grant[n].owner, to)
		for i := range f.copied[n] {
			f.copied[n][i].owner = named(f.copied[n][i].owner, to)
		}
	}
	s.slow.rename(to)
	s.noisy.rename(to)
	s.staleWrite.last.by = named(s.staleWrite.last.by, to)
	s.staleWrite.other.by = named(s.staleWrite.other.by, to)
}

// sets are all sets of clients of the judges but those of slow and noisy, which views do without.
func (s *Safety) sets() [14]*history.ClientSet {
	r := &s.reading
	return [...]*history.ClientSet{&r.acquiring, &r.inside, &r.leaving, &r.releasing, &r.dead, &s.lie.asking, &s.lie.decided,
		&s.lie.had, &s.lie.lacked, &s.staleWrite.readers, &s.met.ClientSet, &s.endless.newest, &s.endless.outdated, &s.endless.refused}
}

// named is the new name of a client, or of none.
func named(c client8, to *history.Names) client8 {
	if c == 0 || c == nobody {
		return c
	}
	return client8(to[c])
}

// Role returns what the judges know of client c, without its name: two clients with
// equal roles can change places before the judges.
func (s *Safety) Role(c int) (role uint64) {
	f, me := &s.reading, client8(c)
	bit := func(is bool) {
		role <<= 1
		if is {
			role |= 1
		}
	}
	for _, set := range s.sets() {
		bit(set.Has(me))
	}
	for n := range f.grant {
		bit(f.grant[n].owner == me)
		for _, copied := range f.copied[n] {
			bit(copied.owner == me)
		}
	}
	role = role<<8 | uint64(f.made[c-1])
	bit(s.staleWrite.last.by == me)
	bit(s.staleWrite.other.by == me)
	return role
}
