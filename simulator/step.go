package simulator

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// Enabled appends to buf everything that may happen next in w, in a fixed
// order: what is ready, then the passing of time up to the next deadline of
// anybody, then the faults. Time may also pass by less than the listed D, and
// by anything up to 100 years after the start if nobody has a deadline.
func (l *Simulator) Enabled(w *World, buf []Choice) []Choice {
	for c := range l.procs {
		buf = w.procs[c].enabled(w, int8(c+1), buf)
		if l.table.listens {
			buf = l.tellings(w, int8(c+1), buf)
		}
		if l.zoo != nil {
			buf = l.zooEnabled(w, int8(c+1), buf)
		}
	}
	if w.late != 0 {
		buf = l.lateEnabled(w, buf)
	}
	for n := range l.setup.Nodes {
		buf = w.nodes[n].enabled(int8(n+1), buf)
	}
	if next := l.NextDeadline(w); next > w.now && next != clock.Never {
		buf = append(buf, Choice{Verb: Pass, D: next - w.now})
	}
	for i, f := range l.setup.Faults {
		if w.budget[i] > 0 {
			buf = f.Fault.Choices(FaultContext{l, w}, buf)
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
			th := &p.threads[t]
			switch {
			case th.hold > w.now:
			case th.phase == asking:
				buf = append(buf, Choice{Verb: Arrive, Client: c, Thread: int8(t)})
			case th.phase == blocked:
				buf = append(buf, Choice{Verb: Unblock, Client: c, Thread: int8(t)})
			}
		}
		return buf
	}
	for t := range p.threads {
		th := &p.threads[t]
		ch := Choice{Client: c, Thread: int8(t)}
		switch held := th.hold > w.now; {
		case held:
		case th.phase == unborn:
			ch.Verb = Start
		case th.phase == asking:
			ch.Verb = Arrive
		case th.phase == blocked:
			ch.Verb = Unblock
		case th.phase == answered:
			ch.Verb = Answer
		case th.phase == asleep && th.due <= w.now:
			ch.Verb = Wake
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

func (n *nodeState) enabled(number int8, buf []Choice) []Choice {
	if n.out != serving {
		return buf
	}
	for i := range int8(MaxReplicas + 1) {
		if n.behind>>i&1 != 0 {
			buf = append(buf, Choice{Verb: Replicate, Node: number, Thread: i})
		}
	}
	if n.cut != 0 {
		buf = append(buf, Choice{Verb: Heal, Node: number})
	}
	return buf
}

// Next is the next true time, not before now, at which something is due: a
// sleep or a pause ends, somebody gives up waiting, a key expires. Never if
// nothing is. Time cannot pass beyond it.
func (l *Simulator) NextDeadline(w *World) time.Duration {
	next := clock.Never
	for c := range l.procs {
		next = min(next, w.procs[c].due(w.now))
	}
	late := l.lates.lists[w.late]
	for i := range late {
		if late[i].hold > w.now {
			next = min(next, late[i].hold)
		}
	}
	for n := range l.setup.Nodes {
		next = min(next, l.dueAt(w.now, &w.nodes[n], l.copiesOf(w, n)))
	}
	if l.zoo != nil {
		next = min(next, w.zoo.due())
	}
	if next > clock.EndOfTime {
		return clock.Never
	}
	return max(next, w.now)
}

// due is when the next thing of the process's own is due; Never if nothing is.
// While it stands still the network and the servers go on.
func (p *procState) due(now time.Duration) time.Duration {
	next := clock.Never
	if p.paused {
		next = p.until
	}
	for t := range p.threads {
		th := &p.threads[t]
		if !p.paused && (th.phase == asleep || th.phase.waiting()) {
			next = min(next, th.due)
		}
		if th.phase == blocked || th.hold > now {
			next = min(next, th.hold)
		}
	}
	return next
}

// dueAt is when the next thing is due at a server: a key expires, it comes back.
func (l *Simulator) dueAt(now time.Duration, node *nodeState, copies []dataState) time.Duration {
	next := clock.Never
	switch node.out {
	case serving:
		next = l.gone(now, node, &node.data)
	case hung:
		next = min(node.until, l.gone(now, node, &node.data))
	case down:
		next = node.until
	}
	if node.cut != 0 {
		next = min(next, l.gone(now, node, &copies[node.stray]))
	}
	return next
}

// gone is the first true time at which a key of a server's data is dead.
func (l *Simulator) gone(now time.Duration, node *nodeState, data *dataState) time.Duration {
	first := clock.Never
	for i := range l.table.shapes[data.shape].ttls {
		first = min(first, node.gone(now, data.deadline[i]))
	}
	return first
}

// gone is the first true time at which a key with the given deadline is dead.
func (n *nodeState) gone(now time.Duration, deadline int64) time.Duration {
	if deadline >= clock.EndOfTime.Milliseconds() {
		return clock.Never
	}
	return n.clock.When(now, time.Duration(deadline+1)*time.Millisecond)
}

// Quiet says that no client will do anything any more: all have ended or died.
func (l *Simulator) Quiet(w *World) bool {
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
// client's code, a command that the lab cannot carry, a *LimitError) leaves w
// unusable.
func (l *Simulator) Step(w *World, c Choice) ([]history.Event, error) {
	l.events = l.events[:0]
	err := l.step(w, c)
	if l.room.Exceeded != nil {
		err = l.room.Take()
	}
	return l.events, err
}

func (l *Simulator) step(w *World, c Choice) error {
	switch c.Verb {
	case Pass:
		return l.pass(w, c)
	case Start, Arrive, Answer, Wake, GiveUp, Unblock:
		return l.stepThread(w, c)
	case Resume:
		return l.resume(w, c)
	case Orphaned:
		return l.arriveLate(w, c)
	case Replicate:
		return l.replicate(w, c)
	case Heal:
		return l.heal(w, c)
	case Deliver:
		return l.deliver(w, c)
	case Reconnect:
		return l.reconnect(w, c)
	}
	for i, f := range l.setup.Faults {
		if f.Fault.Verb() == c.Verb {
			return l.inject(w, i, c)
		}
	}
	return l.refuse(w, c, "no fault of this scenario has this verb")
}

func (l *Simulator) refuse(w *World, c Choice, why string) error {
	return &NotEnabledError{Choice: l.Describe(c), At: w.now, Why: why}
}

// Describe is the choice in words.
func (l *Simulator) Describe(c Choice) string {
	for _, f := range l.setup.Faults {
		if f.Fault.Verb() == c.Verb {
			return c.text(f.Fault.Name())
		}
	}
	return c.String()
}

func (l *Simulator) emit(w *World, k history.Kind) *history.Event {
	l.events = append(l.events, history.Event{At: w.now, Kind: k})
	return &l.events[len(l.events)-1]
}

// emitClient is emit with the client's name and its own clock.
func (l *Simulator) emitClient(w *World, k history.Kind, c int8, t int8) *history.Event {
	e := l.emit(w, k)
	e.Client, e.Thread = int(c), int(t)
	e.Skew = w.procs[c-1].clock.Read(w.now) - w.now
	return e
}

func (l *Simulator) pass(w *World, c Choice) error {
	switch next := l.NextDeadline(w); {
	case c.D <= 0:
		return l.refuse(w, c, "time moves forward only")
	case next <= w.now:
		return l.refuse(w, c, "something is due first")
	case c.D > next-w.now:
		return l.refuse(w, c, "something is due before")
	case c.D > clock.EndOfTime-w.now:
		return l.refuse(w, c, "a world lasts "+clock.EndOfTime.String())
	}
	w.now += c.D
	l.comeBack(w)
	l.expire(w)
	return nil
}

// comeBack ends the outages whose time has come.
func (l *Simulator) comeBack(w *World) {
	for n := range l.setup.Nodes {
		switch node := &w.nodes[n]; {
		case node.out == serving || node.until > w.now:
		case node.out == down:
			l.up(w, n)
		default:
			node.out, node.until = serving, 0
		}
	}
}

// up says that server n, from 0, serves again, and with what.
func (l *Simulator) up(w *World, n int) {
	w.nodes[n].out, w.nodes[n].until = serving, 0
	e := l.emit(w, history.Up)
	e.Node, e.Note = n+1, [...]string{NoAOF: "empty", EverySecond: "with its last fsync", Always: "with its data"}[l.setup.Nodes[n].AOF]
}

// expire removes the keys whose time is over. A server that is down removes
// nothing until it is back.
func (l *Simulator) expire(w *World) {
	if l.zoo != nil {
		l.endSessions(w)
		return
	}
	for n := range l.setup.Nodes {
		node := &w.nodes[n]
		if node.out != down && l.expireIn(w, node, &node.data, n+1) {
			l.leaveBehind(node, n)
		}
		if node.cut != 0 {
			data, number := l.stray(w, n)
			l.expireIn(w, node, data, number)
		}
	}
}

// expireIn does so with one server's data, and says whether there were any.
func (l *Simulator) expireIn(w *World, node *nodeState, data *dataState, number int) (any bool) {
	for now := node.clock.Read(w.now); ; any = true {
		place, ok := l.table.overdue(data, now)
		if !ok {
			return any
		}
		key := l.table.drop(data, place)
		e := l.emit(w, history.Expire)
		e.Node, e.Key, e.Before = number, key.name, key.text()
	}
}

// leaveBehind says that no copy of server n, from 0, has what it has just become.
func (l *Simulator) leaveBehind(node *nodeState, n int) {
	node.behind = 1<<l.setup.Nodes[n].copies() - 1
	if node.cut != 0 {
		node.behind &^= 1 << node.stray
	}
}

// stepThread is what happens to one thread of one client.
func (l *Simulator) stepThread(w *World, c Choice) error {
	if c.Client < 1 || int(c.Client) > len(l.procs) || c.Thread < 0 || c.Thread >= MaxThreads {
		return l.refuse(w, c, "there is no such client or thread")
	}
	p := &w.procs[c.Client-1]
	th := &p.threads[c.Thread]
	switch {
	case p.dead:
		return l.refuse(w, c, "the client is dead")
	case p.paused && c.Verb != Arrive && c.Verb != Unblock:
		return l.refuse(w, c, "the client is paused")
	}
	switch c.Verb {
	case Start:
		if th.phase != unborn {
			return l.refuse(w, c, "the client has started")
		}
		return l.observe(w, c, observation{kind: started})
	case Wake:
		if th.phase != asleep || th.due > w.now {
			return l.refuse(w, c, "it is not time to wake")
		}
		l.emitClient(w, history.Wake, c.Client, c.Thread)
		return l.observe(w, c, observation{kind: slept})
	case Arrive:
		if th.phase != asking || th.hold > w.now {
			return l.refuse(w, c, "no request is on the way, or it is held up")
		}
		return l.arrive(w, c, th)
	case Unblock:
		if th.phase == listening {
			return l.push(w, c, th)
		}
		if th.phase != blocked || th.hold > w.now {
			return l.refuse(w, c, "no WAIT of this thread has lasted long enough")
		}
		l.unblock(w, c, th)
		return nil
	case Answer:
		if th.phase != answered || th.hold > w.now {
			return l.refuse(w, c, "no reply is on the way, or it is held up")
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
func (l *Simulator) op(w *World, c Choice) *op {
	return &l.procs[c.Client-1].nodes[w.procs[c.Client-1].at].ops[c.Thread]
}

func (l *Simulator) arrive(w *World, c Choice, th *threadState) error {
	o := l.op(w, c)
	switch o.kind {
	case opZoo:
		th.answer(l.zooServe(w, o, c.Client, th.msg, zooServe))
		return nil
	case opCommand:
		switch node := &w.nodes[o.node-1]; node.outage(c.Client) {
		case down:
			th.answer(lostConn)
			return nil
		case hung:
			th.hold = node.until
			return nil
		}
		if l.table.batches[o.batch].wait != nil {
			return l.arriveWait(w, c, th, *o)
		}
	}
	answer, err := l.serve(w, *o, c.Client, th.msg)
	th.answer(answer)
	return err
}

// outage is the state of what a client reaches of a server.
func (n *nodeState) outage(client int8) outage {
	if n.out != serving && n.cut.has(client) {
		return serving
	}
	return n.out
}

// serve has a request executed where it was sent to.
func (l *Simulator) serve(w *World, o op, from int8, msg uint32) (answer uint32, err error) {
	if o.kind == opCommand && l.table.cut(&w.nodes[o.node-1].data, o.batch) {
		return lostConn, nil
	}
	e := l.emit(w, history.Apply)
	e.Client, e.Node, e.Msg = int(from), int(o.node), int(msg)
	if o.kind != opCommand {
		return uint32(w.res.serve(o, l.setup.Guard, e)), nil
	}
	n := int(o.node - 1)
	node := &w.nodes[n]
	data, number, batch := &node.data, n+1, o.batch
	if node.cut != 0 {
		data, number = l.side(w, n, from)
		e.Node = number
		if l.refusing(w, n, from) {
			batch |= refusing
		}
	}
	eff, err := l.table.apply(data, node.clock.Read(w.now), batch)
	if err != nil {
		return 0, err
	}
	e.Cmd, e.Reply = l.table.batches[o.batch].text, l.table.replies[eff.reply].text
	for i := range eff.changes {
		l.emitChange(w, node, data, int(from), number, &eff.changes[i])
	}
	if len(eff.changes) > 0 && data == &node.data && l.setup.Nodes[n].copies() > 0 {
		l.leaveBehind(node, n)
		for i := range node.lacks[:l.setup.Nodes[n].Replicas] {
			node.lacks[i] |= 1 << (from - 1)
		}
	}
	return eff.reply, nil
}

func (l *Simulator) emitChange(w *World, node *nodeState, data *dataState, client, n int, ch *change) *history.Event {
	e := l.emit(w, history.Change)
	e.Client, e.Node, e.Key, e.Before, e.After = client, n, ch.key, ch.before, ch.after
	switch {
	case ch.place >= 0:
		e.Until = node.gone(w.now, data.deadline[ch.place])
	case ch.after != "":
		e.Until = history.Forever
	}
	return e
}

func (l *Simulator) answer(w *World, c Choice, p *procState, th *threadState) error {
	o := l.op(w, c)
	s := observation{kind: replied, val: int64(th.reply)}
	kind := history.Answer
	if th.reply == lostConn {
		s, kind = observation{kind: broken}, history.Broken
	}
	e := l.emitClient(w, kind, c.Client, c.Thread)
	e.Node, e.Msg = int(o.node), int(th.msg)
	e.Cmd = l.cmd(o)
	if kind == history.Answer {
		switch o.kind {
		case opCommand, opListen:
			e.Reply = l.table.replies[th.reply].text
		case opZoo:
			e.Reply = l.zoo.answers[th.reply].text
		}
	}
	return l.observe(w, c, s)
}

func (l *Simulator) giveUp(w *World, c Choice, p *procState, th *threadState) error {
	o := l.op(w, c)
	switch {
	case o.kind == opZoo:
		l.cutOff(w, c.Client)
	case th.phase == asking:
		l.addLate(w, *o, c.Client, th)
	}
	e := l.emitClient(w, history.Timeout, c.Client, c.Thread)
	e.Node, e.Msg = int(o.node), int(th.msg)
	e.Cmd = l.cmd(o)
	s := observation{kind: timedOut}
	if o.kind == opListen && th.phase == answered && th.reply != lostConn {
		s.val = int64(th.reply) // it comes all the same, and whoever reads next finds it
	}
	return l.observe(w, c, s)
}

func (l *Simulator) arriveLate(w *World, c Choice) error {
	list := l.lates.lists[w.late]
	if c.Thread < 0 || int(c.Thread) >= len(list) || list[c.Thread].from != c.Client {
		return l.refuse(w, c, "no such request is on the way")
	}
	m := list[c.Thread]
	if m.hold > w.now {
		return l.refuse(w, c, "this request is held up")
	}
	rest := append(l.lates.blank(), list...)
	if n := m.node; m.kind == opCommand && w.nodes[n-1].outage(m.from) == hung {
		rest[c.Thread].hold = w.nodes[n-1].until
		w.late = l.lates.intern(rest)
		return nil
	}
	w.late = l.lates.intern(slices.Delete(rest, int(c.Thread), int(c.Thread)+1))
	switch m.kind {
	case opZoo:
		o := m.op()
		l.zooServe(w, &o, m.from, m.msg, zooLate)
		return nil
	case opCommand:
		if w.nodes[m.node-1].outage(m.from) == down {
			return nil
		}
		if wait := l.table.batches[m.batch].wait; wait != nil { // nobody hears how many there are
			m.batch = wait.before
		}
		if m.batch == noBatch {
			return nil
		}
	}
	_, err := l.serve(w, m.op(), m.from, m.msg)
	return err
}

// observe hands an observation to a client's thread and puts under way what
// the client does next. Reading its clock is answered on the spot.
func (l *Simulator) observe(w *World, c Choice, s observation) error {
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
			e.Skew = p.clock.Read(w.now) - w.now
		}
		reading := l.arm(w, c.Client, p, n)
		if reading < 0 {
			return nil
		}
		s = observation{thread: uint8(reading), kind: clockWas, val: int64(p.clock.Read(w.now))}
	}
	return table.Limit("the code of c%d reads its clock %d times on end: time stands still until it asks a server or sleeps", c.Client, maxReadings)
}

// maxReadings bounds how often code may look at its clock before it does
// something else: whoever waits like that waits for ever.
const maxReadings = 10_000

// arm starts the operations that are new at entry n. It returns the thread
// that reads the clock, or -1.
func (l *Simulator) arm(w *World, c int8, p *procState, n *procNode) (reading int) {
	reading = -1
	for t := range p.threads {
		if n.fresh&(1<<t) == 0 {
			if n.ops[t].kind == opClock { // another thread's turn came first
				reading = t
			}
			continue
		}
		th := &p.threads[t]
		switch o := &n.ops[t]; o.kind {
		case opNone:
			*th = threadState{}
		case opClock:
			*th = threadState{}
			reading = t
			l.readsClock = true
		case opJoin:
			*th = threadState{phase: joining}
		case opListen:
			w.sent++
			*th = threadState{phase: listening, msg: w.sent, due: clock.Later(w.now, p.clock.After(o.d))}
		case opSleep, opWatch:
			*th = threadState{phase: asleep, due: clock.Later(w.now, p.clock.After(o.d))}
			e := l.emitClient(w, history.Sleep, c, int8(t))
			e.D, e.Code = o.d, n.whence(t)
		default:
			w.sent++
			*th = threadState{phase: asking, msg: w.sent, due: clock.Later(w.now, p.clock.After(l.patience(o)))}
			if o.kind == opZoo && p.cut {
				th.phase = stranded
			}
			e := l.emitClient(w, history.Send, c, int8(t))
			e.Node, e.Msg, e.Cmd, e.Code = int(o.node), int(w.sent), l.cmd(o), n.whence(t)
		}
	}
	return reading
}

func (l *Simulator) resume(w *World, c Choice) error {
	if c.Client < 1 || int(c.Client) > len(l.procs) {
		return l.refuse(w, c, "there is no such client")
	}
	p := &w.procs[c.Client-1]
	if p.dead || !p.paused || !p.open && p.until > w.now {
		return l.refuse(w, c, "no pause of this client ends now")
	}
	p.paused, p.open, p.until = false, false, 0
	l.emitClient(w, history.Resume, c.Client, 0)
	if l.zoo != nil {
		l.wakeUp(w, c.Client)
	}
	return nil
}

func (l *Simulator) replicate(w *World, c Choice) error {
	switch {
	case c.Node < 1 || int(c.Node) > len(l.setup.Nodes) || c.Thread < 0 || w.nodes[c.Node-1].behind>>c.Thread&1 == 0:
		return l.refuse(w, c, "no such replica of this server is behind")
	case w.nodes[c.Node-1].out != serving:
		return l.refuse(w, c, "the server does not run")
	}
	l.catchUp(w, c.Node, c.Thread)
	return nil
}

// catchUp gives a copy, from 0, of server n, from 1, all that the server has.
func (l *Simulator) catchUp(w *World, n, replica int8) {
	node := &w.nodes[n-1]
	l.copiesOf(w, int(n-1))[replica] = l.scriptless(node.data)
	node.behind &^= 1 << replica
	if int(replica) == l.setup.Nodes[n-1].Replicas {
		l.emit(w, history.Sync).Node = int(n)
		return
	}
	node.lacks[replica] = 0
	e := l.emit(w, history.Replicate)
	e.Node, e.Replica = int(n), replica
	l.acknowledge(w, n, replica)
}

// scriptless is data as it goes to a copy: cached scripts stay where they are.
func (l *Simulator) scriptless(data dataState) dataState {
	data.shape = l.table.scriptless(data.shape)
	return data
}
