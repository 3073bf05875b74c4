package redisnode

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// hasReplica reports whether the server has that replica, from 0, to promote.
func (s *State) hasReplica(config *Config, i int8) bool {
	return i >= 0 && int(i) < config.Replicas && (s.cut == 0 || i != int8(s.oldMaster))
}

// update brings a replica, from 0, up to date, or the disk.
func (s *instance) update(i int8) error {
	switch {
	case i < 0 || s.behind>>i&1 == 0:
		return node.Refuse("refused.replica.behind")
	case s.outage != serving:
		return node.Refuse("refused.server.down")
	}
	s.catchUp(i)
	return nil
}

// catchUp gives a copy all that the server has.
func (s *instance) catchUp(i int8) {
	s.copies[i] = s.x.bareData(s.data)
	s.behind &^= 1 << i
	if int(i) == s.config.Replicas {
		s.emit(history.Sync)
		return
	}
	s.lacks[i] = 0
	s.emit(history.Replicate).Replica = i
	s.acknowledge(i)
}

// promote puts a replica, from 0, in the server's place. Its disk has what it has itself.
func (s *instance) promote(replica int8) {
	s.replace(s.copies[replica], replica)
	if s.config.AOF == EverySecond {
		s.copies[s.config.Replicas] = s.data
	}
	s.outage, s.until = serving, 0
	s.compare()
}

// compare finds which copies lack something that the server has. Connections to it are new: no client has used them.
func (s *instance) compare() {
	s.behind, s.lacks = 0, [MaxReplicas]history.ClientSet{}
	for i := range int8(s.config.copies()) {
		if s.copies[i] != s.data && (s.cut == 0 || i != int8(s.oldMaster)) {
			s.behind |= 1 << i
		}
	}
}

// replace swaps the data of the server for that of a replica or its disk, and records
// which keys became others by it, in value or only in how long they live.
func (s *instance) replace(data Data, source int8) {
	from, to := s.x.keys(&s.data), s.x.keys(&data)
	lives := make([]Lifetime, len(to.ttls))
	for i := range lives {
		lives[i].Keep = from.place(to.expiring(i).name)
		if p := lives[i].Keep; p >= 0 && s.data.deadline[p] != data.deadline[i] {
			lives[i].Keep = -1
		}
	}
	s.data = data
	for _, ch := range diff(from, to, lives) {
		s.own().emitChange(0, &ch).Replica = source
	}
}

// Split brain: the master of a server is cut off, with some clients, and does not know it; a replica is promoted and
// serves the others. The old master's data is kept in the place of the promoted replica. When the network heals it
// becomes a replica, and the writes that it took meanwhile are gone.
//
// What bounds it is min-replicas-to-write: a master that has not heard of so many replicas for min-replicas-max-lag
// refuses writes (redis.io, operate, replication). The simulation differs: the lag runs from the cut to the instant,
// where Redis counts in whole seconds; only a split keeps a replica from being heard of.

// split cuts the server's master off, with client c, and promotes a replica, from 0. If it is split, c is cut off too.
func (s *instance) split(c, replica int8) error {
	if err := s.kind.CannotSplit(*s.State, c, s.n, replica); err != nil {
		return err
	}
	alone := history.Only(uint8(c))
	e := s.emit(history.Split)
	e.Client, e.Replica = int(c), replica
	if s.cut != 0 {
		node.HangUp(s.w, s.n, alone)
		s.cut |= alone
		return nil
	}
	node.HangUp(s.w, s.n, ^alone)
	old := s.data
	s.cut, s.oldMaster, s.refuses = alone, uint8(replica), clock.Never
	if s.config.MinReplicas > 0 {
		s.refuses = clock.Later(s.now, s.clock.After(s.config.MaxLag))
	}
	s.promote(replica)
	s.copies[replica] = old
	s.expire()
	return nil
}

// CannotSplit returns the error by which the master of server n cannot be cut off with client c: a *node.Refused, or
// a *intern.LimitError; nil: it can.
func (k *Kind) CannotSplit(state node.State, c, n, replica int8) error {
	servers := len(k.servers)
	s, _ := state.(State)
	switch {
	case s.outage != serving:
		return node.Refuse("refused.server.down")
	case s.cut.Has(uint8(c)):
		return node.Refuse("refused.split.client")
	case s.cut != 0 && replica != int8(s.oldMaster):
		return node.Refuse("refused.split.already")
	case s.cut == 0 && !s.hasReplica(k.servers[n-1].config, replica):
		return node.Refuse("refused.replica.unknown")
	case servers+int(n) > maxNumber:
		return intern.Limit("limit.split", "server", n, "servers", servers, "most", maxNumber)
	}
	return nil
}

// maxNumber is the highest number of a server in a history.
const maxNumber = 8

// heal demotes the old master to a replica of the new one.
func (s *instance) heal() error {
	switch {
	case s.cut == 0:
		return node.Refuse("refused.split.none")
	case s.outage != serving:
		return node.Refuse("refused.split.newmaster")
	}
	s.emit(history.Heal)
	node.HangUp(s.w, s.n, s.cut)
	old := int8(s.oldMaster)
	s.cut, s.oldMaster, s.refuses = 0, 0, 0
	s.catchUp(old)
	return nil
}

// tooFewReplicas reports whether the side that a client reaches has too few replicas to write.
func (s *instance) tooFewReplicas(client int8) bool {
	switch {
	case s.cut == 0:
		return false
	case s.cut.Has(uint8(client)):
		return s.refusing()
	default:
		return s.config.Replicas-1 < s.config.MinReplicas
	}
}

// refuseWrites marks the number of a batch: the server that executes it has too few replicas to write.
const refuseWrites = 1 << 31

// defaultMaxLag is Redis's min-replicas-max-lag.
const defaultMaxLag = 10 * time.Second
