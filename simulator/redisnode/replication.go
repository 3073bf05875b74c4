package redisnode

import (
	"locklab/simulator/history"
	"locklab/simulator/node"
)

// copies hold a server's data once more: its replicas, from 0, and after them its disk.
type copies struct{ s *instance }

// copies returns what has a copy of the data.
func (s *instance) copies() copies { return copies{s} }

// of returns what a replica holds, from 0, or, after them, the disk.
func (c copies) of(i int8) *Data {
	if int(i) < c.s.config.Replicas {
		return &c.s.replicas[i]
	}
	return &c.s.disk
}

// has reports whether the server has that replica, from 0.
func (c copies) has(replica int8) bool {
	return replica >= 0 && int(replica) < c.s.config.Replicas && (c.s.cut == 0 || replica != int8(c.s.oldMaster))
}

// update brings a replica, or the disk, up to date.
func (c copies) update(i int8) (why string) {
	switch {
	case i < 0 || c.s.behind>>i&1 == 0:
		return "refused.replica.behind"
	case c.s.outage != serving:
		return "refused.server.down"
	}
	c.catchUp(i)
	return ""
}

// catchUp gives replica i, from 0, all that the server has; after the
// replicas comes its disk.
func (c copies) catchUp(i int8) {
	*c.of(i) = c.s.x.bareData(c.s.data)
	c.s.behind &^= 1 << i
	if int(i) == c.s.config.Replicas {
		c.s.emit(history.Sync)
		return
	}
	c.s.lacks[i] = 0
	c.s.emit(history.Replicate).Replica = i
	c.s.acknowledge(i)
}

// promote puts a replica, from 0, in the server's place. Its disk has what it has
// itself.
func (s *instance) promote(replica int8) {
	s.replace(s.replicas[replica], replica)
	if s.config.AOF == EverySecond {
		s.disk = s.data
	}
	s.outage, s.until = serving, 0
	s.copies().compare()
}

// compare finds out which replicas, and whether the disk, lack something
// that the server has. All connections to it are new: no client has written by them.
func (c copies) compare() {
	c.s.behind, c.s.lacks = 0, [MaxReplicas]node.Set{}
	for i := range int8(c.s.config.copies()) {
		if *c.of(i) != c.s.data && (c.s.cut == 0 || i != int8(c.s.oldMaster)) {
			c.s.behind |= 1 << i
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
