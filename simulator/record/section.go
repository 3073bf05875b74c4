package record

import (
	"slices"

	"locklab/simulator/verdict"
)

// A section is one client inside, as far as the log shows it: from enter at least until last, and at
// most until end.
type section struct {
	client string
	key    *keyJudge
	slot   int
	lease  int

	asked    stamp // for the lock
	enter    stamp
	last     stamp // of the last line that shows it inside
	end      stamp // when it was outside for certain, if it is closed
	left     stamp // when it called for the release; n == 0: not known
	open     bool
	settled  bool // nothing more will be known of it
	answered bool // its release has returned

	first, latest int64 // of its reads and writes, in the order of versions; see ordinal; 0: none
	read          int64 // the first of its reads
	acquired      *Entry
	place         Place // of the last line

	pairs []*pair // that are not decided
	more  int     // further ones, with those that entered after all of pairs
	after stamp   // the last of them
	stale []*late // writes of others that are stale if it was inside
}

// maxPairs is the number of clients that a section may have met, and that are kept while it is unknown whether it was
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

// sawEnter reports whether s was inside, for certain, after b had entered.
func (s *section) sawEnter(b *section) bool {
	return b.enter.before(s.last) || b.first > 0 && s.latest > b.first
}

// certain reports whether the two overlap for every choice of instants.
func (p *pair) certain() bool { return p.a.sawEnter(p.b) && p.b.sawEnter(p.a) }

// possible reports whether they overlap for some choice.
func (p *pair) possible() bool {
	return (p.a.open || !p.a.end.ended(p.b.enter)) && (p.b.open || !p.b.end.ended(p.a.enter))
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

// over notes a later line of the client: all before it was over by then.
func (s *section) over(by stamp) {
	if by.hi >= s.end.hi {
		return
	}
	s.end.hi, s.enter.hi = by.hi, min(s.enter.hi, by.hi)
	if s.left.n > 0 {
		s.left.hi = min(s.left.hi, by.hi)
	}
	s.decide()
}

// decide reports what is certain by now.
func (s *section) decide() {
	pairs := s.pairs
	s.pairs = s.pairs[:0]
	for _, p := range pairs {
		if !p.done && p.certain() {
			s.key.overlaps(p)
		}
		if !p.done {
			s.pairs = append(s.pairs, p)
		}
	}
	clear(pairs[len(s.pairs):])
	if s.more > 0 && s.after.before(s.last) {
		s.key.judge.Counts[verdict.Overlap] += s.more
		s.more = 0
	}
	s.stale = slices.DeleteFunc(s.stale, func(w *late) bool {
		if !w.at.before(s.last) {
			return false
		}
		s.key.claim(w.found)
		return true
	})
}

// settle ends a section of which nothing more will be known: what is possible and not certain is UNKNOWN, unless more
// will be known of the other section.
func (s *section) settle() {
	s.settled = true
	for _, p := range s.pairs {
		if p.done || !p.a.settled || !p.b.settled {
			continue
		}
		if p.possible() {
			s.key.mayOverlap(p)
		}
		p.done = true
	}
	s.key.judge.Counts[verdict.Unknown] += s.more
	for _, w := range s.stale {
		s.key.doubt(w.found, Clocks)
	}
	s.pairs, s.more, s.stale = nil, 0, nil
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
