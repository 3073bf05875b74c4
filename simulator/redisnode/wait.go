package redisnode

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
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

// HoldsBack is how long the server of a request holds back the answer at most while replicas
// catch up, of true time; Never if there is no bound.
func (k *Kind) HoldsBack(o *process.Op) time.Duration {
	switch wait := k.batches.At(o.Arg).wait; {
	case wait == nil:
		return 0
	case wait.limit == 0:
		return clock.Never
	default:
		return k.servers[o.Node-1].Clock.After(wait.limit)
	}
}

const noBatch = ^uint32(0)

// waitOf is the WAIT at the end of a batch; nil if there is none.
func (k *Kind) waitOf(commands [][]string) *waitCommand {
	last := commands[len(commands)-1]
	if !strings.EqualFold(last[0], "WAIT") {
		return nil
	}
	k.memo.Waits = true
	c := &waitCommand{before: noBatch, text: append([]string{"WAIT"}, last[1:]...)}
	c.read(last[1:])
	if len(commands) > 1 {
		c.before = k.batches.ID(batch{commands: commands[:len(commands)-1]})
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

// arriveWait is the arrival of a batch that ends with WAIT.
func (k *Kind) arriveWait(w node.World, nodes []State, c, thread int8) (err error) {
	th, o := &w.Client(c).Threads[thread], *w.Op(c, thread)
	wait := k.batches.At(o.Arg).wait
	th.Phase, th.Reply = node.Blocked, 0
	if wait.before != noBatch {
		if th.Reply, err = k.serve(w, nodes, arrival{from: c, to: o.Node, lease: o.Lease, batch: wait.before, msg: th.Msg}); err != nil {
			return err
		}
	}
	s := &nodes[o.Node-1]
	if k.Real != nil {
		_, number := k.side(s, o.Node, c)
		k.Real.Wait(Request{Client: c, Server: number, Msg: th.Msg, Commands: [][]string{wait.text}, behind: s.behind})
	}
	th.Acks, th.Hold = 0, clock.Never
	for i, lacking := range s.lacks {
		if !lacking.Has(c) && !s.cut.Has(c) && k.hasReplica(s, o.Node, int8(i)) {
			th.Acks |= 1 << i
		}
	}
	if wait.limit > 0 {
		th.Hold = clock.Later(w.Now(), s.clock.After(wait.limit))
	}
	if wait.fault != "" || bits.OnesCount8(th.Acks) >= wait.need {
		k.unblock(w, nodes, c, thread)
	}
	return nil
}

// acknowledge says to every client that waits at server n that a replica, from 0,
// has caught up.
func (k *Kind) acknowledge(w node.World, nodes []State, n, replica int8) {
	for c := int8(1); int(c) <= w.Clients(); c++ {
		threads := &w.Client(c).Threads
		for t := range threads {
			th := &threads[t]
			if th.Phase != node.Blocked {
				continue
			}
			o := w.Op(c, int8(t))
			if o.Node != n || nodes[n-1].cut.Has(c) {
				continue
			}
			th.Acks |= 1 << replica
			if bits.OnesCount8(th.Acks) >= k.batches.At(o.Arg).wait.need {
				k.unblock(w, nodes, c, int8(t))
			}
		}
	}
}

// unblock has the server answer a WAIT with the number of replicas so far.
func (k *Kind) unblock(w node.World, nodes []State, c, thread int8) {
	th, o := &w.Client(c).Threads[thread], w.Op(c, thread)
	wait := k.batches.At(o.Arg).wait
	resp := wait.fault
	if resp == "" {
		resp = ":" + strconv.Itoa(bits.OnesCount8(th.Acks)) + "\r\n"
	}
	if k.Real != nil {
		resp = k.Real.Waited(th.Msg, resp)
	}
	e := w.Emit(history.Apply)
	_, number := k.side(&nodes[o.Node-1], o.Node, c)
	e.Client, e.Node, e.Msg = int(c), number, int(th.Msg)
	e.Cmd, e.Reply = wait.text, replyText(resp)
	th.Answer(k.internReply(k.replies.At(th.Reply).resp + resp))
}
