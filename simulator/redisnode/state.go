package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// Limits of one server. They keep a State a plain value.
const (
	MaxKeys     = 4 // keys with a time to live
	MaxReplicas = 2
)

// A Config is the settings of one server. They have been checked.
type Config struct {
	Replicas    int           // 0 to MaxReplicas
	MinReplicas int           // min-replicas-to-write, up to Replicas
	MaxLag      time.Duration // min-replicas-max-lag; 0: Redis's default of 10 s
	AOF         AOF
	EarlyExpiry bool        // a key is gone in the millisecond of its deadline, and not after it
	EarlyEnd    bool        // an outage may end before its time, by a Resume
	Clock       clock.State // at the start
}

// An AOF names what a server keeps on disk, in the words of Redis's appendfsync
// (redis.io, operate, persistence). Cached scripts are never kept.
type AOF uint8

const (
	NoAOF       AOF = iota // nothing: it comes back empty
	EverySecond            // what it had at its last fsync, which a Replicate choice makes
	Always                 // all that it has answered for
)

// copies is the number of copies of its data that a server has: its replicas, and after them its disk, if that can lag.
func (c *Config) copies() int {
	if c.AOF == EverySecond {
		return c.Replicas + 1
	}
	return c.Replicas
}

// A State is one server with its replicas and its disk, which share its clock. It is
// a comparable value; its numbers name entries of its Kind's tables.
type State struct {
	data Data
	// copies is the data that its replicas have received, and after theirs what it had on disk at its last fsync. While
	// the old master of a split lives on, its data stands in the place of the replica that was promoted.
	copies [MaxReplicas + 1]Data
	clock  clock.State
	behind copySet // the copies that lack something that the server has
	// lacks are, by replica, the clients with a command executed since it lacks something: their WAIT waits for it.
	lacks [MaxReplicas]history.ClientSet

	cut       history.ClientSet // the clients that are cut off with the old master; none: there is none
	oldMaster uint8             // cut: the replica in whose place that is
	outage    outage
	pending   bool // what ends at the present instant has not ended yet: see endings

	refuses time.Duration // cut: when the old master begins to refuse writes, true time
	until   time.Duration // when the outage ends, true time
}

// Data is the contents of a server: a keyspace, and for each key that expires, in its
// place, the last millisecond of the server's own clock in which it lives.
type Data struct {
	keyspace uint32
	// with is, for each of these keys, the first that one command has given the same deadline: they
	// end together. Others of the same deadline end in any order.
	with     [MaxKeys]uint8
	deadline [MaxKeys]int64
}

type outage uint8

const (
	serving outage = iota
	down           // crashed: every request breaks its connection
	hung           // stands still: what arrives waits in its queue
)

// copySet is a set of replicas, from 0, and after them of the disk.
type copySet uint8

// WithoutCopies is a server without what its replicas, and its disk, hold.
func (s State) WithoutCopies() node.State {
	s.copies = [MaxReplicas + 1]Data{}
	return s
}

// WithoutAges is a server, as Relative returns it and not split, in which keys of its copies that have
// ended have ended just now. (The server itself has removed such keys.)
func (s State) WithoutAges() node.State {
	for d := range s.all {
		for i := range d.deadline {
			d.deadline[i] = max(d.deadline[i], ended)
		}
	}
	return s
}

// ended in place of a deadline of a copy is an earlier one.
const ended = -1

// Condition returns what faults have made of the server.
func (s State) Condition() node.Condition {
	return node.Condition{Down: s.outage == down, Hung: s.outage == hung, Split: s.cut != 0, Behind: s.behind != 0}
}

// reachedBy returns the outage of what a client reaches of the server.
func reachedBy(client int8, s *State) outage {
	if s.outage != serving && s.cut.Has(uint8(client)) {
		return serving
	}
	return s.outage
}

// all yields the data of the server and of its copies.
func (s *State) all(yield func(d *Data) bool) {
	going := yield(&s.data)
	for i := range s.copies {
		going = going && yield(&s.copies[i])
	}
}

// What ends by itself at an instant and what else happens at that instant have no order. Where time came to it by a
// Pass with Pending, its end is pending: a key whose life is over is still there, for commands with nothing left of it;
// a server that comes back is not back; and an old master that has had no contact with its replicas for too long still
// writes. An End, or the Resume of an outage, ends one of these, in any order; all others end before time passes.

// endsNow reports whether the key in a place comes to its end now: in this millisecond of the server's clock.
func (s *instance) endsNow(d *Data, place int) bool {
	return d.deadline[place] == clock.Millis(s.reading())
}

// keyEndsNow reports whether a key of the server comes to its end now: in its own data, or in what may take its place.
func (s *instance) keyEndsNow() bool {
	for d := range s.all {
		for i := range s.x.keys(d).ttls {
			if s.endsNow(d, i) {
				return true
			}
		}
	}
	return false
}

// refusing in place of the time from which an old master refuses writes is an earlier time.
const refusing = -1

// refusing reports whether the old master of a split refuses writes.
func (s *instance) refusing() bool { return s.refuses < s.now || s.refuses == s.now && !s.pending }

// Places of a server's End: first the keys of its data, in their order, then those of its old
// master, and then that this begins to refuse writes.
const (
	placeOldMaster = MaxKeys
	placeRefusing  = 2 * MaxKeys
)

// endings appends what may end at the server now.
func (s *instance) endings(buf []node.Choice) []node.Choice {
	if !s.pending {
		return buf
	}
	if s.outage != down {
		buf = s.keyEndings(0, &s.data, buf)
	}
	if s.cut == 0 {
		return buf
	}
	buf = s.keyEndings(placeOldMaster, &s.copies[s.oldMaster], buf)
	if s.refuses == s.now {
		buf = append(buf, node.Choice{Verb: node.End, Node: s.n, Thread: placeRefusing})
	}
	return buf
}

// keyEndings appends those of the keys of d, whose places begin at first: one for keys that end together.
func (s *instance) keyEndings(first int, d *Data, buf []node.Choice) []node.Choice {
	for i := range s.x.keys(d).ttls {
		if s.endsNow(d, i) && int(d.with[i]) == i {
			buf = append(buf, node.Choice{Verb: node.End, Node: s.n, Thread: int8(first + i)})
		}
	}
	return buf
}

// end makes a choice of endings happen.
func (s *instance) end(c node.Choice) error {
	if !slices.Contains(s.endings(nil), c) {
		return node.Refuse("refused.nothing.ends")
	}
	d, place := s.own(), int(c.Thread)
	switch {
	case place == placeRefusing:
		s.refuses = s.now - 1
		return nil
	case place >= placeOldMaster:
		d, place = s.old(), place-placeOldMaster
	}
	with := d.data.with
	for i := len(s.x.keys(d.data).ttls) - 1; i >= place; i-- { // the keys behind a removed one move up
		if with[i] == with[place] {
			d.expireKey(i)
		}
	}
	if d.data == &s.data {
		s.leaveBehind()
	}
	return nil
}
