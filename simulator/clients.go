package simulator

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

// clients are the clients of a simulator: their code, what it waits for, and by when.
type clients struct {
	config *Config
	procs  []*process.Process
	words  node.Words  // of the servers' kind
	traits node.Traits // likewise
}

// op returns the operation that a thread of client c waits for.
func (all *clients) op(c int8, p *node.ClientProcess, thread int) *process.Op {
	return &all.entry(c, p).Ops[thread]
}

// entry returns the history of client c, with what its code does next.
func (all *clients) entry(c int8, p *node.ClientProcess) *process.Entry {
	return all.procs[c-1].At(p.At)
}

// cmd returns the command of an operation, as histories show it; nil: it asks none.
func (all *clients) cmd(o *process.Op) []string {
	if o.Kind.ToServer() {
		return all.words.Of(o).Words(o.Arg)
	}
	return nil
}

// opText names what a process asks a server for, for an error message.
func (all *clients) opText(o *process.Op) string {
	if o.Kind == process.Watch {
		return fmt.Sprintf("wait %v for a watch on %q", o.D, all.words.Of(o).Words(o.Arg)[0])
	}
	return fmt.Sprintf("%q to n%d", all.cmd(o), o.Node)
}

// patience is the time-out of an operation, on the client's own clock.
func (all *clients) patience(o *process.Op) time.Duration {
	switch {
	case o.D > 0: // the code has said how long
		return o.D
	case o.Kind.ToServer() && all.traits.Patience > 0:
		return all.traits.Patience
	}
	return all.config.Timeout
}

// latency is the longest time that a message of an operation of client c is on its way; without a Timing the shortest.
func (all *clients) latency(c int8, o *process.Op) time.Duration {
	switch {
	case !o.Kind.ToServer() || all.config.Clients[c-1].Near:
		return 0
	case all.config.Timing == nil:
		return all.config.Travel
	}
	return all.config.Timing.Latency
}

