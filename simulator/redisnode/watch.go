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

// watch is one connection that watches keys.
type watch struct {
	conn    string   // its name: see connectionName
	keys    []string // sorted; none when touched: they do not matter any more
	touched bool     // one of them has been written or has expired: EXEC is to fail
}

// gone reports whether the connection that batch b comes on is gone: the server, or the
// one in its place, does not know it.
func (x *Executor) gone(d *Data, b uint32) bool {
	on := x.batches.At(b).on
	s := x.keys(d)
	return on.known && !slices.ContainsFunc(s.watches, func(w watch) bool { return w.conn == on.name }) && s.subscriber(on.name) == nil
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

// touch returns the watches after key is written or expires.
func touch(watches []watch, key string) []watch {
	watches = slices.Clone(watches)
	for i, w := range watches {
		if slices.Contains(w.keys, key) {
			watches[i] = watch{conn: w.conn, touched: true}
		}
	}
	return watches
}

// connect gives the batch's connection and all others that watch in keyspace s
// their peers in miniredis. A batch that has nothing to do with watches comes on
// the peer that is always there.
func (e *engine) connect(s *keyspace, b *batch) (watches []watch, peers []*server.Peer, own *server.Peer) {
	own, watches = e.peer, slices.Clone(s.watches)
	if b.on.name != "" && !slices.ContainsFunc(watches, func(w watch) bool { return w.conn == b.on.name }) {
		watches = append(watches, watch{conn: b.on.name})
	}
	for _, w := range watches {
		peer := server.NewPeer(bufio.NewWriter(&e.out))
		switch {
		case w.touched:
			e.send(peer, []string{"WATCH", touchedKey})
			_ = e.m.Set(touchedKey, "") // no other type can be there
			e.m.Del(touchedKey)
		case len(w.keys) > 0:
			e.send(peer, append([]string{"WATCH"}, w.keys...))
		}
		if w.conn == b.on.name {
			own = peer
		}
		peers = append(peers, peer)
	}
	return watches, peers, own
}

// touchedKey stands for whichever key it was.
const touchedKey = "\x00touched"

// watching returns what connections watch after batch b has made keys out of s. A
// FLUSHALL passes miniredis's WATCH by, so that what is gone is looked at as well.
func (e *engine) watching(s *keyspace, keys []keyValue, b *batch, watches []watch, peers []*server.Peer) (after []watch) {
	if len(watches) == 0 {
		return nil
	}
	for i := range s.keys {
		k := &s.keys[i]
		if j := slices.IndexFunc(keys, func(o keyValue) bool { return o.name == k.name }); j < 0 || !k.same(&keys[j]) {
			watches = touch(watches, k.name)
		}
	}
	for i, w := range watches {
		if w.conn == b.on.name {
			if b.ends {
				w = watch{conn: w.conn}
			}
			if !w.touched && len(b.watches) > 0 {
				w.keys = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.keys, b.watches))))
			}
		}
		if len(w.keys) > 0 && e.fails(peers[i]) {
			w = watch{conn: w.conn, touched: true}
		}
		if w.touched || len(w.keys) > 0 {
			after = append(after, w)
		}
	}
	return after
}

// fails reports whether a transaction on this connection would fail.
func (e *engine) fails(peer *server.Peer) bool {
	e.send(peer, []string{"MULTI"})
	return e.send(peer, []string{"EXEC"}) == proto.NilList
}
