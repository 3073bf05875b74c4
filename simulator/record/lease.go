package record

import (
	"cmp"
	"slices"

	"locklab/simulator/verdict"
)

// A lease is one client inside, as far as the log shows it: from enter at least until seen, and at most until end.
type lease struct {
	key      *key
	client   string
	acquired *Entry
	around   []*Entry // lines of the key up to acquired
	last     Place    // its last line
	nth      int      // of the key's leases

	enter stamp
	seen  stamp // its last line that shows the client inside
	until stamp // when it ends if no line shows more of it; n == 0: not known
	left  stamp // when it called for the release; n == 0: not known
	end   stamp // when it was outside for certain, if it is not open

	open     bool
	settled  bool // nothing more will be known of it
	answered bool // its release has returned
	doubted  bool // it is counted as UNKNOWN

	reads         bool
	first, latest int64 // of its reads and writes, in the order of versions, see ordinal; 0: none
	read          int64 // the first of its reads

	near     []*lease // that it may overlap: it is not decided
	later    int      // of these and of those decided, those that were entered later: up to maxNear
	counted  int      // it was open when so many leases had been entered, and all these are in near or in more
	more     int      // leases that it may overlap, which were entered after those of near
	moreFrom int64    // when the first of these was entered, at least
	moreTo   int64    // and the last one, at most
	stale    []late   // writes of others
}

// maxNear is the number of later leases that one is compared with; of the others it only has the number. It is small
// because a client that has died meets all others.
const maxNear = 8

// A late is a write that is stale if the client of the lease into which it fell was inside after it.
type late struct {
	at    stamp
	found Finding
}

// shows notes a line that shows the client inside.
func (s *lease) shows(at stamp, place Place) {
	at.since, at.lo = max(at.since, s.seen.since), max(at.lo, s.seen.lo)
	s.seen, s.last = at, place
	if at.hi > s.until.hi {
		s.until = stamp{}
	}
	s.decide()
}

// uses notes a read or write at a place in the order of versions.
func (s *lease) uses(event Event, ordinal int64) {
	if s.first == 0 || ordinal < s.first {
		s.first = ordinal
	}
	if event == Read && (s.read == 0 || ordinal < s.read) {
		s.read = ordinal
	}
	s.latest = max(s.latest, ordinal)
	s.decide()
}

// lapse returns the time by which a lease is over that ends with a line which does not show its client inside.
func (s *lease) lapse(l *Entry) stamp {
	end := stamp{lo: s.seen.lo, hi: l.at.hi, by: l.Seq, n: l.at.n}
	if s.until.n > 0 && l.Event != Released {
		end.hi = min(end.hi, s.until.hi)
	}
	return end
}

// close ends a lease at an instant, or between its last line and that.
func (s *lease) close(end stamp) {
	s.count()
	s.open, s.end = false, end
	s.enter.atMost(end)
	s.decide()
}