// enabled appends what can happen to client c now without a look at any server.
func (all *clients) enabled(p *node.ClientProcess, c int8, buf []Choice) []Choice {
	if p.Dead {
		return buf
	}
	stopped, branching := p.Stopped(), all.entry(c, p).Branching()
	if (p.Paused || stopped > 0) && (p.Open || p.Until == 0) {
		buf = append(buf, Choice{Verb: Resume, Client: c, Thread: stopped})
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		ch := Choice{Verb: nextOf(th), Client: c, Thread: int8(t)}
		stands := p.Stands(t) || branching >= 0 && t != branching
		if stands && ch.Verb != Arrive && ch.Verb != Unblock { // the network goes on
			continue
		}
		if ch.Verb != 0 {
			buf = append(buf, ch)
		}
		if stands {
			continue
		}
		if ch.Verb == Wake || ch.Verb == Start {
			for way := range all.otherWays(p, c, t) {
				buf = append(buf, Choice{Verb: Choose, Client: c, Thread: int8(t), Node: way + 1})
			}
		}
		if th.Broken {
			buf = append(buf, Choice{Verb: Survive, Client: c, Thread: int8(t)})
		}
		if th.Phase.Waiting() && all.impatient(p, c, t) <= 0 {
			buf = append(buf, Choice{Verb: GiveUp, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// nextOf is the verb by which the pending operation of a thread goes on now; 0: there is none.
func nextOf(th *node.Thread) Verb {
	switch {
	case th.Held():
	case th.Phase == node.Unborn:
		return Start
	case th.Phase == node.Asking:
		return Arrive
	case th.Phase == node.Blocked:
		return Unblock
	case th.Phase == node.Answered:
		return Answer
	case th.Phase == node.Asleep && th.Due == 0:
		return Wake
	}
	return 0
}

// otherWays is the number of other ways than by its waking in which client c's sleeping, or branching, thread may
// go on, or of other clocks than one that is right with which its program may begin.
func (all *clients) otherWays(p *node.ClientProcess, c int8, thread int) int8 {
	switch o := all.op(c, p, thread); {
	case o.Kind == process.Idle, o.Kind == process.Branch:
		return int8(o.Arg)
	case o.Kind == process.Begin && p.At == 0:
		return int8(len(all.config.Clients[c-1].Skews))
	}
	return 0
}

// due is the time until a client's next own deadline; Never if it has none. In a pause network and servers go on.
func (all *clients) due(p *node.ClientProcess, c int8) time.Duration {
	next := Never
	if p.Paused || p.Stopped() > 0 {
		next = p.Until
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		stands := p.Stands(t)
		if !stands {
			next = min(next, all.timerDue(p, c, t))
		}
		switch {
		case th.Phase == node.Blocked:
			next = min(next, th.Hold)
		case th.Broken && !stands:
			next = min(next, all.config.Timing.messageDue(0, th.Latest))
		case th.Broken:
		case th.Phase == node.Asking, th.Phase == node.Answered && !stands:
			next = min(next, all.config.Timing.messageDue(th.Hold, th.Latest))
		case th.Hold > 0:
			next = min(next, th.Hold)
		}
	}
	return next
}

// timerDue is the time until a thread may go on by its clock and, once it may, within which it has to.
func (all *clients) timerDue(p *node.ClientProcess, c int8, thread int) time.Duration {
	th := &p.Threads[thread]
	asleep := th.Phase == node.Asleep
	switch {
	case th.Phase == node.Unborn && all.config.Timing != nil:
		return th.Latest
	case !asleep && !th.Phase.Waiting():
		return Never
	case !asleep:
		if from := all.impatient(p, c, thread); from > 0 {
			return from
		}
		return th.Due
	case all.config.Timing == nil || th.Due > 0:
		return th.Due
	}
	return th.Latest
}

// impatient is the time after which client c's thread may give up waiting for an answer; below 0: for so long it may.
func (all *clients) impatient(p *node.ClientProcess, c int8, thread int) time.Duration {
	th := &p.Threads[thread]
	switch {
	case all.config.Timing == nil:
		return th.Due
	case all.op(c, p, thread).Open:
		return 0
	case th.Due == Never:
		return Never
	}
	return th.Due - all.config.Timing.Lateness
}

// A Client is what a program has of the world: connections or a session, and with the methods of
// its Code a clock, tokens and a place to record what it is about to do; and the protected
// resource. A program must observe nothing else, and keep nothing outside its own variables.
//
// Rest, RestFor and WithDeadline need a Timing of the simulator. The program records what it does
// itself: Acquire, Enter, Refuse, Leave, Release, Released, Done.
type Client struct{ *process.Code }

// Clock is a client's own clock; see process.Clock.
type Clock = process.Clock

// Redis returns the client's connection pool to server n, from 1. It belongs to the simulator; do not close it.
func (c *Client) Redis(n int) *redis.Client {
	connections, ok := c.Library().(*redisnode.Connections)
	if !ok {
		panic("there is no Redis: the server is another one")
	}
	return connections.Client(n)
}

// ZooKeeper returns the client's session with the ensemble; nil if the server is none.
func (c *Client) ZooKeeper() *zookeeper.Session {
	session, _ := c.Library().(*zookeeper.Session)
	return session
}

// A view is a world together with the tables of its simulator: what its servers see, as a
// node.World, what a fault strikes, and where a choice is made.
type view struct {
	s *Simulator
	w *World
}

// view returns the view of w. There is one a simulator, which this sets to w, so that a step allocates nothing for it.
func (s *Simulator) view(w *World) *view {
	s.current.w = w
	return &s.current
}

func (v *view) Now() time.Duration                { return v.w.now }
func (v *view) Clients() int                      { return len(v.s.clients.procs) }
func (v *view) Client(c int8) *node.ClientProcess { return &v.w.procs[c-1] }
func (v *view) Op(c, thread int8) *process.Op {
	p := &v.w.procs[c-1]
	o := v.s.clients.op(c, p, int(thread))
	if v.s.stamps.grain > 0 {
		return v.s.stamps.ofDay(p, o)
	}
	return o
}
func (v *view) Memory(c int8) uint32          { return v.s.clients.entry(c, &v.w.procs[c-1]).Memory }
func (v *view) Servers() int                  { return len(v.s.config.Nodes) }
func (v *view) State(n int8) node.State       { return v.w.servers[n-1] }
func (v *view) SetState(n int8, s node.State) { v.w.servers[n-1] = s }
