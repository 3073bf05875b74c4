package record

import (
	"slices"

	"locklab/simulator/verdict"
)

// wrote is an accepted write. The zero value is none.
type wrote struct {
	by            *Entry
	lease         *lease // of the client, or its last one
	version, base int
	least         int  // base of a row of writes under one lease
	inside        bool // the client was
}

// same reports whether two writes are of one lease.
func (w *wrote) same(o *wrote) bool {
	return w.by != nil && w.by.Client == o.by.Client && w.lease == o.lease
}

// ordinal is the place of a read or write in the order of versions: a read of a version comes after its write.
func ordinal(l *Entry) int64 {
	switch {
	case l.Version == nil || l.Event == Wrote && !l.accepted():
		return 0
	case l.Event == Wrote:
		return 2 * int64(*l.Version)
	}
	return 2*int64(*l.Version) + 1
}

// access is a read or a write of what the lock protects, by a client with an open lease; nil: it has none.
func (k *key) access(s *lease, c *caller, l *Entry) {
	if s != nil {
		s.shows(l.at, l.Place)
		if at := ordinal(l); at > 0 {
			s.uses(l.Event, at)
		}
		k.users[s] = true
	}
	switch {
	case l.Event == Read && s != nil:
		// The read was logged after a client outside had written a later version; that may have fallen into this lease.
		if w := k.last; l.Version != nil && w.version > *l.Version && w.by.Client != l.Client && !w.inside {
			k.doubt(k.finding(verdict.StaleWrite, l, w.by, l), Clocks)
		}
		s.reads = true
	case l.Event == Read:
	case !l.accepted():
		k.refused(s, c, l)
		return
	case l.Version == nil || l.Base == nil:
		k.judge.NoVersion++
		k.unseen = true
	default:
		k.write(s, c, l)
	}
	k.token = max(k.token, l.Token)
}

// lastOf is the lease of a client that was open last; nil: it is not known.
func (k *key) lastOf(c *caller, l *Entry) *lease {
	if c.lease != nil {
		return c.lease
	}
	for _, s := range slices.Backward(k.closed) {
		if s.client == l.Client {
			return s
		}
	}
	return nil
}

// late reports whether a client no longer had the lock, for certain, when it made a call: it had ended its
// lease, or the resource has seen a higher token.
func (k *key) late(c *caller, l *Entry) bool {
	s := k.lastOf(c, l)
	return l.Token > 0 && l.Token < k.token || s != nil && !s.open && s.left.n > 0 && s.left.before(l.from)
}

// refused is a write that the resource has refused: FENCED, if its client no longer had the lock. The first one of a
// client that has not acquired the lock last may be.
func (k *key) refused(s *lease, c *caller, l *Entry) {
	may := !k.outdated && !k.stale && (s == nil || s != k.holder)
	k.outdated = k.outdated || may
	f := k.finding(verdict.Fenced, l, l)
	switch {
	case k.fenced != nil:
	case k.late(c, l):
		k.place(&f)
		k.fenced = &f
	case may:
		k.doubt(f, Either)
	}
}

// write is an accepted write. Writes are judged in the order of versions, also one that was logged after its successor.
func (k *key) write(s *lease, c *caller, l *Entry) {
	w := wrote{l, s, *l.Version, *l.Base, *l.Base, s != nil}
	if s == nil {
		w.lease = k.lastOf(c, l)
	}
	for _, o := range []*wrote{&k.last, &k.other} { // one of them is the last of another lease
		if o.by == nil || o.same(&w) {
			continue
		}
		newer, older := &w, o
		if o.version > w.version {
			newer, older = o, &w
		}
		f := k.finding(verdict.StaleWrite, l, newer.by, older.by)
		switch {
		case newer.base < older.version:
			k.claim(f)
			return // it is stale, and hides nothing
		case newer.least < older.version: // an earlier one of its writes may have
			k.doubt(f, Clocks)
			return
		}
	}
	switch {
	case w.version < k.last.version:
		k.mayFall(l)
		return
	case (s == nil || s != k.holder) && k.falls(c, l):
		return
	case !k.last.same(&w):
		k.other = k.last
	default:
		w.least = min(w.least, k.last.least)
	}
	k.last = w
}

// falls is a write of a client that has not acquired the lock last, which may have fallen into the lease of another
// after that one's first read: of the last one, or of any other. It reports whether it is stale if that one was still
// inside: whether the writer no longer had the lock. Else it may be the other that had it no longer.
func (k *key) falls(c *caller, l *Entry) bool {
	v := k.holder
	if v == nil || !v.open || !v.reads || v.client == l.Client {
		v = k.firstOpen(func(o *lease) bool { return o.reads && o.client != l.Client })
	}
	if v == nil {
		k.mayFall(l)
		return false
	}
	k.outdated = true
	f := k.finding(verdict.StaleWrite, l, l, v.acquired)
	if !k.late(c, l) || v.read == 0 || v.read > ordinal(l) {
		k.doubt(f, Either)
		return false
	}
	k.place(&f)
	v.stale = append(v.stale, late{l.at, f})
	return true
}

// mayFall is a write that falls into no lease for certain. If its client is outside it may have fallen into one after
// its first read: one that has ended, or by versions.
func (k *key) mayFall(l *Entry) {
	fell := func(v *lease) bool {
		return v.client != l.Client && v.first > 0 && v.first < ordinal(l) && (v.open || !v.end.ended(l.from))
	}
	if k.open[l.Client] != nil {
		return
	}
	v := k.firstOpen(fell)
	if i := slices.IndexFunc(k.closed, fell); i >= 0 {
		v = k.closed[i]
	}
	if v != nil {
		k.doubt(k.finding(verdict.StaleWrite, l, l, v.acquired), Clocks)
	}
}

// firstOpen is the first lease that is open, has read or written, and for which something is true; nil: none.
func (k *key) firstOpen(is func(*lease) bool) (first *lease) {
	for s := range k.users {
		if is(s) && (first == nil || s.nth < first.nth) {
			first = s
		}
	}
	return first
}
