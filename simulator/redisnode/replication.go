package redisnode

import (
	"locklab/simulator/history"
	"locklab/simulator/node"
)

// replicate brings a replica, or the disk, up to date.
func (k *Kind) replicate(w node.World, nodes []State, c node.Choice) (why string) {
	switch {
	case c.Node < 1 || int(c.Node) > len(nodes) || c.Thread < 0 || nodes[c.Node-1].behind>>c.Thread&1 == 0:
		return "refused.replica.behind"
	case nodes[c.Node-1].outage != serving:
		return "refused.server.down"
	}
	k.catchUp(w, nodes, c.Node, c.Thread)
	return ""
}

// catchUp gives replica i of server n, from 0, all that the server has; after the
// replicas comes its disk.
func (k *Kind) catchUp(w node.World, nodes []State, n, i int8) {
	s := &nodes[n-1]
	*k.copyOf(s, n, i) = k.bareData(s.data)
	s.behind &^= 1 << i
	if int(i) == k.servers[n-1].Replicas {
		w.Emit(history.Sync).Node = int(n)
		return
	}
	s.lacks[i] = 0
	e := w.Emit(history.Replicate)
	e.Node, e.Replica = int(n), i
	k.acknowledge(w, nodes, n, i)
}

// bareData is data as it goes to a replica or to disk: without cached scripts and
// without connections.
func (k *Kind) bareData(data Data) Data {
	data.keyspace = k.scriptless(data.keyspace)
	return data
}

// promote puts a replica of server n, from 0, in its place. Its disk has what it has
// itself.
func (k *Kind) promote(w node.World, s *State, n, replica int8) {
	k.replace(w, s, n, s.replicas[replica], replica)
	if k.servers[n-1].AOF == EverySecond {
		s.disk = s.data
	}
	s.outage, s.until = serving, 0
	k.compare(s, n)
}

// compare finds out which replicas of server n, and whether its disk, lack something
// that it has. All connections to it are new: no client has written by them.
func (k *Kind) compare(s *State, n int8) {
	s.behind, s.lacks = 0, [MaxReplicas]node.Set{}
	for i := range int8(k.servers[n-1].copies()) {
		if *k.copyOf(s, n, i) != s.data && (s.cut == 0 || i != int8(s.oldMaster)) {
			s.behind |= 1 << i
		}
	}
}

// replace swaps the data of a server for that of a replica or its disk, and records
// which keys became others by it, in value or only in how long they live.
func (k *Kind) replace(w node.World, s *State, n int8, data Data, source int8) {
	from, to := k.keyspaces.At(s.data.keyspace), k.keyspaces.At(data.keyspace)
	var lives [MaxKeys]lifetime
	for i := range to.ttls {
		p := from.place(to.expiring(i).name)
		if p >= 0 && s.data.deadline[p] != data.deadline[i] {
			p = -1
		}
		lives[i].keep = int8(p)
	}
	s.data = data
	for _, ch := range diff(from, to, &lives) {
		k.emitChange(w, s, &s.data, 0, int(n), &ch).Replica = source
	}
}
