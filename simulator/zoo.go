package simulator

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
)

// A server may be a ZooKeeper ensemble (see the package zookeeper for what it
// does). It is one node, and the only one: how its servers agree, and what
// becomes of it when one of them fails, is not looked at, and faults that would
// need to are refused.
//
// Sessions ("ZooKeeper Sessions" in the Programmer's Guide). Each client has one
// before the run begins. Its library pings: while the process lives, is not
// paused and has a connection, the ensemble hears of it all the time; from the
// moment at which it does not, the session's time-out runs, on the ensemble's
// clock, which has a rate and does not jump (a server counts elapsed time). A
// process whose program has ended pings on. A request that is held up holds up the
// pings behind it. A real library pings every third of
// the time-out, so that a session may end up to that much sooner.
//
// When a session ends its ephemerals go and watches fire, and the client knows
// nothing of it. It learns so when it connects again, which it does at once when
// it can; it then begins another session.
//
// Connections. News of watches and replies reach a client in the order in which
// they were sent ("What ZooKeeper Guarantees about Watches"): what has been sent
// before a reply is heard with it. News are on their way until the client hears
// a reply or waits for one of them. A message that is lost breaks the
// connection, and so does a client that has waited for an answer for two thirds
// of the time-out, as ZooKeeper's own client does. Then a request on its way is
// run before the client has connected again, or never; one that is sent
// meanwhile waits. A client that connects again hands in its watches: what it
// has missed fires.

// ensemble is the number of the ensemble among the servers.
const ensemble = 1

// zooState is the ensemble of a world. Without one it is zero.
type zooState struct {
	shape uint32
	// ends is when the session of a client ends of which nothing is heard, true
	// time; 0: it is heard of, or has ended.
	ends [MaxClients]time.Duration
}

// due is when the next session ends; Never if none will.
func (z *zooState) due() time.Duration {
	next := clock.Never
	for _, end := range z.ends {
		if end > 0 {
			next = min(next, end)
		}
	}
	return next
}

// shift moves the ends of sessions by d.
func (z zooState) shift(d time.Duration) zooState {
	for c := range z.ends {
		if z.ends[c] > 0 && z.ends[c] != clock.Never {
			z.ends[c] += d
		}
	}
	return z
}

// link is what the ensemble has to do with client c.
func (l *Simulator) link(w *World, c int8) *zooLink { return &l.zoo.shapes[w.zoo.shape].links[c-1] }

// hasSession says whether the ensemble has not ended client c's session.
func (l *Simulator) hasSession(w *World, c int8) bool {
	return l.zoo.shapes[w.zoo.shape].state.Alive(l.link(w, c).session)
}

// zooEnabled is what may happen between a client and the ensemble beside the
// ordinary course of its requests.
func (l *Simulator) zooEnabled(w *World, c int8, buf []Choice) []Choice {
	p := &w.procs[c-1]
	if p.dead || p.paused {
		return buf
	}
	if l.cannotReconnect(w, c) == "" {
		buf = append(buf, Choice{Verb: Reconnect, Client: c})
	}
	return l.News(int(c), &ClientPart{*p}, &NodePart{zoo: w.zoo}, buf)
}

// hears says whether there are news for a thread that waits for a watch.
func (l *Simulator) hears(w *World, c Choice) bool {
	p := &w.procs[c.Client-1]
	if p.threads[c.Thread].phase != asleep || len(l.link(w, c.Client).news) == 0 {
		return false
	}
	o := l.op(w, c)
	return o.kind == opWatch && l.link(w, c.Client).heard(l.zoo.watches[o.batch])
}

// cannotReconnect says why client c does not connect to the ensemble now. What
// came by the old connection is heard first.
func (l *Simulator) cannotReconnect(w *World, c int8) (why string) {
	p := &w.procs[c-1]
	switch {
	case p.dead:
		return "the client is dead"
	case p.paused:
		return "the client is paused"
	case !p.cut:
		return "the client has a connection"
	}
	for t := range p.threads {
		if p.threads[t].phase == answered && l.op(w, Choice{Client: c, Thread: int8(t)}).kind == opZoo {
			return "the client has still to hear what came by the old connection"
		}
	}
	return ""
}

// reconnect gives a client a connection again.
func (l *Simulator) reconnect(w *World, c Choice) error {
	if l.zoo == nil || c.Client < 1 || int(c.Client) > len(l.procs) {
		return l.refuse(w, c, "there is no such client of a ZooKeeper")
	}
	if why := l.cannotReconnect(w, c.Client); why != "" {
		return l.refuse(w, c, why)
	}
	p := &w.procs[c.Client-1]
	e := l.emit(w, history.Reconnect)
	e.Client, e.Node = int(c.Client), ensemble
	if !l.hasSession(w, c.Client) {
		e.Note = "the session has ended"
	}
	l.zooAct(w, zooConnect, c.Client, l.procs[c.Client-1].nodes[p.at].memory)
	w.zoo.ends[c.Client-1] = 0
	p.cut = false
	for t := range p.threads {
		if p.threads[t].phase == stranded {
			p.threads[t].phase = asking
		}
	}
	l.dropLate(w, func(late *lateState) bool { return late.kind == opZoo && late.from == c.Client })
	return nil
}

