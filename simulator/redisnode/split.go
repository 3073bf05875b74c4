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

// Split cuts the master of server n off, with client c, and promotes a replica,
// from 0. If that is so already, one more client is cut off with it.
func (k *Kind) Split(w node.World, c, n, replica int8) (why string, err error) {
	nodes := k.group.Open(w)
	defer k.close(w, nodes)
	if why, err := k.cannotSplit(nodes, c, n, replica); why != "" || err != nil {
		return why, err
	}
	s := &nodes[n-1]
	e := w.Emit(history.Split)
	e.Client, e.Node, e.Replica = int(c), int(n), replica
	if s.cut != 0 {
		node.HangUp(w, n, node.Of(c))
		s.cut |= node.Of(c)
		return "", nil
	}
	node.HangUp(w, n, ^node.Of(c))
	old := s.data
	s.cut, s.oldMaster, s.refuses = node.Of(c), uint8(replica), clock.Never
	if config := &k.servers[n-1]; config.MinReplicas > 0 {
		s.refuses = clock.Later(w.Now(), s.clock.After(config.MaxLag))
	}
	k.promote(w, s, n, replica)
	s.replicas[replica] = old
	k.expire(w, nodes)
	return "", nil
}

// CannotSplit says why the master of server n cannot be cut off with client c; "":
// it can. The error is a *table.LimitError.
func (k *Kind) CannotSplit(w node.World, c, n, replica int8) (why string, err error) {
	return k.cannotSplit(k.group.Open(w), c, n, replica)
}

func (k *Kind) cannotSplit(nodes []State, c, n, replica int8) (why string, err error) {
	s := &nodes[n-1]
	switch {
	case s.outage != serving:
		return "refused.server.down", nil
	case s.cut.Has(c):
		return "refused.split.client", nil
	case s.cut != 0 && replica != int8(s.oldMaster):
		return "refused.split.already", nil
	case s.cut == 0 && !k.hasReplica(s, n, replica):
		return "refused.replica.unknown", nil
	case len(nodes)+int(n) > maxNumber:
		return "", table.Limit("limit.split", "server", n, "servers", len(nodes), "most", maxNumber)
	}
	return "", nil
}

// maxNumber is the highest number of a server in a history.
const maxNumber = 8

// heal demotes the old master of a server to a replica of the new one.
func (k *Kind) heal(w node.World, nodes []State, c node.Choice) (why string) {
	switch {
	case c.Node < 1 || int(c.Node) > len(nodes) || nodes[c.Node-1].cut == 0:
		return "refused.split.none"
	case nodes[c.Node-1].outage != serving:
		return "refused.split.newmaster"
	}
	s := &nodes[c.Node-1]
	w.Emit(history.Heal).Node = int(c.Node)
	node.HangUp(w, c.Node, s.cut)
	old := int8(s.oldMaster)
	s.cut, s.oldMaster, s.refuses = 0, 0, 0
	k.catchUp(w, nodes, c.Node, old)
	return ""
}

// side is what a client reaches at server n: its data, and the number by which
// histories call it.
func (k *Kind) side(s *State, n, client int8) (data *Data, number int) {
	if s.cut.Has(client) {
		return k.oldMaster(s, n)
	}
	return &s.data, int(n)
}

// oldMaster is that of server n, which is split. Its number in histories is as far
// behind n as there are servers.
func (k *Kind) oldMaster(s *State, n int8) (data *Data, number int) {
	return &s.replicas[s.oldMaster], len(k.servers) + int(n)
}

// tooFewReplicas says whether the side of server n that a client reaches has too few
// replicas to write.
func (k *Kind) tooFewReplicas(now time.Duration, s *State, n, client int8) bool {
	switch config := &k.servers[n-1]; {
	case s.cut == 0:
		return false
	case s.cut.Has(client):
		return s.refusing(now)
	default:
		return config.Replicas-1 < config.MinReplicas
	}
}

// refuseWrites marks the number of a batch: the server that executes it has too few
// replicas to write.
const refuseWrites = 1 << 31

// reads are the commands that do not write, as Redis's own table has them.
// Scripts may read and are refused at their first write.
var reads = map[string]bool{
	"PING": true, "ECHO": true, "TIME": true, "DBSIZE": true, "KEYS": true, "SCAN": true, "PUBLISH": true,
	"GET": true, "MGET": true, "STRLEN": true, "GETRANGE": true, "EXISTS": true, "TYPE": true, "TOUCH": true,
	"TTL": true, "PTTL": true, "EXPIRETIME": true, "PEXPIRETIME": true,
	"HGET": true, "HMGET": true, "HGETALL": true, "HEXISTS": true, "HLEN": true, "HKEYS": true, "HVALS": true, "HSTRLEN": true,
	"LLEN": true, "LINDEX": true, "LRANGE": true, "LPOS": true,
	"SISMEMBER": true, "SMISMEMBER": true, "SMEMBERS": true, "SCARD": true,
	"ZSCORE": true, "ZMSCORE": true, "ZRANK": true, "ZREVRANK": true, "ZRANGE": true, "ZREVRANGE": true, "ZCARD": true, "ZCOUNT": true,
	"ZRANGEBYSCORE": true, "ZREVRANGEBYSCORE": true,
	"WATCH": true, "UNWATCH": true, "MULTI": true, "EXEC": true, "DISCARD": true,
	"EVAL": true, "EVALSHA": true, "EVAL_RO": true, "EVALSHA_RO": true, "SCRIPT": true,
}

// refuseWrite answers a command on a server that has too few replicas; false: it
// may be executed.
func refuseWrite(peer *server.Peer, cmd string) bool {
	if reads[cmd] {
		return false
	}
	peer.WriteError("NOREPLICAS Not enough good replicas to write.")
	return true
}

// defaultMaxLag is Redis's min-replicas-max-lag.
const defaultMaxLag = 10 * time.Second
