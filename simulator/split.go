package simulator

import (
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// Split brain: the master of a server is cut off, with some clients, and does
// not know it; a replica is promoted and serves the others. The old master's
// data is kept in the place of the promoted replica. When the network heals it
// becomes a replica, and what it was told meanwhile is gone.
//
// What bounds it is min-replicas-to-write: a master that has not heard of so
// many replicas for min-replicas-max-lag refuses writes (redis.io, operate,
// replication). Ours differs: the lag runs from the cut to the instant, where
// Redis counts in whole seconds; nothing but a split keeps a replica unheard of.

// Split cuts the master of server n off, with client c, and promotes a replica,
// from 0. If that is so already, one more client is cut off with it.
func (m FaultContext) Split(c, n, replica int8) (why string) {
	if why := m.cannotSplit(c, n, replica); why != "" {
		return why
	}
	if err := m.unnumbered(n); err != nil {
		m.sim.room.Exceeded = err
		return err.Error()
	}
	node := &m.w.nodes[n-1]
	e := m.sim.emit(m.w, history.Split)
	e.Client, e.Node, e.Replica = int(c), int(n), replica
	if node.cut != 0 {
		m.hangUp(n, 1<<(c-1))
		node.cut |= 1 << (c - 1)
		return ""
	}
	m.hangUp(n, ^clientSet(1<<(c-1)))
	old, promoted := node.data, &m.sim.copiesOf(m.w, int(n-1))[replica]
	node.cut, node.stray, node.refuses = 1<<(c-1), uint8(replica), clock.Never
	if s := &m.sim.setup.Nodes[n-1]; s.MinReplicas > 0 {
		node.refuses = clock.Later(m.w.now, node.clock.After(s.MaxLag))
	}
	m.promote(node, n, replica)
	*promoted = old
	m.sim.expire(m.w)
	return ""
}

// CanSplit says whether the master of server n can be cut off with client c.
func (m FaultContext) CanSplit(c, n, replica int) bool {
	if m.cannotSplit(int8(c), int8(n), int8(replica)) != "" {
		return false
	}
	if err := m.unnumbered(int8(n)); err != nil {
		m.sim.unsaid = err
		return false
	}
	return true
}

// unnumbered is a *LimitError if the old master of server n cannot be named.
func (m FaultContext) unnumbered(n int8) error {
	if m.Nodes()+int(n) <= maxNumber {
		return nil
	}
	return table.Limit("the old master of server %d of %d would need a number, and histories have none above that of server %d: give fewer servers, or no split", n, m.Nodes(), maxNumber)
}

func (m FaultContext) cannotSplit(c, n, replica int8) (why string) {
	node, why := m.node(n)
	switch {
	case why != "":
		return why
	case c < 1 || int(c) > len(m.sim.procs):
		return "there is no such client"
	case node.out != serving:
		return "the server does not run"
	case node.cut.has(c):
		return "the client is cut off with the old master already"
	case node.cut != 0 && replica != int8(node.stray):
		return "the server is split already, by another replica"
	case node.cut == 0 && !m.HasReplica(int(n), int(replica)):
		return "the server has no such replica"
	}
	return ""
}

// maxNumber is the highest number of a server in a history.
const maxNumber = 8

// heal demotes the old master of a server to a replica of the new one.
func (l *Simulator) heal(w *World, c Choice) error {
	switch {
	case c.Node < 1 || int(c.Node) > len(l.setup.Nodes) || w.nodes[c.Node-1].cut == 0:
		return l.refuse(w, c, "no such server is split")
	case w.nodes[c.Node-1].out != serving:
		return l.refuse(w, c, "the new master does not run")
	}
	node := &w.nodes[c.Node-1]
	l.emit(w, history.Heal).Node = int(c.Node)
	FaultContext{l, w}.hangUp(c.Node, node.cut)
	stray := int8(node.stray)
	node.cut, node.stray, node.refuses = 0, 0, 0
	l.catchUp(w, c.Node, stray)
	return nil
}

// side is what a client reaches at server n, from 0: its data, and the number by
// which histories call it. While the old master lives on, that is as far behind
// n's as there are servers.
func (l *Simulator) side(w *World, n int, client int8) (data *dataState, number int) {
	if node := &w.nodes[n]; node.cut.has(client) {
		return l.stray(w, n)
	}
	return &w.nodes[n].data, n + 1
}

// stray is the old master of server n, from 0, which is split.
func (l *Simulator) stray(w *World, n int) (data *dataState, number int) {
	return &l.copiesOf(w, n)[w.nodes[n].stray], len(l.setup.Nodes) + n + 1
}

// refusing says whether the side of server n, from 0, that a client reaches has
// too few replicas to write.
func (l *Simulator) refusing(w *World, n int, client int8) bool {
	node, s := &w.nodes[n], &l.setup.Nodes[n]
	switch {
	case node.cut == 0:
		return false
	case node.cut.has(client):
		return node.refuses <= w.now
	}
	return s.Replicas-1 < s.MinReplicas
}

// refusing, in the number of a batch, has it executed by a server that refuses
// to write.
const refusing = 1 << 31

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

// refuseWrite answers a command of a server that has too few replicas; false: it
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
