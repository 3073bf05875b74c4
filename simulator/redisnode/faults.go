package redisnode

import (
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// What can befall a server, n counting from 1. why says why it cannot; then nothing
// has happened. An err is a *intern.LimitError.

// Hang has a server stand still for d, or for at most so long; then longest is that time
// in the world's steps. What arrives meanwhile is executed afterwards; its clock goes
// on, and keys expire.
func (k *Kind) Hang(w node.World, n int8, d, longest time.Duration) (why string) {
	s := k.at(w, n)
	defer k.close(w)
	switch {
	case d <= 0:
		return "refused.hang.length"
	case s.outage != serving:
		return "refused.server.down"
	}
	s.outage, s.until = hung, clock.Later(s.now, longest)
	if e := s.emit(history.Hang); !s.config.EarlyEnd {
		e.D = d
	}
	return ""
}

// Restart crashes a server, which comes back after d with what it keeps on disk.
// A replica would copy what that has become: until it does, it can still be
// promoted with what it has.
func (k *Kind) Restart(w node.World, n int8, d time.Duration) (why string) {
	s := k.at(w, n)
	defer k.close(w)
	switch {
	case s.outage == down:
		return "refused.server.down.already"
	case d < 0:
		return "refused.down.negative"
	}
	s.emit(history.Down)
	node.HangUp(w, n, history.AllClients&^s.cut)
	kept := Data{}
	switch s.config.AOF {
	case Always:
		kept = s.x.bareData(s.data)
	case EverySecond:
		kept = s.copies[s.config.Replicas]
	}
	s.replace(kept, history.Disk)
	s.compare()
	if s.outage, s.until = down, clock.Later(s.now, d); d == 0 {
		s.comeBack()
		s.expire()
	}
	return ""
}

// HasReplica reports whether a server has that replica, from 0, to promote.
func (k *Kind) HasReplica(w node.World, n, replica int8) bool { return k.at(w, n).hasReplica(replica) }

// Failover puts a replica of a server, from 0, in its place, with what it has received,
// no cached scripts, and the connections to the old one broken. The other
// replicas become those of the new server, and a new one takes the place of the
// promoted.
func (k *Kind) Failover(w node.World, n, replica int8) (why string) {
	s := k.at(w, n)
	defer k.close(w)
	if !s.hasReplica(replica) {
		return "refused.replica.unknown"
	}
	s.emit(history.Failover).Replica = replica
	node.HangUp(w, n, history.AllClients&^s.cut)
	s.promote(replica)
	s.expire()
	return ""
}

// StepClock moves the clock of a server by d, and with it the end of every key that
// has one. The end of a key at the instant to which it jumps is pending, if that is so.
func (k *Kind) StepClock(w node.World, n int8, d time.Duration, pending bool) (why string) {
	s := k.at(w, n)
	defer k.close(w)
	if why = s.clock.Jump(d); why != "" {
		return why
	}
	s.emit(history.ClockStep).D = d
	was := s.pending
	s.pending = pending
	s.expire()
	s.pending = pending || was
	return ""
}

// JumpsToEnd reports whether a jump of the clock of a server by d leads to an instant at which a
// key of its ends.
func (k *Kind) JumpsToEnd(w node.World, n int8, d time.Duration) bool {
	s := *k.at(w, n).State
	return s.clock.Jump(d) == "" && k.alone(w.Now(), &s, n).keyEndsNow()
}

// Keys calls yield for the keys of a server, in the order of their names, with
// whether each has a time to live.
func (k *Kind) Keys(w node.World, n int8, yield func(name string, expires bool)) {
	for _, key := range k.Executor.keys(&k.at(w, n).data).keys {
		yield(key.name, key.expires)
	}
}

// Command has a server execute a command that no client sent; note says why, in the
// history.
func (k *Kind) Command(w node.World, n int8, note string, args ...string) (why string, err error) {
	s := k.at(w, n)
	defer k.close(w)
	if s.outage != serving {
		return "refused.server.down", nil
	}
	id, err := s.x.internBatch(connRef{}, []byte(proto.Strings(args...)))
	if err != nil {
		return "", err
	}
	eff, answer, err := s.own().execute(0, 0, id)
	if err != nil {
		return "", err
	}
	e := s.emit(history.External)
	e.Cmd, e.Reply, e.Note = s.x.batches.At(id).text, s.x.replies.At(answer).text, note
	for i := range eff.Changes {
		s.own().emitChange(0, &eff.Changes[i])
	}
	if len(eff.Changes)+len(eff.stood) > 0 {
		s.leaveBehind()
	}
	return "", nil
}

// Reject returns the answer to a request that is refused with an error, of one line,
// instead of being executed.
func (k *Kind) Reject(batch uint32, err string) (answer uint32, text string) {
	resp := strings.Repeat("-"+err+"\r\n", len(k.Executor.batches.At(batch).commands))
	return k.Executor.internReply(resp), ReplyText(resp)
}
