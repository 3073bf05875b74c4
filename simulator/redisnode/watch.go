package redisnode

import (
	"bufio"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"
)

// WATCH, MULTI and EXEC are the only commands that leave something on a
// connection. A transaction must come in one write, from MULTI to EXEC, as
// go-redis sends it; so what lasts from one write to the next is which keys a
// connection watches, and whether one has been touched. That is kept in the
// server's keyspace, under the connection's name, and goes with it: a restart or a
// failover begins without.
//
// miniredis decides whether a key has been touched and whether a transaction is
// executed: for each run the connections are set up in it anew.

// gone reports whether the connection that batch b comes on is gone: the server, or the
// one in its place, does not know it.
func (x *Executor) gone(d *Data, b uint32) bool {
	on := x.batches.At(b).on
	return on.known && x.keys(d).conn(on.name) == nil
}

// A transaction is the effect of a batch on the watches of the connection it comes on.
type transaction struct {
	ends    bool     // discards those from before: it has an EXEC, a DISCARD or an UNWATCH
	watches []string // keys that it watches from then on
	unfit   string   // what of it cannot be simulated; "": nothing
}

// transactionOf reads a batch. Unfit is what would leave more than watches, and
// what miniredis does otherwise than Redis: there, between MULTI and EXEC, UNWATCH
// has no effect, and WATCH makes EXEC fail.
func transactionOf(commands [][]string) (t transaction) {
	multi := false
	for _, c := range commands {
		cmd := strings.ToUpper(c[0])
		switch {
		case multi && (cmd == "MULTI" || cmd == "WATCH" || cmd == "UNWATCH" || cmd == "PUBLISH"):
			t.unfit = cmd + " between MULTI and EXEC"
		case !multi && (cmd == "EXEC" || cmd == "DISCARD"):
			t.unfit = cmd + " without a MULTI in the same write"
		case cmd == "MULTI":
			multi = true
		case cmd == "WATCH":
			t.watches = append(t.watches, c[1:]...)
		case cmd == "EXEC" || cmd == "DISCARD":
			multi = false
			fallthrough
		case cmd == "UNWATCH":
			t.ends, t.watches = true, nil
		}
	}
	if multi {
		t.unfit = "MULTI without an EXEC in the same write"
	}
	return t
}

// touch returns the connections after key is written or expires.
func touch(conns []connection, key string) []connection {
	conns = slices.Clone(conns)
	for i := range conns {
		if slices.Contains(conns[i].keys, key) {
			conns[i].keys, conns[i].touched = nil, true
		}
	}
	return conns
}

// connect gives the batch's connection and all others of which keyspace s keeps something
// their peers in miniredis. A batch that has nothing to do with them comes on
// the peer that is always there.
func (e *engine) connect(s *keyspace, b *batch) (conns []connection, peers []*server.Peer, own *server.Peer) {
	own, conns = e.peer, slices.Clone(s.conns)
	if b.on.name != "" && s.conn(b.on.name) == nil {
		conns = append(conns, connection{name: b.on.name})
	}
	for _, c := range conns {
		peer := server.NewPeer(bufio.NewWriter(&e.out))
		switch {
		case c.touched:
			e.send(peer, []string{"WATCH", touchedKey})
			_ = e.m.Set(touchedKey, "") // no other type can be there
			e.m.Del(touchedKey)
		case len(c.keys) > 0:
			e.send(peer, append([]string{"WATCH"}, c.keys...))
		}
		if c.name == b.on.name {
			own = peer
		}
		peers = append(peers, peer)
	}
	return conns, peers, own
}

// touchedKey stands for whichever key it was.
const touchedKey = "\x00touched"

// watching returns the connections after batch b has made keys out of s. A
// FLUSHALL passes miniredis's WATCH by, so that what is gone is looked at as well.
func (e *engine) watching(s *keyspace, keys []keyValue, b *batch, conns []connection, peers []*server.Peer) []connection {
	if len(conns) == 0 {
		return nil
	}
	for i := range s.keys {
		k := &s.keys[i]
		if j := slices.IndexFunc(keys, func(o keyValue) bool { return o.name == k.name }); j < 0 || !k.same(&keys[j]) {
			conns = touch(conns, k.name)
		}
	}
	for i := range conns {
		c := &conns[i]
		if c.name == b.on.name {
			if b.ends {
				c.keys, c.touched = nil, false
			}
			if !c.touched && len(b.watches) > 0 {
				c.keys = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.keys, b.watches))))
			}
		}
		if len(c.keys) > 0 && e.fails(peers[i]) {
			c.keys, c.touched = nil, true
		}
	}
	return slices.DeleteFunc(conns, connection.idle)
}

// fails reports whether a transaction on this connection would fail.
func (e *engine) fails(peer *server.Peer) bool {
	e.send(peer, []string{"MULTI"})
	return e.send(peer, []string{"EXEC"}) == proto.NilList
}
