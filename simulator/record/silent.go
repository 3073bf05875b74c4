package record

import (
	"hash/maphash"
	"math"
	"slices"
)

// A silent lease is what is kept of an open one with no line after acquired when more than maxNear others have come: a
// log of jobs that let their leases expire has one for each job.
type silent struct {
	key    *key
	at     int64  // of acquired
	enter  int64  // the latest instant that it can have been entered at
	line   uint32 // of acquired
	next   int32  // of its client, or of those that are free: the index and 1; 0: none
	nth    uint32 // of the key's leases; 0: it is not certain that the next ones were entered later
	source uint16 // index of its log
	unsure bool   // another may have acquired the key before it ended
	open   bool   // its end is not known
}

// A clientID stands for the name of a client. Two names have one with a probability of 2 to the power of -96.
type clientID [3]uint32

// silences are the silent leases of a judge.
type silences struct {
	seeds   [2]maphash.Seed
	first   map[clientID]int32 // of each client
	leases  []silent
	free    int32
	sources []string // the names of their logs
	unsure  int      // leases that are UNKNOWN, or were when they ended without a line of their own
	open    int      // leases
	shown   int      // leases that stay as they are for the first findings
}

func newSilences() silences {
	return silences{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		first: map[clientID]int32{},
	}
}

func (m *silences) id(client string) clientID {
	a, b := maphash.String(m.seeds[0], client), maphash.String(m.seeds[1], client)
	return clientID{uint32(a), uint32(a >> 32), uint32(b)}
}

// put keeps less of an open lease of which there is no line after acquired, if it is known that it is UNKNOWN
// whether it overlaps, or that it does not, unless there is a further line of it. The first ones are shown as findings,
// and stay as they are.
func (m *silences) put(s *lease) {
	k, j := s.key, s.key.judge
	if s.last != s.acquired.Place || max(s.last.Line, s.nth) > math.MaxUint32 {
		return
	}
	unsure := s.doubted || slices.ContainsFunc(s.near, func(o *lease) bool {
		return o.nth > s.nth && !s.over(o.enter) && !o.over(s.enter)
	})
	over := s.until.n > 0 && s.until.hi < j.now-j.widest
	switch {
	case !unsure && !over:
		return
	case unsure && m.shown < j.most:
		m.shown++
		s.shown = true
		return
	}
	source := slices.Index(m.sources, s.last.Source)
	if source < 0 {
		source, m.sources = len(m.sources), append(m.sources, s.last.Source)
	}
	id, open := m.id(s.client), s.until.n == 0
	nth, before := uint32(s.nth), func(o *lease) bool { return o.nth > s.nth && !s.enter.before(o.enter) }
	if !s.enter.before(s.ninth) || slices.ContainsFunc(s.near, before) {
		nth = 0
	}
	kept := silent{k, s.acquired.At.Ns, s.enter.hi, uint32(s.last.Line), m.first[id], nth, uint16(source), unsure, open}
	if i := m.free; i > 0 {
		m.free, m.leases[i-1], m.first[id] = m.leases[i-1].next, kept, i
	} else {
		m.leases = append(m.leases, kept)
		m.first[id] = int32(len(m.leases))
	}
	m.count(&kept, 1)
	if unsure {
		m.unsure++
	}
	k.drop(s)
	for _, o := range s.near {
		if o.nth > s.nth { // an earlier one may yet be seen after s was entered
			o.near = slices.DeleteFunc(o.near, func(of *lease) bool { return of == s })
		}
	}
	s.near, s.settled, s.doubted = nil, true, unsure
}

// count counts one lease more, or one less.
func (m *silences) count(s *silent, n int) {
	s.key.silent += n
	if s.open {
		m.open += n
	}
}

// take takes out the lease of a client for a key; nil: for any.
func (m *silences) take(client string, k *key) (s silent, ok bool) {
	id := m.id(client)
	before := int32(0)
	for i := m.first[id]; i > 0; before, i = i, m.leases[i-1].next {
		if s = m.leases[i-1]; k != nil && s.key != k {
			continue
		}
		switch {
		case before > 0:
			m.leases[before-1].next = s.next
		case s.next > 0:
			m.first[id] = s.next
		default:
			delete(m.first, id)
		}
		m.leases[i-1], m.free = silent{next: m.free}, i
		m.count(&s, -1)
		return s, true
	}
	return s, false
}
