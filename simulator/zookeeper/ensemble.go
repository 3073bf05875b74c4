package zookeeper

import (
	"cmp"
	"math"
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// The ensemble in a world. It is one server, number 1, and the only one: how its
// servers agree, and what happens when one of them fails, is left out, and faults
// that would need it are refused.
//
// Sessions ("ZooKeeper Sessions" in the Programmer's Guide). Code that opens connections
// begins and ends its sessions itself: see sessions.go. Any other client has one
// before the run begins. Its library pings: while the process lives, is not paused
// and has a connection, the ensemble hears from it all the time; from the moment at
// which it does not, the session's time-out runs, on the ensemble's clock, which has
// a rate and does not jump (a server counts elapsed time). A process whose program
// has ended pings on. A request that is held up holds up the pings behind it. A real
// library pings every third of the time-out, so that a session may end up to that
// much sooner.
//
// When a session ends its ephemerals go and watches fire, and the client is not
// told. It learns so when it connects again, which it does at once when it can; it
// then begins another session.
//
// Connections. Notifications of watches and replies reach a client in the order in
// which they were sent ("What ZooKeeper Guarantees about Watches"): what has been
// sent before a reply is heard with it. Notifications are on their way until the
// client hears a reply or waits for one of them. If several threads of a client wait, each hears
// its reply in its own time, and notifications are left to the threads that wait for them: the
// client's library hands both on to the threads, and the threads are not ordered. Where it matters
// whether a watch was left before something was sent or after it, that is a limit. A message that is
// lost breaks the connection, and so does a client that has waited for an answer for two thirds of
// the time-out, as ZooKeeper's own client does. Then a request on its way is run
// before the client has connected again, or never; one that is sent meanwhile
// waits. A client that connects again hands in its watches: what it has missed
// fires.

// ensemble is its number among the servers.
const ensemble = 1

// An EnsembleState is the ensemble of a world. It is a comparable value; its numbers
// name entries of its Kind's tables.
type EnsembleState struct {
	contents uint32
	clock    clock.State
	// ends is when the session at a place ends from which nothing is heard, true time;
	// 0: the ensemble hears from it, or there is none; endsNow: at the present instant, if it
	// is not heard from before that passes.
	ends [maxSessions]time.Duration
}

const endsNow = -1

// Start gives every client its session, unless its code begins that.
func (k *Kind) Start(_ int8, clients int) world.State {
	s := contents{state: k.config.Znodes}
	if k.config.Wires {
		clients = 0
	}
	for c := range clients {
		s.state, s.peers[c].session = s.state.Connect(0, k.config.Session)
	}
	return EnsembleState{contents: k.contents.ID(s), clock: k.config.Clock}
}

// Patience is two thirds of the session's time-out.
func (k *Kind) Patience() time.Duration { return k.config.Session * 2 / 3 }

// Due is when the next session ends, of those that do not end now.
func (k *Kind) Due(_ time.Duration, s world.State) time.Duration {
	next := clock.Never
	for _, end := range s.(EnsembleState).ends {
		if end > 0 {
			next = min(next, end)
		}
	}
	return next
}

// Relative is the ensemble as a part of a world at now.
func (k *Kind) Relative(now time.Duration, state world.State, readsClock bool) world.State {
	s := state.(EnsembleState)
	s.shift(-now)
	if !readsClock {
		s.clock = s.clock.WithinMillisecond(now)
	}
	return s
}

// Absolute undoes Relative.
func (k *Kind) Absolute(now time.Duration, state world.State) world.State {
	if now == 0 {
		return state
	}
	s := state.(EnsembleState)
	s.shift(now)
	return s
}

// shift moves the ends of sessions by d.
func (s *EnsembleState) shift(d time.Duration) {
	for c := range s.ends {
		if s.ends[c] > 0 && s.ends[c] != clock.Never {
			s.ends[c] += d
		}
	}
}

func (k *Kind) peer(s *EnsembleState, c int8) *peer { return &k.contents.At(s.contents).peers[c-1] }

// alive says whether the ensemble has not ended client c's session.
func (k *Kind) alive(s *EnsembleState, c int8) bool {
	return k.contents.At(s.contents).state.Alive(k.peer(s, c).session)
}

// HasSession reports whether the ensemble has a session of client c.
func (k *Kind) HasSession(w world.World, c int8) bool {
	s := k.ensemble(w)
	if k.config.Wires {
		return k.newest(s, c) != 0
	}
	return k.alive(s, c)
}

// ensemble is that of a world: memory of k, good until the next call.
func (k *Kind) ensemble(w world.World) *EnsembleState { return &k.group.Open(w)[0] }

// Znodes is what the ensemble of a world holds.
func (k *Kind) Znodes(s world.State) State { return k.contents.At(s.(EnsembleState).contents).state }

// Enabled appends that sessions end that end now. The ensemble does nothing else by itself.
func (k *Kind) Enabled(_ time.Duration, state world.State, _ int8, buf []world.Choice) []world.Choice {
	s := state.(EnsembleState)
	for at, end := range s.ends {
		if end != endsNow {
			continue
		}
		c := world.Choice{Verb: world.End, Client: int8(at + 1), Node: ensemble}
		if k.config.Wires { // a client may have several
			c.Client, c.Thread = int8(k.contents.At(s.contents).clientAt(at)), int8(at+1)
		}
		buf = append(buf, c)
	}
	return buf
}

// Offers appends that client c connects again or, if servers, the notifications for its threads
// that wait for one.
func (k *Kind) Offers(w world.World, c int8, servers bool, buf []world.Choice) []world.Choice {
	if !servers && cannotReconnect(w, c) == "" {
		buf = append(buf, world.Choice{Verb: world.Reconnect, Client: c})
	}
	p := w.Client(c)
	if !servers || p.Dead || p.Paused {
		return buf
	}
	s := k.ensemble(w)
	for t := range p.Threads {
		if p.Stands(t) {
			continue
		}
		if _, news, broken := k.hearsOnWire(w, s, c, int8(t)); news || broken {
			buf = append(buf, world.Choice{Verb: world.Unblock, Client: c, Thread: int8(t)})
		}
		if k.hears(w, s, c, int8(t)) {
			buf = append(buf, world.Choice{Verb: world.Deliver, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// hears says whether there is a notification for a thread that waits for one.
func (k *Kind) hears(w world.World, s *EnsembleState, c, thread int8) bool {
	if w.Client(c).Threads[thread].Phase != world.Asleep || len(k.peer(s, c).events) == 0 {
		return false
	}
	o := w.Op(c, thread)
	return o.Kind == process.Watch && k.peer(s, c).hears(*k.watches.At(o.Arg))
}

// cannotReconnect says why client c does not connect to the ensemble now. What came
// by the old connection is heard first.
func cannotReconnect(w world.World, c int8) (why string) {
	p := w.Client(c)
	switch {
	case p.Dead:
		return "refused.client.dead"
	case p.Paused:
		return "refused.client.paused"
	case !p.Cut:
		return "refused.connected"
	}
	for t := range p.Threads {
		if p.Threads[t].Phase == world.Answered && !p.Stands(t) && w.Op(c, int8(t)).Kind == process.Request {
			return "refused.unheard"
		}
	}
	return ""
}

// Step has an event happen.
func (k *Kind) Step(w world.World, e world.Event) (why string, err error) {
	s := k.ensemble(w)
	switch e.What {
	case world.Chosen:
		why, err = k.choose(w, s, e.Choice)
	case world.Arrived:
		k.arrive(w, s, e.Client, e.Thread)
	case world.ArrivedOrphan:
		k.serve(w, s, &e.Orphan.Op, e.Orphan.From, e.Orphan.Msg, actServeOrphan)
	case world.GaveUp:
		k.gaveUp(w, s, e.Client, e.Thread)
	case world.Lost:
		k.lost(w, s, e.Client, e.Thread)
	case world.HeldUp, world.Paused:
		k.hush(w, s, e.Client, e.What == world.HeldUp)
	case world.Resumed:
		k.resumed(w, s, e.Client)
	case world.Crashed:
		k.crashed(w, s, e.Client)
	case world.Passed:
		k.passed(w, s, e.Standing)
	case world.Settled:
		k.endSessions(w, s, func(end time.Duration) bool { return end == endsNow })
	}
	k.group.Close(w)
	return why, err
}

// choose makes a choice of Enabled or Offers happen.
func (k *Kind) choose(w world.World, s *EnsembleState, c world.Choice) (why string, err error) {
	switch c.Verb {
	case world.Reconnect:
		return k.reconnect(w, s, c.Client), nil
	case world.Deliver:
		return k.deliver(w, s, c.Client, c.Thread)
	case world.Unblock:
		return k.tellOnWire(w, s, c.Client, c.Thread)
	case world.End:
		return k.end(w, s, c), nil
	}
	return "refused.thing", nil
}

// end ends a session that ends now.
func (k *Kind) end(w world.World, s *EnsembleState, c world.Choice) (why string) {
	if !slices.Contains(k.Enabled(w.Now(), *s, ensemble, nil), c) {
		return "refused.nothing.ends"
	}
	at := c.Client
	if k.config.Wires {
		at = c.Thread
	}
	k.endSession(w, s, at)
	return ""
}

// reconnect gives a client a connection again.
func (k *Kind) reconnect(w world.World, s *EnsembleState, c int8) (why string) {
	if c < 1 || int(c) > w.Clients() {
		return "refused.client.zookeeper"
	}
	if why := cannotReconnect(w, c); why != "" {
		return why
	}
	p := w.Client(c)
	e := w.Emit(history.Reconnect)
	e.Client, e.Node = int(c), ensemble
	if !k.alive(s, c) {
		e.Note = "the session has ended"
	}
	k.act(w, s, actConnect, c, w.Memory(c))
	s.ends[c-1] = 0
	p.Cut = false
	for t := range p.Threads {
		if th := &p.Threads[t]; th.Phase == world.Stranded {
			th.Phase, th.Fresh = world.Asking, true // it is sent now, and takes its time
		}
	}
	w.DropOrphans(ensemble, world.Of(c))
	return ""
}

// deliver brings a notification to a thread that waits for it.
func (k *Kind) deliver(w world.World, s *EnsembleState, c, thread int8) (why string, err error) {
	there := c >= 1 && int(c) <= w.Clients() && thread >= 0 && thread < process.MaxThreads
	if !there || w.Client(c).Dead || w.Client(c).Stands(int(thread)) || !k.hears(w, s, c, thread) {
		return "refused.watch", nil
	}
	for t := range w.Client(c).Threads {
		k.needOrder(w, c, int8(t), k.peer(s, c).events)
	}
	eff := k.act(w, s, actNotify, c, 0)
	k.group.Close(w)
	w.EmitClient(history.Wake, c, thread).Note = "news of a watch"
	return "", w.Observe(c, thread, process.Observation{Kind: process.Notified, Val: int64(eff.answer)})
}

// arrive has the ensemble run a request.
func (k *Kind) arrive(w world.World, s *EnsembleState, c, thread int8) {
	th, kind := &w.Client(c).Threads[thread], actServe
	if !k.config.Wires && k.othersWait(w, c, thread) {
		kind = actServeBeside
	}
	sent := k.peer(s, c).events
	th.Answer(k.serve(w, s, w.Op(c, thread), c, th.Msg, kind))
	if kind == actServeBeside {
		k.needOrder(w, c, thread, sent)
		for t := range w.Client(c).Threads {
			if k.unheard(w, c, int8(t)) && int8(t) != thread {
				k.needOrder(w, c, thread, k.answers.At(w.Client(c).Threads[t].Reply).events)
			}
		}
	}
}

// unheard says whether a reply is on its way to a thread of client c.
func (k *Kind) unheard(w world.World, c, thread int8) bool {
	th := &w.Client(c).Threads[thread]
	return th.Phase == world.Answered && th.Reply != world.LostConn && w.Op(c, thread).Kind == process.Request
}

// needOrder notes a limit if the reply on its way to a thread of client c leaves a watch that events
// end which another thread hears. A watch is ended by what is sent after the reply that leaves it,
// and by nothing that was sent before; but the two threads hear of them in no order.
func (k *Kind) needOrder(w world.World, c, thread int8, events []Event) {
	if !k.unheard(w, c, thread) {
		return
	}
	code := k.answers.At(w.Client(c).Threads[thread].Reply).reply.Code
	left, leaves := k.requests.At(w.Op(c, thread).Arg).leaves(code)
	if leaves && slices.ContainsFunc(events, func(e Event) bool { return ends(e, left) }) {
		k.memo.Room.Exceed("limit.session.order")
	}
}

// othersWait says whether another thread of client c waits on the session.
func (k *Kind) othersWait(w world.World, c, thread int8) bool {
	for t := range w.Client(c).Threads {
		if o := w.Op(c, int8(t)).Kind; int8(t) != thread && (o == process.Request || o == process.Watch) {
			return true
		}
	}
	return false
}

// serve runs a request. The answer is LostConn if the session has ended.
func (k *Kind) serve(w world.World, s *EnsembleState, o *process.Op, from int8, msg uint32, kind actKind) (answer uint32) {
	if k.config.Wires {
		return k.serveOnWire(w, s, o, msg, kind)
	}
	a := act{s.contents, o.Arg, kind, from}
	eff := k.look(a)
	answer = k.real(s.contents, a, eff)
	if eff.refused { // the ensemble has closed the connection on which it comes
		if kind != actServeOrphan {
			k.cutOff(w, s, from)
		}
		return world.LostConn
	}
	e := w.Emit(history.Apply)
	e.Client, e.Node, e.Lease, e.Msg, e.Cmd = int(from), ensemble, int(o.Lease), int(msg), k.requests.At(o.Arg).text
	e.Reply = k.answers.At(answer).text
	k.enter(w, s, eff, kind, from)
	if s.ends[from-1] != 0 { // every request is a sign of life
		s.ends[from-1] = 0
		if p := w.Client(from); p.Dead || p.Paused || p.Cut || kind == actServeOrphan {
			k.silence(w, s, from)
		}
	}
	return answer
}

// silence begins the time-out of the session at a place, from 1, which is client c's, if
// it does not run yet: from now on the ensemble hears nothing from it.
func (k *Kind) silence(w world.World, s *EnsembleState, c int8) {
	if s.ends[c-1] == 0 && k.alive(s, c) {
		s.ends[c-1] = clock.Later(w.Now(), s.clock.After(k.config.Session))
	}
}

// cutOff breaks client c's connection. A request on its way may still be run.
func (k *Kind) cutOff(w world.World, s *EnsembleState, c int8) {
	p := w.Client(c)
	if p.Cut {
		return
	}
	p.Cut = true
	k.act(w, s, actCut, c, 0)
	k.silence(w, s, c)
	for t := range p.Threads {
		th := &p.Threads[t]
		if w.Op(c, int8(t)).Kind != process.Request {
			continue
		}
		if th.Phase == world.Asking && k.alive(s, c) {
			w.Orphan(c, int8(t))
		}
		if th.Phase == world.Asking || th.Phase == world.Unheard {
			th.Answer(world.LostConn)
		}
	}
}

// gaveUp breaks the connection, as ZooKeeper's own client does.
func (k *Kind) gaveUp(w world.World, s *EnsembleState, c, thread int8) {
	if k.config.Wires {
		k.hangUp(w, s, c, k.wireOf(w, c, thread))
		return
	}
	k.cutOff(w, s, c)
}

// lost breaks the connection, also where the answer had come by one that was cut
// before.
func (k *Kind) lost(w world.World, s *EnsembleState, c, thread int8) {
	if w.Op(c, thread).Kind != process.Request {
		return
	}
	if k.config.Wires {
		k.hangUp(w, s, c, k.wireOf(w, c, thread))
		return
	}
	k.cutOff(w, s, c)
	w.Client(c).Threads[thread].Answer(world.LostConn)
}

// hush silences the session of a client that pauses, or of which a request is held up.
func (k *Kind) hush(w world.World, s *EnsembleState, c int8, held bool) {
	if k.config.Wires {
		k.silenced(w, s, c, held)
		return
	}
	k.silence(w, s, c)
}

// crashed breaks the connection of a client that dies.
func (k *Kind) crashed(w world.World, s *EnsembleState, c int8) {
	if k.config.Wires {
		k.hangUpAll(w, s, c)
		k.silenced(w, s, c, false)
		return
	}
	k.cutOff(w, s, c)
}

// resumed has the client ping again, or find out that its session has ended.
func (k *Kind) resumed(w world.World, s *EnsembleState, c int8) {
	switch {
	case k.config.Wires:
		k.goesOn(w, s, c)
	case w.Client(c).Cut:
	case !k.alive(s, c):
		k.cutOff(w, s, c)
	case !pingsHeldUp(w, c):
		s.ends[c-1] = 0
	}
}

// pingsHeldUp says whether a request of client c is held up, or takes its time, and so
// do the pings behind it.
func pingsHeldUp(w world.World, c int8) bool {
	p := w.Client(c)
	for t := range p.Threads {
		if p.Threads[t].Phase == world.Asking && max(p.Threads[t].Hold, p.Threads[t].Latest) > w.Now() && w.Op(c, int8(t)).Kind == process.Request {
			return true
		}
	}
	return false
}

// passed ends the sessions whose time is over, the longest overdue first. Of two that end at the
// same moment that is first which owns the oldest znode, so that it does not depend on which
// client is which: where neither owns one the order makes no difference.
func (k *Kind) passed(w world.World, s *EnsembleState, standing bool) {
	for c := range s.ends {
		if standing && s.ends[c] == w.Now() {
			s.ends[c] = endsNow
		}
	}
	k.endSessions(w, s, func(end time.Duration) bool { return end > 0 && end <= w.Now() })
}

// endSessions ends the sessions whose ends are over; see passed for their order.
func (k *Kind) endSessions(w world.World, s *EnsembleState, over func(end time.Duration) bool) {
	for {
		first := int8(0)
		for c, end := range s.ends {
			if over(end) && (first == 0 || cmp.Or(cmp.Compare(end, s.ends[first-1]), cmp.Compare(k.oldest(s, c), k.oldest(s, int(first-1)))) < 0) {
				first = int8(c + 1)
			}
		}
		if first == 0 {
			return
		}
		k.endSession(w, s, first)
	}
}

// oldest is the transaction that created the oldest znode of the session at a place.
func (k *Kind) oldest(s *EnsembleState, at int) (czxid int64) {
	in := k.contents.At(s.contents)
	czxid = math.MaxInt64
	for i := range in.state.nodes {
		if n := &in.state.nodes[i]; n.owner != 0 && n.owner == in.peers[at].session {
			czxid = min(czxid, n.czxid)
		}
	}
	return czxid
}

// endSession ends the session at a place, from 1.
func (k *Kind) endSession(w world.World, s *EnsembleState, c int8) {
	s.ends[c-1] = 0
	e := w.Emit(history.SessionEnd)
	e.Client, e.Node = int(k.contents.At(s.contents).clientAt(int(c-1))), ensemble
	k.act(w, s, actEnd, c, 0)
}

// EndSession has the ensemble end client c's session now, as if it had not heard
// from it, and close its connection.
func (k *Kind) EndSession(w world.World, c int8) (why string) {
	why = k.sever(w, k.ensemble(w), c)
	k.group.Close(w)
	return why
}

func (k *Kind) sever(w world.World, s *EnsembleState, c int8) (why string) {
	if k.config.Wires {
		at := k.newest(s, c)
		if at == 0 {
			return "refused.session"
		}
		on := k.contents.At(s.contents).peers[at-1].on
		k.endSession(w, s, at)
		if !w.Client(c).Paused {
			k.hangUp(w, s, c, on)
		}
		return ""
	}
	if !k.alive(s, c) {
		return "refused.session"
	}
	k.endSession(w, s, c)
	if !w.Client(c).Paused {
		k.cutOff(w, s, c)
	}
	return ""
}

// act has the ensemble do something.
func (k *Kind) act(w world.World, s *EnsembleState, kind actKind, client int8, arg uint32) *effect {
	a := act{s.contents, arg, kind, client}
	eff := k.look(a)
	k.real(s.contents, a, eff)
	k.enter(w, s, eff, kind, client)
	return eff
}

// enter puts the effect of an act, which client has caused, in place and records what that changes. In a
// history the key is a znode at which clients queue, and its value the first of the
// line: the first has it by its session, for as long as that lives.
func (k *Kind) enter(w world.World, s *EnsembleState, eff *effect, kind actKind, client int8) {
	s.contents = eff.to
	for i := range eff.lines {
		emitLine(w, &eff.lines[i], kind, int(client))
	}
	for _, f := range eff.fired {
		e := w.Emit(history.Fire)
		e.Client, e.Node, e.Key, e.Note = int(f.client), ensemble, f.path, f.what
	}
}

// emitLine records that a line has another first. If the old one has left, the
// client that removed it did that; that another one is first now is a grant to that
// one.
func emitLine(w world.World, ch *lineChange, kind actKind, client int) {
	before := ch.before
	if ch.gone {
		k := history.Change
		if kind == actEnd {
			k, client = history.Expire, 0
		}
		e := w.Emit(k)
		e.Client, e.Node, e.Key, e.Before = client, ensemble, ch.key, ch.before
		before = ""
	}
	if ch.after != "" {
		e := w.Emit(history.Change)
		e.Client, e.Node, e.Key, e.Before, e.After, e.Until = int(ch.owner), ensemble, ch.key, before, ch.after, history.Forever
	}
}
