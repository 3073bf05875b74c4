package redisnode

import (
	"bufio"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// WAIT n ms answers with the number of replicas that have all that the server had written when it executed
// the client's last command, also if that wrote nothing: at once if they are n or more, else as soon as they
// are, or after ms, 0 being for ever (redis.io, commands/wait). It is never an error to be too few: the
// caller must compare. A miniredis has no replication, so this package answers it.
//
// The simulation differs from Redis: what counts is the client's last command to that server, by whichever connection,
// since it last lost its connections; Redis looks at the one connection. The time runs on the server's clock, without
// its jumps. WAIT may stand alone or at the end of a pipeline; in a script it is refused.
type waitCommand struct {
	need   int
	limit  time.Duration // 0: for ever
	before uint32        // the batch of what comes before it in the pipeline; nothing: noBatch
	text   []string      // as histories show it
	fault  string        // it cannot be read: the answer, in RESP
}

const noBatch = ^uint32(0)

// waitOf is the WAIT at the end of a batch; nil if there is none.
func (x *Executor) waitOf(commands [][]string) *waitCommand {
	last := commands[len(commands)-1]
	if !strings.EqualFold(last[0], "WAIT") {
		return nil
	}
	x.memo.Waits = true
	c := &waitCommand{before: noBatch, text: append([]string{"WAIT"}, last[1:]...)}
	c.read(last[1:])
	if len(commands) > 1 {
		c.before = x.batches.ID(batch{commands: commands[:len(commands)-1]})
	}
	return c
}

func (c *waitCommand) read(args []string) {
	if len(args) != 2 {
		c.fault = "-ERR wrong number of arguments for 'wait' command\r\n"
		return
	}
	need, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		c.fault = "-ERR value is not an integer or out of range\r\n"
		return
	}
	ms, err := strconv.ParseInt(args[1], 10, 64)
	switch {
	case err != nil:
		c.fault = "-ERR timeout is not an integer or out of range\r\n"
	case ms < 0:
		c.fault = "-ERR timeout is negative\r\n"
	}
	c.need = int(need)
	c.limit = clock.Never
	if ms < clock.EndOfTime.Milliseconds() {
		c.limit = time.Duration(ms) * time.Millisecond
	}
}

// await answers a WAIT at the end of the request, or has the thread wait for the answer.
func (r request) await(wait *waitCommand) (err error) {
	s, th := r.at, r.th
	th.Phase, th.Reply = node.Blocked, 0
	if wait.before != noBatch {
		if th.Reply, err = r.serve(wait.before); err != nil {
			return err
		}
	}
	if real := s.kind.Real; real != nil {
		text := [][]string{wait.text}
		real.Wait(Request{Client: r.c, Server: s.side(r.c).number, Msg: r.msg, Commands: text, behind: s.behind})
	}
	th.Acks, th.Hold = 0, clock.Never
	for i, lacking := range s.lacks {
		if !lacking.Has(uint8(r.c)) && !s.cut.Has(uint8(r.c)) && s.hasReplica(s.config, int8(i)) {
			th.Acks |= 1 << i
		}
	}
	if wait.limit > 0 {
		th.Hold = clock.Later(0, s.clock.After(wait.limit))
	}
	if wait.fault != "" || bits.OnesCount8(th.Acks) >= wait.need {
		r.unblock()
	}
	return nil
}

// acknowledge counts a replica, from 0, that has caught up for every client that waits at the server.
func (s *instance) acknowledge(replica int8) {
	for r := range s.requests {
		if r.th.Phase != node.Blocked || s.cut.Has(uint8(r.c)) {
			continue
		}
		r.th.Acks |= 1 << replica
		if bits.OnesCount8(r.th.Acks) >= r.batch().wait.need {
			r.unblock()
		}
	}
}

// unblock has the server answer a WAIT with the number of replicas so far.
func (r request) unblock() {
	s, th, wait := r.at, r.th, r.batch().wait
	resp := wait.fault
	if resp == "" {
		resp = ":" + strconv.Itoa(bits.OnesCount8(th.Acks)) + "\r\n"
	}
	if s.kind.Real != nil {
		resp = s.kind.Real.Waited(r.msg, resp)
	}
	e := s.side(r.c).emit(history.Apply, r.c)
	e.Msg, e.Cmd, e.Reply = int(r.msg), wait.text, ReplyText(resp)
	th.Answer(s.x.internReply(s.x.replies.At(th.Reply).resp + resp))
}

// WATCH, MULTI and EXEC are the only commands that leave something on a connection. A transaction must come in one
// write, from MULTI to EXEC, as go-redis sends it; so what lasts from one write to the next is which keys a connection
// watches, and whether one has been touched. That is kept in the server's keyspace, under the connection's name, and
// goes with it: a restart or a failover begins without.
//
// miniredis decides if a key was touched and if a transaction is executed: each run sets up its connections anew.

// gone reports whether the connection of batch b is gone: the server, or the one in its place, does not know it.
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

// transactionOf reads a batch. Unfit is what would leave more than watches, and what miniredis does otherwise than
// Redis: there, between MULTI and EXEC, UNWATCH has no effect, and WATCH makes EXEC fail.
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

// connect gives the batch's connection, which it returns, and all others of which keyspace s keeps something their
// peers in miniredis. A batch that has nothing to do with them comes on the peer that is always there.
func (e *engine) connect(s *keyspace, b *batch) (own *server.Peer) {
	own, e.conns, e.peers = e.peer, slices.Clone(s.conns), nil
	if b.on.name != "" && s.conn(b.on.name) == nil {
		e.conns = append(e.conns, connection{name: b.on.name})
	}
	for _, c := range e.conns {
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
		e.peers = append(e.peers, peer)
	}
	return own
}

// touchedKey stands for whichever key it was.
const touchedKey = "\x00touched"

// watching returns the connections after batch b has made keyspace to out of s. A
// FLUSHALL passes miniredis's WATCH by, so that what is gone is looked at as well.
func (e *engine) watching(s, to *keyspace, b *batch) []connection {
	if len(e.conns) == 0 {
		return nil
	}
	conns := e.conns
	for i := range s.keys {
		if k := to.find(s.keys[i].name); k == nil || !k.same(&s.keys[i]) {
			conns = touch(conns, s.keys[i].name)
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
		if len(c.keys) > 0 && e.fails(e.peers[i]) {
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
