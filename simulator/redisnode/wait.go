package redisnode

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// WAIT n ms answers with the number of replicas that have all that the server had written when
// it executed the client's last command, also if that wrote nothing: at once if they are n or more, else as soon as they are, or after
// ms, 0 being for ever (redis.io, commands/wait). It is never an error to be too
// few: the caller must compare. A miniredis has no replication, so this package
// answers it.
//
// The simulation differs from Redis: what counts is the client's last command to that
// server, by whichever connection, since it last lost its connections; Redis looks
// at the one connection. The time runs on the server's clock, without its jumps.
// WAIT may stand alone or at the end of a pipeline; in a script it is refused.
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
		if th.Reply, err = s.serve(r.arrival(wait.before)); err != nil {
			return err
		}
	}
	if real := s.kind.Real; real != nil {
		text := [][]string{wait.text}
		real.Wait(Request{Client: r.c, Server: s.side(r.c).number, Msg: th.Msg, Commands: text, behind: s.behind})
	}
	th.Acks, th.Hold = 0, clock.Never
	for i, lacking := range s.lacks {
		if !lacking.Has(r.c) && !s.cut.Has(r.c) && s.copies().has(int8(i)) {
			th.Acks |= 1 << i
		}
	}
	if wait.limit > 0 {
		th.Hold = clock.Later(s.now, s.clock.After(wait.limit))
	}
	if wait.fault != "" || bits.OnesCount8(th.Acks) >= wait.need {
		r.unblock()
	}
	return nil
}

// acknowledge counts a replica, from 0, that has caught up for every client that waits at the
// server.
func (s *instance) acknowledge(replica int8) {
	for r := range s.requests {
		if r.th.Phase != node.Blocked || s.cut.Has(r.c) {
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
		resp = s.kind.Real.Waited(th.Msg, resp)
	}
	e := s.w.Emit(history.Apply)
	e.Client, e.Node, e.Msg = int(r.c), s.side(r.c).number, int(th.Msg)
	e.Cmd, e.Reply = wait.text, ReplyText(resp)
	th.Answer(s.x.internReply(s.x.replies.At(th.Reply).resp + resp))
}
