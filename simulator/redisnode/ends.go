package redisnode

import (
	"slices"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// What ends by itself at an instant and what else happens at that instant have no order. Where
// time came to it by a Pass with Pending, its end is pending: a key whose life is over is still
// there, for commands with nothing left of it; a server that comes back is not back; and an old
// master that has had no contact with its replicas for too long still writes. An End, or the Resume
// of an outage, ends one of these, in any order; all that are left end before time passes.

// endsNow reports whether the key in a place comes to its end now: in this millisecond of the server's clock.
func (m moment) endsNow(d *Data, place int) bool {
	return d.deadline[place] == clock.Millis(m.reading())
}

// keyEndsNow reports whether a key of the server comes to its end now: in its own data, or in what may
// take its place.
func (m moment) keyEndsNow() bool {
	for d := range m.all {
		for i := range m.x.keys(d).ttls {
			if m.endsNow(d, i) {
				return true
			}
		}
	}
	return false
}

// spare returns the milliseconds that a key lives from its deadline on.
func (m moment) spare() int64 {
	if m.pending {
		return 1
	}
	return m.x.spare
}

// refusing in place of the time from which an old master refuses writes is an earlier time.
const refusing = -1

// refusing reports whether the old master of a split refuses writes.
func (m moment) refusing() bool { return m.refuses < m.now || m.refuses == m.now && !m.pending }

// tidy resets pending where nothing is.
func (m moment) tidy() {
	if m.pending {
		m.pending = m.outage != serving && m.until == m.now || m.cut != 0 && m.refuses == m.now || m.keyEndsNow()
	}
}

// Places of a server's End: first the keys of its data, in their order, then those of its old
// master, and then that this begins to refuse writes.
const (
	placeOldMaster = MaxKeys
	placeRefusing  = 2 * MaxKeys
)

// endings appends what may end at server n now.
func (m moment) endings(n int8, buf []node.Choice) []node.Choice {
	if !m.pending {
		return buf
	}
	if m.outage != down {
		buf = m.keyEndings(n, 0, &m.data, buf)
	}
	if m.cut == 0 {
		return buf
	}
	buf = m.keyEndings(n, placeOldMaster, &m.replicas[m.oldMaster], buf)
	if m.refuses == m.now {
		buf = append(buf, node.Choice{Verb: node.End, Node: n, Thread: placeRefusing})
	}
	return buf
}

// keyEndings appends those of the keys of d, whose places begin at first: one for keys that end together.
func (m moment) keyEndings(n int8, first int, d *Data, buf []node.Choice) []node.Choice {
	for i := range m.x.keys(d).ttls {
		if m.endsNow(d, i) && int(d.with[i]) == i {
			buf = append(buf, node.Choice{Verb: node.End, Node: n, Thread: int8(first + i)})
		}
	}
	return buf
}

// end makes a choice of endings happen.
func (s *instance) end(c node.Choice) (why string) {
	if !slices.Contains(s.endings(s.n, nil), c) {
		return "refused.nothing.ends"
	}
	d, place := s.own(), int(c.Thread)
	switch {
	case place == placeRefusing:
		s.refuses = s.now - 1
		return ""
	case place >= placeOldMaster:
		d, place = s.old(), place-placeOldMaster
	}
	with := d.data.with
	for i := s.x.keys(d.data).ttls - 1; i >= place; i-- { // the keys behind a removed one move up
		if with[i] == with[place] {
			d.expireKey(i)
		}
	}
	if d.data == &s.data {
		s.leaveBehind()
	}
	return ""
}
