package record

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// A silentLease is what is kept of an open lease with no line after acquired when many others have come: a log of jobs
// that let their leases expire has one for each job. It has no pointers, so that they cost the garbage collector nothing.
type silentLease struct {
	at     int64
	line   uint32
	key    uint32 // its number
	of     uint32 // in the first lease of a client: their number
	source uint16
	unsure bool // another may have acquired the key before it ended
	open   bool // its end is not known
}

// A silentID stands for the n-th silent lease of a client. No two that are equal can be found.
type silentID [sha256.Size / 2]byte

func silentIDOf(client string, n uint32) silentID {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint32(make([]byte, 0, 64), n), client...))
	return silentID(sum[:])
}

// silent is the silent leases of a judge.
type silent struct {
	leases  map[silentID]silentLease
	keys    []*keyJudge // that have had one, by their numbers, which count from 1
	sources []string    // the names of their logs
	recent  []*section  // the last leases, which are kept as they are; a ring
	unsure  int         // leases that are, or were when they ended without a line of their own
	open    int         // leases
	shown   int         // sections that stay as they are for the first findings
}

// recentLeases is the number of leases after which one is silent.
const recentLeases = 1 << 12

// entered takes a new section among the last ones, in place of one that may become silent.
func (m *silent) entered(s *section) {
	last := &m.recent[s.key.judge.Acquired%len(m.recent)]
	if *last != nil {
		m.put(*last)
	}
	*last = s
}

// put takes what is kept of an open section, if that is all there is to know of it: without a further line of it, it is
// UNKNOWN whether it overlaps, or known that it does not.
func (m *silent) put(s *section) {
	k := s.key
	if !s.open || s.slot != noSlot || s.place != s.acquired.Place || s.used || k.holder == s {
		return
	}
	unsure := s.doubted || slices.ContainsFunc(s.pairs, func(p *pair) bool { return p.a == s && p.possible() })
	over := s.until.n > 0 && s.until.hi < k.judge.now-k.judge.widest
	switch {
	case !unsure && !over:
		return
	case unsure && m.shown < k.judge.most:
		m.shown++
		s.shown = true
		return
	}
	source := slices.Index(m.sources, s.place.Source)
	if source < 0 {
		source, m.sources = len(m.sources), append(m.sources, s.place.Source)
	}
	if source > math.MaxUint16 || uint64(s.place.Line) > math.MaxUint32 {
		return
	}
	if k.number == 0 {
		k.number = uint32(len(m.keys) + 1)
		m.keys = append(m.keys, k)
	}
	lease := silentLease{at: s.acquired.At.Ns, line: uint32(s.place.Line), key: k.number, of: 1, source: uint16(source)}
	lease.unsure, lease.open = unsure, s.until.n == 0
	id := silentIDOf(s.client, 0)
	if first, more := m.leases[id]; more {
		m.leases[silentIDOf(s.client, first.of)] = lease
		first.of++
		lease = first
	}
	m.leases[id] = lease
	if unsure {
		m.unsure++
	}
	if s.until.n == 0 {
		m.open++
	}
	k.silent++
	k.since = max(k.since, s.enter.hi)
	k.drop(s)
	for _, p := range s.pairs {
		p.done = p.done || p.a == s
	}
	s.pairs, s.settled, s.doubted = nil, true, unsure
}

// take takes out the lease of a client for a key; nil: for any. The last one takes its place.
func (m *silent) take(client string, k *keyJudge) (lease silentLease, ok bool) {
	first := silentIDOf(client, 0)
	n := m.leases[first].of
	for i := range n {
		id, last := silentIDOf(client, i), silentIDOf(client, n-1)
		lease = m.leases[id]
		if k != nil && lease.key != k.number {
			continue
		}
		m.leases[id] = m.leases[last]
		delete(m.leases, last)
		if left, more := m.leases[first]; more {
			left.of = n - 1
			m.leases[first] = left
		}
		if lease.open {
			m.open--
		}
		m.keys[lease.key-1].silent--
		return lease, true
	}
	return lease, false
}

// wake is the section again of a client whose lease is silent, for its next line; nil: it has none, or takes the lock
// again. With the last lease of the key it makes a pair: the others that it has met are not known any more.
func (k *keyJudge) wake(l *Entry) *section {
	m := &k.judge.silent
	lease, ok := m.take(l.Client, k)
	switch {
	case !ok:
		return nil
	case l.Event == Acquired:
		k.judge.Replaced++
		return nil
	case lease.unsure:
		m.unsure--
	}
	place := Place{m.sources[lease.source], int(lease.line)}
	acquired := &Entry{Line: Line{At: Instant{lease.at, true}, Client: l.Client, Event: Acquired, Key: k.key}, Place: place}
	enter := stamp{lo: math.MinInt64, hi: k.since, n: 1}
	s := &section{client: l.Client, key: k, slot: noSlot, enter: enter, last: enter, acquired: acquired, place: place}
	s.open, s.unsure, s.met, s.since = true, true, maxPairs+1, k.entered
	k.in(s)
	(&pair{a: s, b: k.holder, around: k.lately()}).begin()
	return s
}
