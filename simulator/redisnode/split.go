package redisnode

import (
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
)

// Split brain: the master of a server is cut off, with some clients, and does not
// know it; a replica is promoted and serves the others. The old master's data is
// kept in the place of the promoted replica. When the network heals it becomes a
// replica, and the writes that it took meanwhile are gone.
//
// What bounds it is min-replicas-to-write: a master that has not heard of so many
// replicas for min-replicas-max-lag refuses writes (redis.io, operate, replication).
// The simulation differs: the lag runs from the cut to the instant, where Redis
// counts in whole seconds; only a split keeps a replica from being heard of.

// split cuts the master off, with client c, and promotes a replica,
// from 0. If that is so already, one more client is cut off with it.
func (s *instance) split(c, replica int8) {
	e := s.emit(history.Split)
	e.Client, e.Replica = int(c), replica
	if s.cut != 0 {
		node.HangUp(s.w, s.n, node.Of(c))
		s.cut |= node.Of(c)
		return
	}
	node.HangUp(s.w, s.n, ^node.Of(c))
	old := s.data
	s.cut, s.oldMaster, s.refuses = node.Of(c), uint8(replica), clock.Never
	if s.config.MinReplicas > 0 {
		s.refuses = clock.Later(s.now, s.clock.After(s.config.MaxLag))
	}
	s.promote(replica)
	s.replicas[replica] = old
	s.expire()
}

// cannotSplit returns the reason for which the master cannot be cut off with client c; "":
// it can. The error is a *table.LimitError.
func (s *instance) cannotSplit(c, replica int8) (why string, err error) {
	servers := len(s.kind.servers)
	switch {
	case s.outage != serving:
		return "refused.server.down", nil
	case s.cut.Has(c):
		return "refused.split.client", nil
	case s.cut != 0 && replica != int8(s.oldMaster):
		return "refused.split.already", nil
	case s.cut == 0 && !s.copies().has(replica):
		return "refused.replica.unknown", nil
	case servers+int(s.n) > maxNumber:
		return "", table.Limit("limit.split", "server", s.n, "servers", servers, "most", maxNumber)
	}
	return "", nil
}

// maxNumber is the highest number of a server in a history.
const maxNumber = 8

// heal demotes the old master to a replica of the new one.
func (s *instance) heal() (why string) {
	switch {
	case s.cut == 0:
		return "refused.split.none"
	case s.outage != serving:
		return "refused.split.newmaster"
	}
	s.emit(history.Heal)
	node.HangUp(s.w, s.n, s.cut)
	old := int8(s.oldMaster)
	s.cut, s.oldMaster, s.refuses = 0, 0, 0
	s.copies().catchUp(old)
	return ""
}

// tooFewReplicas reports whether the side that a client reaches has too few
// replicas to write.
func (s *instance) tooFewReplicas(client int8) bool {
	switch {
	case s.cut == 0:
		return false
	case s.cut.Has(client):
		return s.refusing()
	default:
		return s.config.Replicas-1 < s.config.MinReplicas
	}
}

// refuseWrites marks the number of a batch: the server that executes it has too few
// replicas to write.
const refuseWrites = 1 << 31

// refuseWrite answers a command on a server that has too few replicas; false: it
// may be executed.
func refuseWrite(peer *server.Peer, cmd string) bool {
	if is(cmd, reads) {
		return false
	}
	peer.WriteError("NOREPLICAS Not enough good replicas to write.")
	return true
}

// defaultMaxLag is Redis's min-replicas-max-lag.
const defaultMaxLag = 10 * time.Second
