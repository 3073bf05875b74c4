package simulator

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
)

// WAIT n ms answers with the number of replicas that have what the client wrote
// before it: at once if they are n or more, else as soon as they are, or after
// ms, 0 being for ever (redis.io, commands/wait). It is never an error to be too
// few: the caller must compare. The lab answers it, since replication is the
// lab's: a miniredis has none.
//
// Ours differs: what counts is what the client wrote to that server, by whichever
// connection, since it last lost its connections; Redis looks at the one
// connection. The time runs on the server's clock, without its jumps. WAIT may
// stand alone or at the end of a pipeline; in a script it is refused.
type waitCommand struct {
	need   int
	limit  time.Duration // 0: for ever
	before uint32        // the batch of what comes before it in the pipeline; nothing: noBatch
	text   []string      // as histories show it
	fault  string        // it cannot be read: the answer, in RESP
}

const noBatch = ^uint32(0)

// waitOf is the WAIT at the end of a batch; nil if there is none.
func (t *redisTable) waitOf(commands [][]string) (*waitCommand, error) {
	last := commands[len(commands)-1]
	if !strings.EqualFold(last[0], "WAIT") {
		return nil, nil
	}
	t.waited = true
	c := &waitCommand{before: noBatch, text: append([]string{"WAIT"}, last[1:]...)}
	c.read(last[1:])
	if len(commands) == 1 {
		return c, nil
	}
	var wire strings.Builder
	for _, args := range commands[:len(commands)-1] {
		wire.WriteString(proto.Strings(args...))
	}
	var err error
	c.before, err = t.internBatch(link{}, []byte(wire.String()))
	return c, err
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
func (l *Simulator) arriveWait(w *World, c Choice, th *threadState, o op) (err error) {
	wait := l.table.batches[o.batch].wait
	th.phase, th.reply = blocked, 0
	if wait.before != noBatch {
		before := o
		before.batch = wait.before
		if th.reply, err = l.serve(w, before, c.Client, th.msg); err != nil {
			return err
		}
	}
	node := &w.nodes[o.node-1]
	th.acks, th.hold = 0, clock.Never
	for i, lacking := range node.lacks {
		if !lacking.has(c.Client) && !node.cut.has(c.Client) && (FaultContext{l, w}).HasReplica(int(o.node), i) {
			th.acks |= 1 << i
		}
	}
	if wait.limit > 0 {
		th.hold = clock.Later(w.now, node.clock.After(wait.limit))
	}
	if wait.fault != "" || th.acks.size() >= wait.need {
		l.unblock(w, c, th)
	}
	return nil
}

// acknowledge tells whoever waits at server n, from 1, that a replica, from 0,
// has caught up.
func (l *Simulator) acknowledge(w *World, n, replica int8) {
	for i := range l.procs {
		p := &w.procs[i]
		for t := range p.threads {
			th, c := &p.threads[t], Choice{Client: int8(i + 1), Thread: int8(t)}
			if th.phase != blocked {
				continue
			}
			o := l.op(w, c)
			if o.node != n || w.nodes[n-1].cut.has(c.Client) {
				continue
			}
			th.acks |= 1 << replica
			if th.acks.size() >= l.table.batches[o.batch].wait.need {
				l.unblock(w, c, th)
			}
		}
	}
}

// unblock has the server answer a WAIT with what there is.
func (l *Simulator) unblock(w *World, c Choice, th *threadState) {
	o := l.op(w, c)
	wait := l.table.batches[o.batch].wait
	resp := wait.fault
	if resp == "" {
		resp = ":" + strconv.Itoa(th.acks.size()) + "\r\n"
	}
	e := l.emit(w, history.Apply)
	_, number := l.side(w, int(o.node-1), c.Client)
	e.Client, e.Node, e.Msg = int(c.Client), number, int(th.msg)
	e.Cmd, e.Reply = wait.text, replyText(resp)
	th.answer(l.table.internReply(l.table.replies[th.reply].resp + resp))
}

func (s copySet) size() int { return bits.OnesCount8(uint8(s)) }
