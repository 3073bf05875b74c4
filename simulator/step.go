package simulator

import (
	"fmt"
	"time"

	"locklab/simulator/history"
)

// Enabled appends to buf everything that may happen next in w, in a fixed
// order: what is ready, then the passing of time up to the next deadline of
// anybody, then the faults. Time may also pass by less than the listed D, and
// by anything up to 100 years after the start if nobody has a deadline.
func (l *Lab) Enabled(w *World, buf []Choice) []Choice {
	for c := range l.procs {
		buf = w.procs[c].enabled(w, int8(c+1), buf)
	}
	for i := range w.late {
		if w.late[i].op.kind != opNone {
			buf = append(buf, Choice{Verb: Late, Client: w.late[i].from, Thread: int8(i)})
		}
	}
	for n := range l.setup.Nodes {
		if w.nodes[n].behind {
			buf = append(buf, Choice{Verb: Replicate, Node: int8(n + 1)})
		}
	}
	if next := l.Next(w); next > w.now && next != Never {
		buf = append(buf, Choice{Verb: Pass, D: next - w.now})
	}
	for i, f := range l.setup.Faults {
		if w.budget[i] > 0 {
			buf = f.Fault.Strikes(Moment{l, w}, buf)
		}
	}
	return buf
}

func (p *procState) enabled(w *World, c int8, buf []Choice) []Choice {
	switch {
	case p.dead:
		return buf
	case p.paused:
		if p.open || p.until <= w.now {
			buf = append(buf, Choice{Verb: Resume, Client: c})
		}
		// the network goes on: requests on the way arrive
		for t := range p.threads {
			if p.threads[t].phase == asking {
				buf = append(buf, Choice{Verb: Arrive, Client: c, Thread: int8(t)})
			}
		}
		return buf
	}
	for t := range p.threads {
		th := &p.threads[t]
		ch := Choice{Client: c, Thread: int8(t)}
		switch th.phase {
		case unborn:
			ch.Verb = Start
		case asking:
			ch.Verb = Arrive
		case answered:
			ch.Verb = Answer
		case asleep:
			if th.due > w.now {
				continue
			}
			ch.Verb = Wake
		default:
			ch.Verb = 0
		}
		if ch.Verb != 0 {
			buf = append(buf, ch)
		}
		if th.phase.waiting() && th.due <= w.now {
			buf = append(buf, Choice{Verb: GiveUp, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// Next is the next true time, not before now, at which something is due: a
// sleep or a pause ends, somebody gives up waiting, a key expires. Never if
// nothing is. Time cannot pass beyond it.
func (l *Lab) Next(w *World) time.Duration {
	next := Never
	for c := range l.procs {
		p := &w.procs[c]
		switch {
		case p.dead:
		case p.paused:
			next = min(next, p.until)
		default:
			for t := range p.threads {
				if th := &p.threads[t]; th.phase == asleep || th.phase.waiting() {
					next = min(next, th.due)
				}
			}
		}
	}
	for n := range l.setup.Nodes {
		node := &w.nodes[n]
		for i := range l.table.shapes[node.data.shape].ttls {
			next = min(next, node.gone(w.now, node.data.deadline[i]))
		}
	}
	if next > endOfTime {
		return Never
	}
	return max(next, w.now)
}

// gone is the first true time at which a key with the given deadline is dead.
func (n *nodeState) gone(now time.Duration, deadline int64) time.Duration {
	if deadline >= endOfTime.Milliseconds() {
		return Never
	}
	return n.clock.when(now, time.Duration(deadline+1)*time.Millisecond)
}

// Quiet says that no client will do anything any more: all have ended or died.
func (l *Lab) Quiet(w *World) bool {
	for c := range l.procs {
		if w.procs[c].dead {
			continue
		}
		for t := range w.procs[c].threads {
			if w.procs[c].threads[t].phase != idle {
				return false
			}
		}
	}
	return true
}

// Step makes choice c happen in w and returns what it was, in order. The
// events are good until the next Step of this lab.
//
// The error is a *NotEnabledError if the choice cannot happen in w, which is
// then as it was; any other error (*NondeterministicError, a panic of the
// client's code, a command that the lab cannot carry) leaves w unusable.
func (l *Lab) Step(w *World, c Choice) ([]history.Event, error) {
	l.events = l.events[:0]
	err := l.step(w, c)
	return l.events, err
}

func (l *Lab) step(w *World, c Choice) error {
	switch c.Verb {
	case Pass:
		return l.pass(w, c)
	case Start, Arrive, Answer, Wake, GiveUp:
		return l.stepThread(w, c)
	case Resume:
		return l.resume(w, c)
	case Late:
		return l.arriveLate(w, c)
	case Replicate:
		return l.replicate(w, c)
	}
	for i, f := range l.setup.Faults {
		if f.Fault.Verb() == c.Verb {
			return l.strike(w, i, c)
		}
	}
	return l.refuse(w, c, "no fault of this scenario has this verb")
}

func (l *Lab) refuse(w *World, c Choice, why string) error {
	return &NotEnabledError{Choice: l.Describe(c), At: w.now, Why: why}
}

// Describe is the choice in words.
func (l *Lab) Describe(c Choice) string {
	for _, f := range l.setup.Faults {
		if f.Fault.Verb() == c.Verb {
			return c.text(f.Fault.Name())
		}
	}
	return c.String()
}

func (l *Lab) emit(w *World, k history.Kind) *history.Event {
	l.events = append(l.events, history.Event{At: w.now, Kind: k})
	return &l.events[len(l.events)-1]
}

// emitClient is emit with the client's name and its own clock.
func (l *Lab) emitClient(w *World, k history.Kind, c int8, t int8) *history.Event {
	e := l.emit(w, k)
	e.Client, e.Thread = int(c), int(t)
	e.Skew = w.procs[c-1].clock.read(w.now) - w.now
	return e
}

func (l *Lab) pass(w *World, c Choice) error {
	switch next := l.Next(w); {
	case c.D <= 0:
		return l.refuse(w, c, "time moves forward only")
	case next <= w.now:
		return l.refuse(w, c, "something is due first")
	case c.D > next-w.now:
		return l.refuse(w, c, "something is due before")
	case c.D > endOfTime-w.now:
		return l.refuse(w, c, "a world lasts "+endOfTime.String())
	}
	w.now += c.D
	l.expire(w)
	return nil
}

// expire removes the keys whose time is over.
func (l *Lab) expire(w *World) {
	for n := range l.setup.Nodes {
		node := &w.nodes[n]
		now := node.clock.read(w.now)
		for {
			place, ok := l.table.overdue(&node.data, now)
			if !ok {
				break
			}
			key := l.table.drop(&node.data, place)
			e := l.emit(w, history.Expire)
			e.Node, e.Key, e.Before = n+1, key.name, key.text()
			node.behind = l.setup.Nodes[n].Replica
		}
	}
}

// stepThread is what happens to one thread of one client.
func (l *Lab) stepThread(w *World, c Choice) error {
	if c.Client < 1 || int(c.Client) > len(l.procs) || c.Thread < 0 || c.Thread >= MaxThreads {
		return l.refuse(w, c, "there is no such client or thread")
	}
	p := &w.procs[c.Client-1]
	th := &p.threads[c.Thread]
	switch {
	case p.dead:
		return l.refuse(w, c, "the client is dead")
	case p.paused && c.Verb != Arrive:
		return l.refuse(w, c, "the client is paused")
	}
	switch c.Verb {
	case Start:
		if th.phase != unborn {
			return l.refuse(w, c, "the client has started")
		}
		return l.observe(w, c, seen{kind: started})
	case Wake:
		if th.phase != asleep || th.due > w.now {
			return l.refuse(w, c, "it is not time to wake")
		}
		l.emitClient(w, history.Wake, c.Client, c.Thread)
		return l.observe(w, c, seen{kind: slept})
	case Arrive:
		if th.phase != asking {
			return l.refuse(w, c, "no request is on the way")
		}
		return l.arrive(w, c, p, th)
	case Answer:
		if th.phase != answered {
			return l.refuse(w, c, "no reply is on the way")
		}
		return l.answer(w, c, p, th)
	default:
		if !th.phase.waiting() || th.due > w.now {
			return l.refuse(w, c, "nobody's patience has ended")
		}
		return l.giveUp(w, c, p, th)
	}
}

// op is what client c's thread waits for.
func (l *Lab) op(w *World, c Choice) *op {
	return &l.procs[c.Client-1].nodes[w.procs[c.Client-1].at].ops[c.Thread]
}

func (l *Lab) arrive(w *World, c Choice, p *procState, th *threadState) error {
	o := l.op(w, c)
	answer, err := l.serve(w, *o, c.Client, th.msg)
	th.phase, th.reply = answered, answer
	return err
}

// serve has a request executed where it was sent to.
func (l *Lab) serve(w *World, o op, from int8, msg uint32) (answer uint32, err error) {
	if o.kind == opCommand && l.table.cut(&w.nodes[o.node-1].data, o.batch) {
		return lostConn, nil
	}
	e := l.emit(w, history.Apply)
	e.Client, e.Node, e.Msg = int(from), int(o.node), int(msg)
	if o.kind != opCommand {
		return uint32(w.res.serve(o, l.setup.Fenced, e)), nil
	}
	node := &w.nodes[o.node-1]
	eff, err := l.table.apply(&node.data, node.clock.read(w.now), o.batch)
	if err != nil {
		return 0, err
	}
	e.Cmd, e.Reply = l.table.batches[o.batch].text, l.table.replies[eff.reply].text
	for i := range eff.changes {
		l.emitChange(w, node, int(from), int(o.node), &eff.changes[i])
	}
	if len(eff.changes) > 0 && l.setup.Nodes[o.node-1].Replica {
		node.behind = true
	}
	return eff.reply, nil
}

func (l *Lab) emitChange(w *World, node *nodeState, client, n int, ch *change) {
	e := l.emit(w, history.Change)
	e.Client, e.Node, e.Key, e.Before, e.After = client, n, ch.key, ch.before, ch.after
	switch {
	case ch.place >= 0:
		e.Until = node.gone(w.now, node.data.deadline[ch.place])
	case ch.after != "":
		e.Until = history.Forever
	}
}

func (l *Lab) answer(w *World, c Choice, p *procState, th *threadState) error {
	o := l.op(w, c)
	s := seen{kind: replied, val: int64(th.reply)}
	kind := history.Answer
	if th.reply == lostConn {
		s, kind = seen{kind: broken}, history.Broken
	}
	e := l.emitClient(w, kind, c.Client, c.Thread)
	e.Node, e.Msg = int(o.node), int(th.msg)
	if o.kind == opCommand {
		e.Cmd = l.table.batches[o.batch].text
		if kind == history.Answer {
			e.Reply = l.table.replies[th.reply].text
		}
	}
	return l.observe(w, c, s)
}

func (l *Lab) giveUp(w *World, c Choice, p *procState, th *threadState) error {
	o := l.op(w, c)
	if th.phase == asking {
		w.addLate(*o, c.Client, th.msg)
	}
	e := l.emitClient(w, history.Timeout, c.Client, c.Thread)
	e.Node, e.Msg = int(o.node), int(th.msg)
	if o.kind == opCommand {
		e.Cmd = l.table.batches[o.batch].text
	}
	return l.observe(w, c, seen{kind: timedOut})
}

// addLate keeps a request under way. If there is no room the oldest is lost.
func (w *World) addLate(o op, from int8, msg uint32) {
	for i := range w.late {
		if w.late[i].op.kind == opNone {
			w.late[i] = lateState{op: o, from: from, msg: msg}
			return
		}
	}
	copy(w.late[:], w.late[1:])
	w.late[maxLate-1] = lateState{op: o, from: from, msg: msg}
}

func (l *Lab) arriveLate(w *World, c Choice) error {
	if c.Thread < 0 || c.Thread >= maxLate || w.late[c.Thread].op.kind == opNone || w.late[c.Thread].from != c.Client {
		return l.refuse(w, c, "no such request is on the way")
	}
	m := w.late[c.Thread]
	w.late[c.Thread] = lateState{}
	_, err := l.serve(w, m.op, m.from, m.msg)
	return err
}

// observe hands an observation to a client's thread and puts under way what
// the client does next. Reading its clock is answered on the spot.
func (l *Lab) observe(w *World, c Choice, s seen) error {
	p := &w.procs[c.Client-1]
	proc := l.procs[c.Client-1]
	s.thread = uint8(c.Thread)
	for range maxReadings {
		at, err := proc.advance(p.at, s)
		if err != nil {
			return err
		}
		p.at = at
		n := &proc.nodes[at]
		for i := range n.notes {
			l.events = append(l.events, n.notes[i])
			e := &l.events[len(l.events)-1]
			e.At = w.now
			e.Skew = p.clock.read(w.now) - w.now
		}
		reading := l.arm(w, c.Client, p, n)
		if reading < 0 {
			return nil
		}
		s = seen{thread: uint8(reading), kind: clockWas, val: int64(p.clock.read(w.now))}
	}
	return fmt.Errorf("simulator: the code of c%d reads its clock %d times on end: time stands still until it asks a server or sleeps", c.Client, maxReadings)
}

// maxReadings bounds how often code may look at its clock before it does
// something else: whoever waits like that waits for ever.
const maxReadings = 10_000

// arm starts the operations that are new at entry n. It returns the thread
// that reads the clock, or -1.
func (l *Lab) arm(w *World, c int8, p *procState, n *procNode) (reading int) {
	reading = -1
	for t := range p.threads {
		if n.fresh&(1<<t) == 0 {
			continue
		}
		th := &p.threads[t]
		switch o := &n.ops[t]; o.kind {
		case opNone:
			*th = threadState{}
		case opClock:
			*th = threadState{}
			reading = t
			l.absolute = true
		case opSleep:
			*th = threadState{phase: asleep, due: later(w.now, p.clock.after(o.d))}
			l.emitClient(w, history.Sleep, c, int8(t)).D = o.d
		default:
			w.sent++
			*th = threadState{phase: asking, msg: w.sent, due: later(w.now, p.clock.after(l.setup.Timeout))}
			e := l.emitClient(w, history.Send, c, int8(t))
			e.Node, e.Msg = int(o.node), int(w.sent)
			if o.kind == opCommand {
				e.Cmd = l.table.batches[o.batch].text
			}
		}
	}
	return reading
}

func (l *Lab) resume(w *World, c Choice) error {
	if c.Client < 1 || int(c.Client) > len(l.procs) {
		return l.refuse(w, c, "there is no such client")
	}
	p := &w.procs[c.Client-1]
	if p.dead || !p.paused || !p.open && p.until > w.now {
		return l.refuse(w, c, "no pause of this client ends now")
	}
	p.paused, p.open, p.until = false, false, 0
	l.emitClient(w, history.Resume, c.Client, 0)
	return nil
}

func (l *Lab) replicate(w *World, c Choice) error {
	if c.Node < 1 || int(c.Node) > len(l.setup.Nodes) || !w.nodes[c.Node-1].behind {
		return l.refuse(w, c, "no replica of this server is behind")
	}
	node := &w.nodes[c.Node-1]
	node.behind = false
	node.replica = node.data
	node.replica.shape = l.table.scriptless(node.data.shape)
	l.emit(w, history.Replicate).Node = int(c.Node)
	return nil
}
