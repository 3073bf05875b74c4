package simulator

import (
	"errors"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// A Fault is one kind of misfortune. It adds choices to Enabled while its
// budget lasts, and makes them happen with the levers of a Moment.
type Fault interface {
	// Name is how the fault is typed: "crash".
	Name() string
	// Verb is its own verb, from FaultVerb on. It stands in traces and never changes.
	Verb() Verb
	// Strikes appends every way in which the fault can strike now.
	Choices(m FaultContext, buf []Choice) []Choice
	// Strike makes c happen. c need not be one that Strikes gave: its D is
	// free. "" is done; otherwise the world is untouched and the text says why.
	Inject(m FaultContext, c Choice) (why string)
}

// strike spends the budget of the i-th fault.
func (l *Simulator) inject(w *World, i int, c Choice) error {
	f := l.setup.Faults[i]
	switch {
	case w.budget[i] == 0:
		return l.refuse(w, c, "the budget of this fault is spent")
	case f.Max > 0 && (c.D > f.Max || c.D < -f.Max):
		return l.refuse(w, c, "the budget allows no more than "+f.Max.String())
	}
	if why := f.Fault.Inject(FaultContext{l, w}, c); why != "" {
		return l.refuse(w, c, why)
	}
	w.budget[i]--
	return nil
}

// A Moment is a world with its levers: the ways in which a fault can reach
// into it. Clients and servers count from 1. A lever that answers with a text
// has done nothing, for the reason given.
type FaultContext struct {
	sim *Simulator
	w   *World
}

// World is the world as it stands.
func (m FaultContext) World() *World { return m.w }

// Clients is how many clients there are.
func (m FaultContext) Clients() int { return len(m.sim.procs) }

// Nodes is how many servers there are that something can befall: none, if the
// server is a ZooKeeper.
func (m FaultContext) Nodes() int {
	if m.sim.zoo != nil {
		return 0
	}
	return len(m.sim.setup.Nodes)
}

// Max is the longest or largest strike that the budget of verb v allows; 0: any.
func (m FaultContext) Max(v Verb) time.Duration {
	for _, f := range m.sim.setup.Faults {
		if f.Fault.Verb() == v {
			return f.Max
		}
	}
	return 0
}

// HasReplica says whether server n has that replica, counted from 0, to promote.
func (m FaultContext) HasReplica(n, replica int) bool {
	node := &m.w.nodes[n-1]
	return replica >= 0 && replica < m.sim.setup.Nodes[n-1].Replicas && (node.cut == 0 || replica != int(node.stray))
}

// Running says whether client c is neither dead, nor paused, nor at its end.
func (m FaultContext) Running(c int) bool {
	p := &m.w.procs[c-1]
	if p.dead || p.paused {
		return false
	}
	for t := range p.threads {
		if p.threads[t].phase != idle && p.threads[t].phase != unborn {
			return true
		}
	}
	return false
}

// Requests calls yield for each request on the way to a server or the resource
// whose sender waits for it, and Replies for each reply on its way back.
func (m FaultContext) Requests(yield func(c Choice)) { m.messages(asking, yield) }

// Replies calls yield for each reply on its way to a client that waits for it.
func (m FaultContext) Replies(yield func(c Choice)) { m.messages(answered, yield) }

func (m FaultContext) messages(ph phase, yield func(c Choice)) {
	for c := range m.sim.procs {
		for t := range m.w.procs[c].threads {
			th := &m.w.procs[c].threads[t]
			if th.phase == ph && !m.w.procs[c].dead && th.reply != lostConn {
				yield(Choice{Client: int8(c + 1), Thread: int8(t)})
			}
		}
	}
}

// Held says whether the message that thread t of client c waits for is held up.
func (m FaultContext) Held(c, t int8) bool { return m.w.procs[c-1].threads[t].hold > m.w.now }

func (m FaultContext) client(c int8) (*procState, string) {
	if c < 1 || int(c) > len(m.sim.procs) {
		return nil, "there is no such client"
	}
	if p := &m.w.procs[c-1]; !p.dead {
		return p, ""
	}
	return nil, "the client is dead"
}

func (m FaultContext) node(n int8) (*nodeState, string) {
	switch {
	case m.sim.zoo != nil:
		return nil, "the server is a ZooKeeper, and what befalls the servers of an ensemble is not looked at"
	case n < 1 || int(n) > m.Nodes():
		return nil, "there is no such server"
	}
	return &m.w.nodes[n-1], ""
}

// Crash kills client c with all its threads. Requests on the way still arrive.
func (m FaultContext) Crash(c int8) (why string) {
	p, why := m.client(c)
	if why != "" {
		return why
	}
	ops := &m.sim.procs[c-1].nodes[p.at].ops
	m.sim.emitClient(m.w, history.Crash, c, 0)
	if m.sim.zoo != nil {
		m.sim.cutOff(m.w, c)
	}
	for t := range p.threads {
		if p.threads[t].phase == asking {
			m.sim.addLate(m.w, ops[t], c, &p.threads[t])
		}
	}
	*p = procState{dead: true, clock: p.clock, at: p.at}
	return ""
}

// Pause stops client c with all its threads for d; its clock goes on. With
// d = 0 it lasts until a Resume is chosen, but no longer than longest (0: any).
func (m FaultContext) Pause(c int8, d, longest time.Duration) (why string) {
	p, why := m.client(c)
	switch {
	case why != "":
		return why
	case p.paused:
		return "the client is paused already"
	case d < 0:
		return "a pause cannot be negative"
	}
	p.paused, p.open, p.until = true, d == 0, clock.Later(m.w.now, d)
	if p.open {
		p.until = clock.Never
		if longest > 0 {
			p.until = clock.Later(m.w.now, longest)
		}
	}
	m.sim.emitClient(m.w, history.Pause, c, 0).D = d
	if m.sim.zoo != nil {
		m.sim.silence(m.w, c)
	}
	return ""
}

// LoseRequest makes the request that thread t of client c waits for vanish
// before the server sees it. One to a ZooKeeper takes the connection with it.
func (m FaultContext) LoseRequest(c, t int8) (why string) {
	return m.lose(c, t, asking, history.LoseRequest)
}

// LoseReply makes the reply to thread t of client c vanish: the command has
// been executed, and its sender never hears of it. One of a ZooKeeper takes the
// connection with it, and so does a message of a subscription: where later ones
// are heard, none before has been lost.
func (m FaultContext) LoseReply(c, t int8) (why string) {
	return m.lose(c, t, answered, history.LoseReply)
}

func (m FaultContext) lose(c, t int8, ph phase, k history.Kind) (why string) {
	p, why := m.client(c)
	if why != "" {
		return why
	}
	if t < 0 || t >= MaxThreads || p.threads[t].phase != ph || p.threads[t].reply == lostConn {
		return "no such message is on the way"
	}
	o := m.sim.op(m.w, Choice{Client: c, Thread: t})
	p.threads[t].phase, p.threads[t].hold = unheard, 0
	e := m.sim.emitClient(m.w, k, c, t)
	e.Node, e.Msg = int(o.node), int(p.threads[t].msg)
	e.Cmd = m.sim.cmd(o)
	switch o.kind {
	case opZoo:
		m.sim.cutOff(m.w, c)
		p.threads[t].answer(lostConn) // also where it had come by a connection that was cut before
	case opListen:
		p.threads[t].answer(lostConn)
	}
	return ""
}

// Delay holds up the message, on its way to or from thread t of client c, for d.
// A request arrives then, also if its sender has given up by that time.
func (m FaultContext) Delay(c, t int8, d time.Duration) (why string) {
	p, why := m.client(c)
	switch {
	case why != "":
		return why
	case d <= 0:
		return "a delay needs a length above 0"
	case t < 0 || t >= MaxThreads || p.threads[t].phase != asking && p.threads[t].phase != answered || p.threads[t].reply == lostConn:
		return "no such message is on the way"
	case p.threads[t].hold > m.w.now:
		return "the message is held up already"
	}
	th, o := &p.threads[t], m.sim.op(m.w, Choice{Client: c, Thread: t})
	th.hold = clock.Later(m.w.now, d)
	e := m.sim.emitClient(m.w, history.Delay, c, t)
	e.Node, e.Msg, e.D, e.Note = int(o.node), int(th.msg), d, "request"
	if th.phase == answered {
		e.Note = "reply"
	} else if o.kind == opZoo {
		m.sim.silence(m.w, c)
	}
	e.Cmd = m.sim.cmd(o)
	return ""
}

// Hang has server n stand still for d. What arrives meanwhile is executed
// afterwards; its clock goes on, and keys expire.
func (m FaultContext) Hang(n int8, d time.Duration) (why string) {
	node, why := m.node(n)
	switch {
	case why != "":
		return why
	case d <= 0:
		return "a server needs a time above 0 to stand still"
	case node.out != serving:
		return "the server does not run"
	}
	node.out, node.until = hung, clock.Later(m.w.now, d)
	e := m.sim.emit(m.w, history.Hang)
	e.Node, e.D = int(n), d
	return ""
}

// Reject has the request of thread t of client c answered with an error, and not
// executed. It concerns requests to servers only.
func (m FaultContext) Reject(c, t int8, err string) (why string) {
	p, why := m.client(c)
	switch {
	case why != "":
		return why
	case t < 0 || t >= MaxThreads || p.threads[t].phase != asking || !m.ToServer(c, t):
		return "no request to a server is on the way"
	case p.threads[t].hold > m.w.now:
		return "the request is held up"
	}
	th, o, redis := &p.threads[t], m.sim.op(m.w, Choice{Client: c, Thread: t}), m.sim.table
	resp := strings.Repeat("-"+err+"\r\n", len(redis.batches[o.batch].commands))
	e := m.sim.emitClient(m.w, history.Reject, c, t)
	e.Node, e.Msg, e.Cmd, e.Reply = int(o.node), int(th.msg), redis.batches[o.batch].text, replyText(resp)
	th.answer(redis.internReply(resp))
	return ""
}

// ToServer says whether what thread t of client c waits for is an answer of a
// server, and not of the resource.
func (m FaultContext) ToServer(c, t int8) bool {
	return m.sim.op(m.w, Choice{Client: c, Thread: t}).kind == opCommand
}

// Keys calls yield for the keys of server n, in the order of their names, and
// says of each whether it has a time to live.
func (m FaultContext) Keys(n int, yield func(name string, expires bool)) {
	for _, k := range m.sim.table.shapes[m.w.nodes[n-1].data.shape].keys {
		yield(k.name, k.expires)
	}
}

// Command has server n execute what no client sent; note says why it does.
func (m FaultContext) Command(n int8, note string, args ...string) (why string) {
	node, why := m.node(n)
	switch {
	case why != "":
		return why
	case node.out != serving:
		return "the server does not run"
	}
	redis := m.sim.table
	id, err := redis.internBatch(link{}, []byte(proto.Strings(args...)))
	if err != nil {
		return err.Error()
	}
	eff, err := redis.apply(&node.data, node.clock.Read(m.w.now), id)
	if limit := (*table.LimitError)(nil); errors.As(err, &limit) {
		m.sim.room.Exceeded = err // a refusal would be no more than a fault that does not fit
	}
	if err != nil {
		return err.Error()
	}
	e := m.sim.emit(m.w, history.External)
	e.Node, e.Cmd, e.Reply, e.Note = int(n), redis.batches[id].text, redis.replies[eff.reply].text, note
	for i := range eff.changes {
		m.sim.emitChange(m.w, node, &node.data, 0, int(n), &eff.changes[i])
	}
	if len(eff.changes) > 0 {
		m.sim.leaveBehind(node, int(n-1))
	}
	return ""
}

// StepClock moves the clock of client c by d. Timers that run are not affected.
func (m FaultContext) StepClock(c int8, d time.Duration) (why string) {
	p, why := m.client(c)
	if why != "" {
		return why
	}
	if why = p.clock.Jump(d); why == "" {
		m.sim.emitClient(m.w, history.ClockStep, c, 0).D = d
	}
	return why
}

// StepNodeClock moves the clock of server n by d, and with it the end of every
// key that has one.
func (m FaultContext) StepNodeClock(n int8, d time.Duration) (why string) {
	node, why := m.node(n)
	if why != "" {
		return why
	}
	if why = node.clock.Jump(d); why != "" {
		return why
	}
	e := m.sim.emit(m.w, history.ClockStep)
	e.Node, e.D = int(n), d
	m.sim.expire(m.w)
	return ""
}

// Restart crashes server n, which comes back after d with what it keeps on disk.
// A replica would copy what that has become: until it does, it can still fail
// over with what it has.
func (m FaultContext) Restart(n int8, d time.Duration) (why string) {
	node, why := m.node(n)
	switch {
	case why != "":
		return why
	case node.out == down:
		return "the server is down already"
	case d < 0:
		return "a server cannot be down for less than no time"
	}
	m.sim.emit(m.w, history.Down).Node = int(n)
	m.hangUp(n, everybody&^node.cut)
	m.replace(node, n, m.kept(node, n), history.Disk)
	m.compare(node, n)
	if node.out, node.until = down, clock.Later(m.w.now, d); d == 0 {
		m.sim.up(m.w, int(n-1))
		m.sim.expire(m.w)
	}
	return ""
}

// kept is what server n has on disk.
func (m FaultContext) kept(node *nodeState, n int8) dataState {
	switch s := &m.sim.setup.Nodes[n-1]; s.AOF {
	case Always:
		return m.sim.scriptless(node.data)
	case EverySecond:
		return m.sim.copiesOf(m.w, int(n-1))[s.Replicas]
	}
	return dataState{}
}

// Failover puts a replica of server n, counted from 0, in its place, with what
// it has heard of, no cached scripts, and the connections to the old one broken.
// The other replicas become those of the new server, and a new one takes the
// place of the promoted.
func (m FaultContext) Failover(n, replica int8) (why string) {
	node, why := m.node(n)
	switch {
	case why != "":
		return why
	case !m.HasReplica(int(n), int(replica)):
		return "the server has no such replica"
	}
	e := m.sim.emit(m.w, history.Failover)
	e.Node, e.Replica = int(n), replica
	m.hangUp(n, everybody&^node.cut)
	m.promote(node, n, replica)
	m.sim.expire(m.w)
	return ""
}

// promote puts a replica of server n, from 0, in its place. Its disk has what it
// has itself.
func (m FaultContext) promote(node *nodeState, n, replica int8) {
	copies := m.sim.copiesOf(m.w, int(n-1))
	m.replace(node, n, copies[replica], replica)
	if s := &m.sim.setup.Nodes[n-1]; s.AOF == EverySecond {
		copies[s.Replicas] = node.data
	}
	node.out, node.until = serving, 0
	m.compare(node, n)
}

// compare finds out which copies of server n lack something that it has. All
// connections to it are new: nobody has written anything by them.
func (m FaultContext) compare(node *nodeState, n int8) {
	node.behind, node.lacks = 0, [MaxReplicas]clientSet{}
	for i, data := range m.sim.copiesOf(m.w, int(n-1)) {
		if data != node.data && (node.cut == 0 || i != int(node.stray)) {
			node.behind |= 1 << i
		}
	}
}

// everybody is all clients.
const everybody = ^clientSet(0)

// hangUp breaks the connections of some clients to server n.
func (m FaultContext) hangUp(n int8, who clientSet) {
	for c := range m.sim.procs {
		p := &m.w.procs[c]
		if !who.has(int8(c + 1)) {
			continue
		}
		for t := range p.threads {
			th := &p.threads[t]
			if th.phase.waiting() && m.sim.op(m.w, Choice{Client: int8(c + 1), Thread: int8(t)}).node == n {
				th.answer(lostConn)
			}
		}
	}
	m.sim.dropLate(m.w, func(late *lateState) bool { return late.node == n && who.has(late.from) })
}

// replace swaps the data of a server for that of a copy and records which keys
// became others by it, in value or only in how long they live.
func (m FaultContext) replace(node *nodeState, n int8, data dataState, source int8) {
	t := m.sim.table
	from, to := &t.shapes[node.data.shape], &t.shapes[data.shape]
	var lives [MaxKeys]lifetime
	for i := range to.ttls {
		p := from.place(to.expiring(i).name)
		if p >= 0 && node.data.deadline[p] != data.deadline[i] {
			p = -1
		}
		lives[i].keep = int8(p)
	}
	node.data = data
	for _, ch := range diff(from, to, &lives) {
		m.sim.emitChange(m.w, node, &node.data, 0, int(n), &ch).Replica = source
	}
}
