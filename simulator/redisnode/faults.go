package redisnode

import (
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// strike has a fault happen to the server.
//
// While it hangs, what arrives is executed afterwards; its clock goes on, and keys expire. The replica that takes its
// place has what it has received, no cached scripts, and the connections to the old server are broken. The other
// replicas become those of the new server, and a new one takes the place of the promoted.
func (s *instance) strike(e node.Input) error {
	switch d, replica := e.Choice.D, e.Choice.Thread; e.What {
	case node.Hang:
		if s.outage != serving {
			return node.Refuse("refused.server.down")
		}
		s.outage, s.until = hung, clock.Later(s.now, d)
		if e := s.emit(history.Hang); !s.config.EarlyEnd {
			e.D = d
		}
		return nil
	case node.Failover:
		if !s.hasReplica(s.config, replica) {
			return node.Refuse("refused.replica.unknown")
		}
		s.emit(history.Failover).Replica = replica
		node.HangUp(s.w, s.n, history.AllClients&^s.cut)
		s.promote(replica)
		s.expire()
		return nil
	case node.Restart:
		return s.restart(d)
	case node.Split:
		return s.split(e.Choice.Client, replica)
	case node.StepClock:
		return s.stepClock(d, e.Pending)
	}
	return s.command(e.Note, e.Command)
}

// restart crashes the server, which comes back after d with what it keeps on disk. A replica would copy what that has
// become: until it does, it can still be promoted with what it has.
func (s *instance) restart(d time.Duration) error {
	switch {
	case s.outage == down:
		return node.Refuse("refused.server.down.already")
	case d < 0:
		return node.Refuse("refused.down.negative")
	}
	s.emit(history.Down)
	node.HangUp(s.w, s.n, history.AllClients&^s.cut)
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
	return nil
}

// HasReplica reports whether a server has that replica, from 0, to promote.
func (k *Kind) HasReplica(state node.State, n, replica int8) bool {
	s, _ := state.(State)
	return s.hasReplica(k.servers[n-1].config, replica)
}

// stepClock moves the clock of the server by d, and with it the end of every key that
// has one. The end of a key at the instant to which it jumps is pending, if that is so.
func (s *instance) stepClock(d time.Duration, pending bool) error {
	if why := s.clock.Jump(d); why != "" {
		return node.Refuse(why)
	}
	s.emit(history.ClockStep).D = d
	was := s.pending
	s.pending = pending
	s.expire()
	s.pending = pending || was
	return nil
}

// JumpsToEnd reports whether a jump of the clock of a server by d leads to an instant at which a key of its ends.
func (k *Kind) JumpsToEnd(now time.Duration, state node.State, d time.Duration) bool {
	s, _ := state.(State)
	return s.clock.Jump(d) == "" && k.alone(now, &s, 0).keyEndsNow()
}

// Keys calls yield for the keys of a server at now, in the order of their names.
func (k *Kind) Keys(now time.Duration, state node.State, yield func(name string, expires bool, left time.Duration)) {
	s, _ := state.(State)
	keys, present := k.Executor.keys(&s.data), clock.Millis(s.clock.Read(now))
	for at, key := range keys.keys {
		left := clock.Never
		if place := slices.Index(keys.ttls, at); place >= 0 {
			left = time.Duration(s.data.deadline[place]-present) * time.Millisecond
		}
		yield(key.name, key.expires, left)
	}
}

// command has the server execute a command that no client sent; note says why, in the history.
func (s *instance) command(note string, args []string) error {
	if s.outage != serving {
		return node.Refuse("refused.server.down")
	}
	id, err := s.x.internBatch(connRef{}, []byte(proto.Strings(args...)))
	if err != nil {
		return err
	}
	eff, answer, err := s.own().execute(0, 0, id)
	if err != nil {
		return err
	}
	e := s.emit(history.External)
	e.Cmd, e.Reply, e.Note = s.x.batches.At(id).text, s.x.replies.At(answer).text, note
	for i := range eff.Changes {
		s.own().emitChange(0, &eff.Changes[i])
	}
	if len(eff.Changes)+len(eff.stood) > 0 {
		s.leaveBehind()
	}
	return nil
}

// Reject returns the answer to a request that is refused with an error, of one line, instead of being executed.
func (k *Kind) Reject(batch uint32, err string) (answer uint32, text string) {
	resp := strings.Repeat("-"+err+"\r\n", len(k.Executor.batches.At(batch).commands))
	return k.Executor.internReply(resp), ReplyText(resp)
}
