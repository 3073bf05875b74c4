package verdict

// Names says how clients are to be called: client c becomes Names[c]. Names[0]
// is not used.
type Names [MaxClients + 1]uint8

// Rename calls every client by its new name. Where all clients run the same
// code, a state and a renamed one have the same futures, up to names.
func (s *Safety) Rename(to *Names) {
	f := &s.reading
	for _, set := range s.sets() {
		*set = to.set(*set)
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
		f.grant[n].owner = to.one(f.grant[n].owner)
		for i := range f.copied[n] {
			f.copied[n][i].owner = to.one(f.copied[n][i].owner)
		}
	}
	s.staleWrite.last.by = to.one(s.staleWrite.last.by)
	s.staleWrite.other.by = to.one(s.staleWrite.other.by)
}

// sets are all sets of clients of the judges.
func (s *Safety) sets() [11]*clients {
	r := &s.reading
	return [...]*clients{&r.acquiring, &r.inside, &r.leaving, &r.releasing, &r.dead, &s.lie.asking, &s.lie.decided,
		&s.lie.had, &s.lie.lacked, &s.staleWrite.readers, &s.met.clients}
}

func (to *Names) set(s clients) (renamed clients) {
	for ; s != 0; s &= s - 1 {
		renamed.add(client8(to[s.first()]))
	}
	return renamed
}

func (to *Names) one(c client8) client8 {
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
		bit(set.has(me))
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