// wasOver notes a later line of the client: the lease, which is not open, was over by then.
func (s *lease) wasOver(by stamp) {
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

// meet notes that b was entered, after s, before s was over for certain.
func (s *lease) meet(b *lease) {
	if s.later < maxNear {
		s.later++
		s.near, b.near = append(s.near, b), append(b.near, s)
		return
	}
	s.moreFrom = min(s.moreFrom, b.enter.lo)
	if !s.open { // else count does it, for all
		s.more, s.moreTo = s.more+1, s.key.latest
	}
}

// count counts the leases that were entered since an open one was looked at last. None of them, but for those of low,
// can have been entered earlier than lines that were read before it.
func (s *lease) count() {
	k := s.key
	n := k.entered - s.counted
	if !s.open || n <= 0 {
		return
	}
	if k.lowAt > s.counted {
		s.moreFrom = min(s.moreFrom, k.low)
	}
	s.more, s.moreTo, s.counted = s.more+n, k.latest, k.entered
}

// saw reports whether s was inside, for certain, after b had entered.
func (s *lease) saw(b *lease) bool {
	return b.enter.before(s.seen) || b.first > 0 && s.latest > b.first
}

// over reports whether a lease is over, for certain, when another is entered, if nothing more will be known of it.
func (s *lease) over(enter stamp) bool {
	if s.open {
		return s.until.n > 0 && s.until.ended(enter)
	}
	return s.end.ended(enter)
}

// pair returns two leases, the one that was entered first in the log before the other.
func (s *lease) pair(o *lease) (a, b *lease) {
	if o.nth < s.nth {
		return o, s
	}
	return s, o
}

// decide reports what is certain by now.
func (s *lease) decide() {
	s.count()
	s.near = slices.DeleteFunc(s.near, func(o *lease) bool {
		certain := s.saw(o) && o.saw(s)
		if certain {
			o.near = slices.DeleteFunc(o.near, func(of *lease) bool { return of == s })
			s.key.overlaps(s.pair(o))
		}
		return certain
	})
	if s.more > 0 && s.enter.hi < s.moreFrom && s.moreTo < s.seen.lo {
		s.key.judge.Counts[verdict.Overlap] += s.more
		s.key.judge.AtLeast = true
		s.more = 0
	}
	s.stale = slices.DeleteFunc(s.stale, func(w late) bool {
		certain := w.at.before(s.seen)
		if certain {
			s.key.claim(w.found)
		}
		return certain
	})
}

// settle ends a lease of which nothing more will be known: what is possible and not certain is UNKNOWN, unless more
// will be known of the other lease.
func (s *lease) settle() {
	s.settled = true
	for _, o := range s.near {
		if o.settled && !s.over(o.enter) && !o.over(s.enter) {
			s.key.mayOverlap(s.pair(o))
		}
	}
	for _, w := range s.stale {
		s.key.doubt(w.found, Clocks)
	}
	s.near, s.stale = nil, nil
}

// settleMore counts a lease as UNKNOWN that is not yet, for those that are not near.
func (s *lease) settleMore() {
	s.count()
	if !s.doubted && s.more > 0 && !s.over(stamp{lo: s.moreFrom}) {
		s.doubted = true
		s.key.judge.Counts[verdict.Unknown]++
	}
}

// overlaps reports two leases that have time in common for certain.
func (k *key) overlaps(a, b *lease) {
	k.judge.AtLeast = k.judge.AtLeast || a.more > 0 || b.more > 0
	f := k.finding(verdict.Overlap, b.acquired, a.acquired, b.acquired)
	f.To = k.judge.Last
	k.claim(f, a.before(b)...)
}

// mayOverlap reports two leases that may have time in common: once for one whose end the log does not show.
func (k *key) mayOverlap(a, b *lease) {
	first, second, why := a, b, a.endless(b)
	if late := b.endless(a); why == "" && late != "" {
		first, second, why = b, a, late
	}
	list := []*lease{first, a, b}
	if i := slices.IndexFunc(list, func(s *lease) bool { return s.left.n == 0 }); i >= 0 {
		if list[i].doubted {
			return
		}
		list[i].doubted = true
	}
	f := k.finding(verdict.Overlap, b.acquired, first.acquired, second.acquired)
	if why == Silent {
		f.Lines[0] = first.last
	}
	k.doubt(f, cmp.Or(why, Clocks), a.before(b)...)
}

// endless is the reason for which a lease may overlap another if the log does not show its end; "": that is not why.
func (s *lease) endless(o *lease) Why {
	switch {
	case !s.seen.before(o.enter):
	case s.open:
		return Silent
	case s.left.n == 0:
		return Release
	}
	return ""
}

// before returns the lines up to that of b's acquired, with that of a.
func (a *lease) before(b *lease) []*Entry {
	if slices.Contains(b.around, a.acquired) {
		return b.around
	}
	return append([]*Entry{a.acquired}, b.around...)
}
