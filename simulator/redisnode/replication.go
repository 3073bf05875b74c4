package redisnode

import (
	"locklab/simulator/history"
	"locklab/simulator/node"
)

// copyOf returns what a replica holds, from 0, or, after them, the disk.
func (s *instance) copyOf(i int8) *Data {
	if int(i) < s.config.Replicas {
		return &s.replicas[i]
	}
	return &s.disk
}

// hasReplica reports whether the server has that replica, from 0.
func (s *instance) hasReplica(replica int8) bool {
	return replica >= 0 && int(replica) < s.config.Replicas && (s.cut == 0 || replica != int8(s.oldMaster))
}

// replicate brings a replica, or the disk, up to date.
func (s *instance) replicate(i int8) (why string) {
	switch {
	case i < 0 || s.behind>>i&1 == 0:
		return "refused.replica.behind"
	case s.outage != serving:
		return "refused.server.down"
	}
	s.catchUp(i)
	return ""
}

// catchUp gives replica i, from 0, all that the server has; after the
// replicas comes its disk.
func (s *instance) catchUp(i int8) {
	*s.copyOf(i) = s.x.bareData(s.data)
	s.behind &^= 1 << i
	if int(i) == s.config.Replicas {
		s.emit(history.Sync)
		return
	}
	s.lacks[i] = 0
	s.emit(history.Replicate).Replica = i
	s.acknowledge(i)
}

// promote puts a replica, from 0, in the server's place. Its disk has what it has
// itself.
func (s *instance) promote(replica int8) {
	s.replace(s.replicas[replica], replica)
	if s.config.AOF == EverySecond {
		s.disk = s.data
	}
	s.outage, s.until = serving, 0
	s.compare()
}

// compare finds out which replicas, and whether the disk, lack something
// that the server has. All connections to it are new: no client has written by them.
func (s *instance) compare() {
	s.behind, s.lacks = 0, [MaxReplicas]node.Set{}
	for i := range int8(s.config.copies()) {
		if *s.copyOf(i) != s.data && (s.cut == 0 || i != int8(s.oldMaster)) {
			s.behind |= 1 << i
		}
	}
}

// replace swaps the data of the server for that of a replica or its disk, and records
// which keys became others by it, in value or only in how long they live.
func (s *instance) replace(data Data, source int8) {
	from, to := s.x.keys(&s.data), s.x.keys(&data)
	lives := make([]Lifetime, to.ttls)
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