// deliver brings news to a thread that waits for one of them.
func (l *Simulator) deliver(w *World, c Choice) error {
	there := l.zoo != nil && c.Client >= 1 && int(c.Client) <= len(l.procs) && c.Thread >= 0 && c.Thread < MaxThreads
	if !there || w.procs[c.Client-1].dead || w.procs[c.Client-1].paused || !l.hears(w, c) {
		return l.refuse(w, c, "no news of a watch are on the way that this thread waits for")
	}
	eff := l.zooAct(w, zooTell, c.Client, 0)
	l.emitClient(w, history.Wake, c.Client, c.Thread).Note = "news of a watch"
	return l.observe(w, c, observation{kind: told, val: int64(eff.answer)})
}

// zooServe has the ensemble run a request; late: the connection on which it came
// has broken. The answer is lostConn if the session has ended.
func (l *Simulator) zooServe(w *World, o *op, from int8, msg uint32, kind zooActKind) (answer uint32) {
	apply := len(l.events)
	e := l.emit(w, history.Apply)
	e.Client, e.Node, e.Msg, e.Cmd = int(from), ensemble, int(msg), l.zoo.requests[o.batch].text
	eff := l.zooAct(w, kind, from, o.batch)
	if eff.refused { // the ensemble has closed the connection on which it comes
		l.events = l.events[:apply]
		if kind == zooServe {
			l.cutOff(w, from)
		}
		return lostConn
	}
	l.events[apply].Reply = l.zoo.answers[eff.answer].text
	if w.zoo.ends[from-1] > 0 { // every request is a sign of life
		w.zoo.ends[from-1] = 0
		if p := &w.procs[from-1]; p.dead || p.paused || p.cut || kind == zooLate {
			l.silence(w, from)
		}
	}
	return eff.answer
}

// silence begins the time-out of client c's session, if it does not run yet: from
// now on the ensemble hears nothing of it.
func (l *Simulator) silence(w *World, c int8) {
	if w.zoo.ends[c-1] == 0 && l.hasSession(w, c) {
		w.zoo.ends[c-1] = clock.Later(w.now, w.nodes[ensemble-1].clock.After(l.zoo.timeout))
	}
}

// cutOff breaks client c's connection. Of a request on its way nobody knows what
// becomes.
func (l *Simulator) cutOff(w *World, c int8) {
	p := &w.procs[c-1]
	if p.cut {
		return
	}
	p.cut = true
	l.zooAct(w, zooCut, c, 0)
	l.silence(w, c)
	for t := range p.threads {
		th := &p.threads[t]
		o := l.op(w, Choice{Client: c, Thread: int8(t)})
		if o.kind != opZoo {
			continue
		}
		if th.phase == asking && l.hasSession(w, c) {
			l.addLate(w, *o, c, th)
		}
		if th.phase == asking || th.phase == unheard {
			th.answer(lostConn)
		}
	}
}

// wakeUp is what a client does about its session when it goes on after a pause.
func (l *Simulator) wakeUp(w *World, c int8) {
	switch {
	case w.procs[c-1].cut:
	case !l.hasSession(w, c):
		l.cutOff(w, c)
	case !l.pingsHeldUp(w, c):
		w.zoo.ends[c-1] = 0
	}
}

// pingsHeldUp says whether a request of client c is held up, and so are the pings
// behind it.
func (l *Simulator) pingsHeldUp(w *World, c int8) bool {
	p := &w.procs[c-1]
	for t := range p.threads {
		if p.threads[t].phase == asking && p.threads[t].hold > w.now && l.op(w, Choice{Client: c, Thread: int8(t)}).kind == opZoo {
			return true
		}
	}
	return false
}

// endSessions ends those whose time is over, the longest overdue first.
func (l *Simulator) endSessions(w *World) {
	for {
		first := int8(0)
		for c := range l.procs {
			if end := w.zoo.ends[c]; end > 0 && end <= w.now && (first == 0 || end < w.zoo.ends[first-1]) {
				first = int8(c + 1)
			}
		}
		if first == 0 {
			return
		}
		l.endSession(w, first)
	}
}

// endSession ends client c's.
func (l *Simulator) endSession(w *World, c int8) {
	w.zoo.ends[c-1] = 0
	e := l.emit(w, history.SessionEnd)
	e.Client, e.Node = int(c), ensemble
	l.zooAct(w, zooEnd, c, 0)
}

