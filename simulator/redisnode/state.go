package redisnode

import (
	"time"

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

// copies returns the number of copies of its data that a server has beside its own: its replicas,
// and after them its disk, if that can lag.
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
	// replicas is the data that its replicas have received. While the old master of a split
	// lives on, its data stands in the place of the replica that was promoted.
	replicas [MaxReplicas]Data
	disk     Data // what it had at its last fsync
	clock    clock.State
	behind   copySet // the replicas, and the disk, that lack something that the server has
	// lacks are, for each replica, the clients that have had a command executed since it
	// lacks something: their WAIT waits for it.
	lacks [MaxReplicas]node.Set

	cut       node.Set // the clients that are cut off with the old master; none: there is none
	oldMaster uint8    // cut: the replica in whose place that is
	outage    outage
	pending   bool // what ends at the present instant has not ended yet: see ends.go

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

var _ node.Failing = State{}

// WithoutCopies is a server without what its replicas, and its disk, hold.
func (s State) WithoutCopies() node.State {
	s.replicas, s.disk = [MaxReplicas]Data{}, Data{}
	return s
}

// WithoutAges is a server, as Relative returns it and not split, in which keys of replicas and of the disk that have ended
// have ended just now. (The server itself has removed such keys.)
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

// Behind reports whether a replica, or the disk, lacks something.
func (s State) Behind() bool { return s.behind != 0 }

// Down reports whether the server has crashed and is not back.
func (s State) Down() bool { return s.outage == down }

// Hung reports whether the server stands still.
func (s State) Hung() bool { return s.outage == hung }

// Split reports whether the server's old master lives on.
func (s State) Split() bool { return s.cut != 0 }

// reachedBy returns the outage of what a client reaches of the server.
func reachedBy(client int8, s *State) outage {
	if s.outage != serving && s.cut.Has(client) {
		return serving
	}
	return s.outage
}

// all yields the data of the server, of its replicas and of its disk.
func (s *State) all(yield func(d *Data) bool) {
	going := yield(&s.data)
	for i := range s.replicas {
		going = going && yield(&s.replicas[i])
	}
	_ = going && yield(&s.disk)
}
