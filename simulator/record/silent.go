package record

import (
	"hash/maphash"
	"math"
	"slices"
)

// A silent lease is what is kept of an open one with no line after acquired when many others have come: a log of jobs
// that let their leases expire has one for each job. It has no pointers, so that they cost the garbage collector
// nothing.
type silent struct {
	at     int64  // of acquired
	enter  int64  // the latest instant that it can have been entered at
	line   uint32 // of acquired
	nth    uint32 // of the key's leases; 0: it is not certain that the next ones were entered later
	source uint32 // index of its log
	unsure bool   // another may have acquired the key before it ended
	open   bool   // its end is not known
}

// A silentID stands for a client and a key. Two of these have one with a probability of 2 to the power of -96.
type silentID [3]uint32

// silences are the silent leases of a judge.
type silences struct {
	seeds   [2]maphash.Seed
	leases  map[silentID]silent
	keys    map[*key]int // leases of each key that has any
	sources []string     // the names of their logs
	recent  []*lease     // the last leases, which are kept as they are; a ring
	unsure  int          // leases that are UNKNOWN, or were when they ended without a line of their own
	open    int          // leases
	shown   int          // leases that stay as they are for the first findings
}

func newSilences() silences {
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	return silences{
		seeds: seeds, leases: map[silentID]silent{}, keys: map[*key]int{}, recent: make([]*lease, mostWhole),
	}
}

// mostWhole is the number of leases, of all keys, after which one can be silent.
const mostWhole = 1 << 12

// entered takes a new lease among the last ones, in place of one that may become silent.
func (m *silences) entered(s *lease) {
	last := &m.recent[s.key.judge.Acquired%len(m.recent)]
	was := *last
	if *last, s.recent = s, true; was != nil {
		was.recent = false
		m.put(was)
	}
}

func (m *silences) id(client string, k *key) silentID {
	of := [2]string{client, k.name}
	a, b := maphash.Comparable(m.seeds[0], of), maphash.Comparable(m.seeds[1], of)
	return silentID{uint32(a), uint32(a >> 32), uint32(b)}
}

// put keeps less of an open lease of which there is no line after acquired, if it is known that it is UNKNOWN
// whether it overlaps, or that it does not, unless there is a further line of it. The first ones are shown as findings,
// and stay as they are.
func (m *silences) put(s *lease) {
	k, j := s.key, s.key.judge
	if !s.open || s.recent || s.isFresh() || s.last != s.acquired.Place || max(s.last.Line, s.nth) > math.MaxUint32 {
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
	nth, before := uint32(s.nth), func(o *lease) bool { return o.nth > s.nth && !s.enter.before(o.enter) }
	if s.count(); s.moreFrom <= s.enter.hi || slices.ContainsFunc(s.near, before) {
		nth = 0
	}
	was := silent{s.acquired.At.Ns, s.enter.hi, uint32(s.last.Line), nth, uint32(source), unsure, s.until.n == 0}
	m.leases[m.id(s.client, k)] = was
	m.count(k, was, 1)
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

// count counts one lease of a key more, or one less.
func (m *silences) count(k *key, s silent, n int) {
	if m.keys[k] += n; m.keys[k] == 0 {
		delete(m.keys, k)
	}
	if s.open {
		m.open += n
	}
}

// take takes out the lease of a client for a key.
func (m *silences) take(client string, k *key) (s silent, ok bool) {
	if m.keys[k] == 0 {
		return s, false
	}
	id := m.id(client, k)
	if s, ok = m.leases[id]; ok {
		delete(m.leases, id)
		m.count(k, s, -1)
	}
	return s, ok
}
