package record

import (
	"cmp"
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
	until    stamp // when it ends if no line shows more of it; n == 0: not known
	index    int   // among the open ones of its client
	open     bool
	settled  bool // nothing more will be known of it
	answered bool // its release has returned
	used     bool // it is in the list of those that have read or written
	shown    bool // it is kept for a finding
	doubted  bool // it is counted as UNKNOWN
	unsure   bool // what it may have met is not known any more

	first, latest int64 // of its reads and writes, in the order of versions; see ordinal; 0: none
	read          int64 // the first of its reads
	acquired      *Entry
	place         Place // of the last line

	pairs []*pair // that are not decided
	met   int     // those that it has met later, up to one more than maxPairs
	since int     // if there were more, those of the key up to which they are in more
	more  int     // further ones, which entered after all of pairs
	ninth stamp   // the first of them
	after stamp   // the last of them
	stale []*late // writes of others that are stale if it was inside
}

// maxPairs is the number of clients that a section may have met, and that are kept while it is unknown whether it was
// still inside; the others are counted. It is small because a client that has died meets all others.
const maxPairs = 8

// A pair is two sections that may overlap. b was read later.
type pair struct {
	a, b   *section
	around []*Entry // the last lines when b entered
	done   bool
}

// A late is a write that may be stale to a section into which it fell.
type late struct {
	at    stamp
	found Finding
}

// inside notes a line that shows the client inside.
func (s *section) inside(at stamp, place Place) {
	at.since, at.lo = max(at.since, s.last.since), max(at.lo, s.last.lo)
	s.last, s.place = at, place
	if at.hi > s.until.hi {
		s.until = stamp{}
	}
	s.decide()
}

// close ends a section at an instant, or between its last line and that.
func (s *section) close(end stamp) {
	s.catchUp()
	s.open, s.end = false, end
	s.enter.atMost(end)
	s.decide()
}

// endBy returns the time by which a section is over that ends with a line that does not show it inside.
func (s *section) endBy(l *Entry) stamp {
	end := stamp{lo: s.last.lo, hi: l.stamp.hi, n: l.stamp.n}
	if s.until.n > 0 {
		end.hi = min(end.hi, s.until.hi)
	}
	return end
}

// until returns the latest end of the lease of a line.
func (l *Entry) until() (end stamp) {
	if l.Until.Known {
		end = stamp{lo: l.stamp.lo, hi: l.Until.Ns + l.stamp.hi - l.At.Ns, n: l.stamp.n}
	}
	return end
}

// begin puts a pair among those of its sections.
func (p *pair) begin() { p.a.pairs, p.b.pairs = append(p.a.pairs, p), append(p.b.pairs, p) }

// meetMore counts sections without pairs, the last of which is b.
func (s *section) meetMore(b *section, n int) {
	if s.ninth.n == 0 {
		s.ninth = b.enter
	}
	s.more, s.after, s.since = s.more+n, b.enter, s.key.entered+1
}

// catchUp counts those that have entered since this one was looked at last.
func (s *section) catchUp() {
	if n := s.key.entered - s.since; s.open && s.met > maxPairs && n > 0 {
		s.meetMore(s.key.holder, n)
	}
}

// sawEnter reports whether s was inside, for certain, after b had entered.
func (s *section) sawEnter(b *section) bool {
	return b.enter.before(s.last) || b.first > 0 && s.latest > b.first
}

// certain reports whether the two overlap for every choice of instants.
func (p *pair) certain() bool { return p.a.sawEnter(p.b) && p.b.sawEnter(p.a) }

// possible reports whether they overlap for some choice, if nothing more will be known of those that are open.
func (p *pair) possible() bool { return !p.a.over(p.b.enter) && !p.b.over(p.a.enter) }

// over reports whether a section is over, for certain, when another is entered.
func (s *section) over(enter stamp) bool {
	if s.open {
		return s.until.n > 0 && s.until.ended(enter)
	}
	return s.end.ended(enter)
}

// endless is a section of the pair whose end the log does not show, the first if both are so; nil: there is none.
func (p *pair) endless(first *section) *section {
	for _, s := range []*section{first, p.a, p.b} {
		if s.left.n == 0 {
			return s
		}
	}
	return nil
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

// wasOver notes a later line of the client: all before it was over by then.
func (s *section) wasOver(by stamp) {
	if by.hi >= s.end.hi && (by.by == 0 || s.end.by > 0) {
		return
	}
	s.end.atMost(by)
	s.enter.atMost(by)
	if s.left.n > 0 {
		s.left.atMost(by)
	}
	s.decide()
}

// decide reports what is certain by now.
func (s *section) decide() {
	s.catchUp()
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
		s.key.judge.AtLeast = true
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
	for _, w := range s.stale {
		s.key.doubt(w.found, Clocks)
	}
	s.pairs, s.stale = nil, nil
}

// settleMore counts a section as UNKNOWN that is not yet, for what has no pair.
func (s *section) settleMore() {
	s.catchUp()
	if !s.doubted && (s.unsure || s.more > 0 && !s.over(s.ninth)) {
		s.doubted = true
		s.key.judge.Counts[verdict.Unknown]++
	}
}

// earlier compares sections by when they were entered.
func earlier(a, b *section) int { return cmp.Compare(a.enter.n, b.enter.n) }

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

// lines are those around the pair, with the first client's acquired.
func (p *pair) lines() []*Entry {
	if slices.Contains(p.around, p.a.acquired) {
		return p.around
	}
	return append([]*Entry{p.a.acquired}, p.around...)
}