// zooAct has the ensemble do something, and records what that changes. In a
// history the key is a znode at which clients queue, and its value the first of
// the line: whoever is first has it by its session, for as long as that lives.
func (l *Simulator) zooAct(w *World, kind zooActKind, client int8, arg uint32) *zooEffect {
	eff := l.zoo.act(zooAct{w.zoo.shape, arg, kind, client}, l.noMemo)
	w.zoo.shape = eff.to
	for i := range eff.lines {
		l.emitLine(w, &eff.lines[i], kind, int(client))
	}
	for _, f := range eff.fired {
		e := l.emit(w, history.Fire)
		e.Client, e.Node, e.Key, e.Note = int(f.client), ensemble, f.path, f.what
	}
	return eff
}

// emitLine records that a line has another first. If the old one has left, that
// is the doing of whoever removed it; that another one is first now is a grant to
// that one.
func (l *Simulator) emitLine(w *World, ch *lineChange, kind zooActKind, client int) {
	before := ch.before
	if ch.gone {
		k := history.Change
		if kind == zooEnd {
			k, client = history.Expire, 0
		}
		e := l.emit(w, k)
		e.Client, e.Node, e.Key, e.Before = client, ensemble, ch.key, ch.before
		before = ""
	}
	if ch.after != "" {
		e := l.emit(w, history.Change)
		e.Client, e.Node, e.Key, e.Before, e.After, e.Until = int(ch.owner), ensemble, ch.key, before, ch.after, history.Forever
	}
}

// ZooKeeper says whether the lab's server is one.
func (l *Simulator) ZooKeeper() bool { return l.zoo != nil }

// Awaits says whether a thread of client c waits for a watch, and can hear of it.
func (l *Simulator) Awaits(c int, part *ClientPart) bool {
	for t := range part.s.threads {
		if l.awaits(c, part, t) {
			return true
		}
	}
	return false
}

func (l *Simulator) awaits(c int, part *ClientPart, t int) bool {
	return !part.s.dead && !part.s.paused && part.s.threads[t].phase == asleep && l.procs[c-1].nodes[part.s.at].ops[t].kind == opWatch
}

// News appends the choices by which client c hears of its watches, as Enabled
// lists them, given the ensemble's part.
func (l *Simulator) News(c int, part *ClientPart, node *NodePart, buf []Choice) []Choice {
	k := &l.zoo.shapes[node.zoo.shape].links[c-1]
	for t := range part.s.threads {
		if l.awaits(c, part, t) && k.heard(l.zoo.watches[l.procs[c-1].nodes[part.s.at].ops[t].batch]) {
			buf = append(buf, Choice{Verb: Deliver, Client: int8(c), Thread: int8(t)})
		}
	}
	return buf
}

// cmd is what a request says, as histories show it; nil: it asks the resource.
func (l *Simulator) cmd(o *op) []string {
	switch o.kind {
	case opCommand, opListen:
		return l.table.batches[o.batch].text
	case opZoo:
		return l.zoo.requests[o.batch].text
	}
	return nil
}

// patience is how long a client waits for an answer, on its own clock.
func (l *Simulator) patience(o *op) time.Duration {
	if o.kind == opZoo {
		return l.zoo.timeout * 2 / 3
	}
	return l.setup.Timeout
}

// EndSession has the ensemble end client c's session now, as if it had not heard
// of it, and close its connection.
func (m FaultContext) EndSession(c int8) (why string) {
	switch _, why := m.client(c); {
	case why != "":
		return why
	case !m.HasSession(int(c)):
		return "the client has no session"
	}
	m.sim.endSession(m.w, c)
	if p := &m.w.procs[c-1]; !p.paused {
		m.sim.cutOff(m.w, c)
	}
	return ""
}

// HasSession says whether a ZooKeeper has a session of client c.
func (m FaultContext) HasSession(c int) bool {
	return m.sim.zoo != nil && m.sim.hasSession(m.w, int8(c))
}

// checkZooKeeper says what is wrong with a server that is one.
func (s *Config) checkZooKeeper() (why string) {
	i := slices.IndexFunc(s.Nodes, func(n NodeConfig) bool { return n.Session != 0 })
	if i < 0 {
		return ""
	}
	switch n := &s.Nodes[i]; {
	case n.Session < 0:
		return "a session of " + n.Session.String() + ": give a time-out above 0"
	case len(s.Nodes) > 1:
		return "a ZooKeeper beside other servers: it is one ensemble, give it alone"
	case n.Replicas != 0 || n.MinReplicas != 0 || n.AOF != NoAOF:
		return "a ZooKeeper with replicas or an AOF: what an ensemble does inside is not looked at, give none"
	}
	return ""
}
