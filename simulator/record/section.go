package record

import "locklab/simulator/verdict"

// A section is one client inside, as far as the log shows it: from enter at least until last, and at
// most until end.
type section struct {
	client string
	key    *keyJudge
	slot   int
	lease  int
	token  uint64

	asked stamp // for the lock
	enter stamp
	last  stamp // of the last line that shows it inside
	end   stamp // when it was outside for certain, if it is closed
	left  stamp // when it called for the release; n == 0: not known
	open  bool

	first, latest int64 // of its reads and writes, in the order of versions; see ordinal; 0: none
	acquired      *Entry
	place         Place // of the last line

	pairs []*pair // that are not decided
	more  int     // further ones, with those that entered after all of pairs
	after stamp   // the last of them
	stale []*late // writes of others that are stale if it was inside
}

// maxPairs is the number of clients that a section may have met, and that are kept while nobody knows whether it was
// still inside; the others are counted. It is small because a client that has died meets all others.
const maxPairs = 8

// A pair is two sections that may overlap. b was read later.
type pair struct {
	a, b   *section
	around []*Entry // when b entered
	done   bool
}

// A late is a write that may be stale to a section into which it fell.
type late struct {
	at    stamp
	found Finding
}

// inside notes a line that shows the client inside.
func (s *section) inside(at stamp, place Place) {
	s.last, s.place = at, place
	if at.hi < s.enter.hi {
		s.enter.hi = at.hi // it entered before
	}
	s.decide()
}

// close ends a section at an instant, or between its last line and that.
func (s *section) close(end stamp) {
	s.open, s.end = false, end
	s.decide()
}

// enteredInside reports whether s was inside, for certain, after b had entered.
func (s *section) sawEnter(b *section) bool {
	return b.enter.before(s.last) || b.first > 0 && s.latest > b.first
}

// certain reports whether the two overlap for every choice of instants.
func (p *pair) certain() bool { return p.a.sawEnter(p.b) && p.b.sawEnter(p.a) }

// possible reports whether they overlap for some choice.
func (p *pair) possible() bool {
	return (p.a.open || !p.a.end.before(p.b.enter)) && (p.b.open || !p.b.end.before(p.a.enter))
}

// why returns the reason for which a pair is not decided.
func (p *pair) why() (Why, *section) {
	for _, s := range []*section{p.a, p.b} {
		other := p.a
		if s == p.a {
			other = p.b
		}
		switch {
		case !s.last.before(other.enter):
		case s.open:
			return Silent, s
		case s.left.n == 0:
			return Release, s
		}
	}
	return Clocks, p.a
}

// decide reports the pairs of s that are certain by now, and those that can no longer become so.
func (s *section) decide() {
	pairs := s.pairs
	s.pairs = s.pairs[:0]
	for _, p := range pairs {
		if !p.done {
			s.key.decide(p, false)
		}
		if !p.done {
			s.pairs = append(s.pairs, p)
		}
	}
	clear(pairs[len(s.pairs):])
	s.decideMore(!s.open)
	waiting := s.stale
	s.stale = s.stale[:0]
	for _, w := range waiting {
		switch {
		case w.at.before(s.last):
			s.key.claim(w.found)
		case s.open:
			s.stale = append(s.stale, w)
		default:
			s.key.doubt(w.found, Clocks)
		}
	}
}

// decideMore decides the pairs that were only counted: all of these entered at after or before.
func (s *section) decideMore(ended bool) {
	switch {
	case s.more == 0:
		return
	case s.after.before(s.last):
		s.key.judge.Counts[verdict.Overlap] += s.more
	case ended:
		s.key.judge.Counts[verdict.Unknown] += s.more
	default:
		return
	}
	s.more = 0
}

// ordinal is the place of a read or write in the order of versions: a read of a version comes after
// the write that made it.
func ordinal(l *Entry) int64 {
	if l.Version == nil || l.Event == Wrote && l.OK != nil && !*l.OK {
		return 0
	}
	if l.Event == Wrote {
		return 2 * int64(*l.Version)
	}
	return 2*int64(*l.Version) + 1
}
