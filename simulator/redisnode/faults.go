package redisnode

import (
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// What can befall a server, n counting from 1. why says why it cannot; then nothing
// has happened. An err is a *table.LimitError.

// Hang has a server stand still for d, or for at most so long; then longest is how long that
// is in the world's steps. What arrives meanwhile is executed afterwards; its clock goes
// on, and keys expire.
func (k *Kind) Hang(w node.World, n int8, d, longest time.Duration) (why string) {
	nodes := k.group.Open(w)
	defer k.close(w, nodes)
	s := &nodes[n-1]
	switch {
	case d <= 0:
		return "refused.hang.length"
	case s.outage != serving:
		return "refused.server.down"
	}
	s.outage, s.until = hung, clock.Later(w.Now(), longest)
	e := w.Emit(history.Hang)
	if e.Node = int(n); !k.servers[n-1].EarlyEnd {
		e.D = d
	}
	return ""
}

// Restart crashes a server, which comes back after d with what it keeps on disk.
// A replica would copy what that has become: until it does, it can still be
// promoted with what it has.
func (k *Kind) Restart(w node.World, n int8, d time.Duration) (why string) {
	nodes := k.group.Open(w)
	defer k.close(w, nodes)
	s := &nodes[n-1]
	switch {
	case s.outage == down:
		return "refused.server.down.already"
	case d < 0:
		return "refused.down.negative"
	}
	w.Emit(history.Down).Node = int(n)
	node.HangUp(w, n, node.All&^s.cut)
	k.replace(w, s, n, k.kept(s, n), history.Disk)
	k.compare(s, n)
	if s.outage, s.until = down, clock.Later(w.Now(), d); d == 0 {
		k.comeBack(w, s, n)
		k.expire(w, nodes)
	}
	return ""
}

// kept is what a server has on disk.
func (k *Kind) kept(s *State, n int8) Data {
	switch k.servers[n-1].AOF {
	case Always:
		return k.bareData(s.data)
	case EverySecond:
		return s.disk
	}
	return Data{}
}

// HasReplica says whether a server has that replica, from 0, to promote.
func (k *Kind) HasReplica(w node.World, n, replica int8) bool {
	return k.hasReplica(&k.group.Open(w)[n-1], n, replica)
}

// Failover puts a replica of a server, from 0, in its place, with what it has heard
// of, no cached scripts, and the connections to the old one broken. The other
// replicas become those of the new server, and a new one takes the place of the
// promoted.
func (k *Kind) Failover(w node.World, n, replica int8) (why string) {
	nodes := k.group.Open(w)
	defer k.close(w, nodes)
	s := &nodes[n-1]
	if !k.hasReplica(s, n, replica) {
		return "refused.replica.unknown"
	}
	e := w.Emit(history.Failover)
	e.Node, e.Replica = int(n), replica
	node.HangUp(w, n, node.All&^s.cut)
	k.promote(w, s, n, replica)
	k.expire(w, nodes)
	return ""
}

// StepClock moves the clock of a server by d, and with it the end of every key that
// has one. A key that ends at the instant to which it jumps still stands, if standing.
func (k *Kind) StepClock(w node.World, n int8, d time.Duration, standing bool) (why string) {
	nodes := k.group.Open(w)
	defer k.close(w, nodes)
	s := &nodes[n-1]
	if why = s.clock.Jump(d); why != "" {
		return why
	}
	e := w.Emit(history.ClockStep)
	e.Node, e.D = int(n), d
	stood := s.standing
	s.standing = standing
	k.expire(w, nodes)
	s.standing = standing || stood
	return ""
}

// JumpsToEnd says whether a jump of the clock of a server by d leads to an instant at which a
// key of its ends.
func (k *Kind) JumpsToEnd(w node.World, n int8, d time.Duration) bool {
	s := k.group.Open(w)[n-1]
	return s.clock.Jump(d) == "" && k.keyIsDue(w.Now(), &s)
}

// Keys calls yield for the keys of a server, in the order of their names, and says
// of each whether it has a time to live.
func (k *Kind) Keys(w node.World, n int8, yield func(name string, expires bool)) {
	for _, key := range k.keyspaces.At(k.group.Open(w)[n-1].data.keyspace).keys {
		yield(key.name, key.expires)
	}
}

// Command has a server execute a command that no client sent; note says why, in the
// history.
func (k *Kind) Command(w node.World, n int8, note string, args ...string) (why string, err error) {
	nodes := k.group.Open(w)
	defer k.close(w, nodes)
	s := &nodes[n-1]
	if s.outage != serving {
		return "refused.server.down", nil
	}
	id, err := k.internBatch(connRef{}, []byte(proto.Strings(args...)))
	if err != nil {
		return "", err
	}
	eff, err := k.apply(&s.data, s.clock.Read(w.Now()), id)
	if err != nil {
		return "", err
	}
	answer := k.execute(0, int(n), 0, id, eff.reply)
	e := w.Emit(history.External)
	e.Node, e.Cmd, e.Reply, e.Note = int(n), k.batches.At(id).text, k.replies.At(answer).text, note
	for i := range eff.changes {
		k.emitChange(w, s, &s.data, 0, int(n), &eff.changes[i])
	}
	if len(eff.changes) > 0 {
		k.leaveBehind(s, n)
	}
	return "", nil
}

// Reject is the answer to a request that is refused with an error, of one line,
// instead of being executed.
func (k *Kind) Reject(batch uint32, err string) (answer uint32, text string) {
	resp := ""
	for range k.batches.At(batch).commands {
		resp += "-" + err + "\r\n"
	}
	return k.internReply(resp), replyText(resp)
}
