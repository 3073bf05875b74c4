package simulator

import (
	"slices"
	"strings"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A World falls into parts: one for each client, one for each server, and the rest. Hardly any choice reaches more than
// two of them. A search that keeps parts apart can remember what a choice does to the few parts it reaches, and name a
// whole world by a handful of numbers. Parts are comparable values.
//
// Times in a part are what remains, so that a part recurs whenever the same is left to happen. Where clocks are read
// the present itself matters: see Traits.ReadsClock. Clients and requests in flight have their times so in a World as
// well. Servers and judges have true times there, which Relative, Absolute and verdict.Safety.Rebase convert:
//
// - A key ends at a whole millisecond of its server's clock. When that is depends on the true time if the clock has a
// rate. And half of the choices of timed runs let time pass (16,908 of 34,668 in all races of six locks): each would
// make the state of each server anew, of 208 bytes for a Redis, where time that passes changes nothing now.
//
// - A judge receives events with true times, and nothing when time passes between them. It would keep the time of its
// last event, which would then be part of what is compared.
type (
	ClientPart struct{ s node.ClientProcess }
	NodePart   struct{ s node.State }
	RestPart   struct {
		orphans  uint32 // in an order that does not depend on how it came about
		resource resourceState
		budget   [MaxFaults]uint8
	}
)

// Parts takes worlds apart, and answers questions about parts.
type Parts struct{ s *Simulator }

// Parts returns the parts of the simulator's worlds.
func (s *Simulator) Parts() Parts { return Parts{s} }

// Reached reports whether the last step read a server's state. A client's step that did not does
// the same, by the same choice, whatever the servers hold.
func (s *Simulator) Reached() bool { return s.reached }

// Client returns the part of client c, from 1, in w. The reading of a clock that no client has
// read is left out of it; with hypothesis.Measures the clock shows the time that the client has measured.
func (ps Parts) Client(w *World, c int) ClientPart {
	p := w.procs[c-1]
	if p.Dead {
		dead := node.ClientProcess{Dead: true}
		if ps.s.returns {
			dead.At, dead.Clock, dead.List = p.At, p.Clock, p.List
		}
		p = dead
	}
	switch {
	case ps.s.traits.byClients:
	case p.Clock.Measures:
		p.Clock.Offset = p.Clock.Read(w.now)
		if ps.s.stamps.grain == 0 {
			p.Clock.Skew = 0
		}
	case ps.s.stamps.grain == 0:
		p.Clock.Offset = 0
	}
	for t := range p.Threads {
		p.Threads[t].Msg, p.Threads[t].Fresh = 0, false
	}
	return ClientPart{p}
}

// SetClientPart puts a part in client c's place, from 1.
func (w *World) SetClientPart(c int, part *ClientPart) {
	p := &w.procs[c-1]
	*p = part.s
	if p.Clock.Measures {
		p.Clock.Offset -= w.now
	}
}

// Node takes server n's part, from 1, out of w. Unless clocks are read, what is
// kept of its clock is where in its present millisecond it stands.
func (ps Parts) Node(w *World, n int) NodePart {
	state := ps.s.kind.Relative(w.now, w.servers[n-1], ps.s.Traits().ReadsClock)
	if t := ps.s.stamps.inPart(w.now); t != nil {
		state = ps.s.kind.Map(state, t)
	}
	return NodePart{state}
}

// SetNode puts a part in server n's place, from 1.
func (ps Parts) SetNode(w *World, n int, part *NodePart) {
	w.servers[n-1] = ps.s.kind.Absolute(w.now, part.s)
}

// Rest takes what belongs to no client and no server out of w.
func (ps Parts) Rest(w *World) RestPart { return RestPart{ps.s.orphansInPart(w), w.resource, w.budget} }

// SetRest puts it back.
func (ps Parts) SetRest(w *World, r *RestPart) {
	w.orphans, w.resource, w.budget = r.orphans, r.resource, r.budget
}

// World is an empty world for putting parts into, at a true time, or that time as near to the Present as can be, from
// which stamps in parts count; see Stamps.Recent.
func (ps Parts) World(now time.Duration) World {
	return World{now: ps.s.stamps.Recent(now), tables: ps.s.emptied}
}

// Strays reports whether a step has written into a part of w that was not put there: that of a client, but for those of
// which bit c-1 is set, or that of a server other than n, from 1; 0: of any server.
func (w *World) Strays(clients uint8, n int) bool {
	for c := range w.procs {
		if clients>>c&1 == 0 && w.procs[c] != (node.ClientProcess{}) {
			return true
		}
	}
	for i, state := range w.servers {
		if i != n-1 && state != nil {
			return true
		}
	}
	return false
}

// scratchWith is a world in which only client c is defined. The next call uses its memory again.
func (ps Parts) scratchWith(now time.Duration, c int, part *ClientPart) *World {
	ps.s.scratch.now = now
	ps.s.scratch.SetClientPart(c, part)
	return &ps.s.scratch
}

// Finished reports whether the client's main thread has come to its end, or to its death; its timers may still run.
func (p *ClientPart) Finished() bool {
	return p.s.Dead || !p.s.Paused && p.s.Threads[0].Phase == node.Idle
}

// Begun reports whether the program has begun.
func (p *ClientPart) Begun() bool { return p.s.At != 0 || p.s.Dead }

// Dead reports whether the client has been killed.
func (p *ClientPart) Dead() bool { return p.s.Dead }

// Timeless reports whether the part does not change as time passes.
func (p *ClientPart) Timeless() bool {
	later := p.s
	later.Pass(1)
	return later == p.s && !p.s.Clock.Measures
}

// StrikesClient reports whether c is a fault that reaches no server, also if it names one.
func (ps Parts) StrikesClient(c Choice) bool {
	clientside := func(f FaultBudget) bool { return f.Fault.Verb == c.Verb && f.Fault.Clientside }
	return slices.ContainsFunc(ps.s.config.Faults, clientside)
}

// WithoutCopies is a server's part, which must not be split, without what its replicas and its disk hold: nothing reads
// that unless they take its place. Which of them lack something stays: a WAIT asks.
func (p NodePart) WithoutCopies() NodePart { return NodePart{p.s.WithoutCopies()} }

// WithoutAges is a server's part, whose clock never goes back, without how long ago keys have ended that its replicas
// and its disk still hold: they never live again.
func (p NodePart) WithoutAges() NodePart { return NodePart{p.s.WithoutAges()} }

// A FaultsLeft says what no fault that the budget has left does; see [Fault].
type FaultsLeft struct {
	Punctual   bool // none breaks connections, or holds up messages or threads
	Clientside bool // none has a server lose data, or be replaced by a replica
	Advancing  bool // none sets the clocks of servers back
}

// Left returns what no fault does that the budget has left.
func (ps Parts) Left(r *RestPart) FaultsLeft {
	l := FaultsLeft{true, true, true}
	for i, f := range ps.s.config.Faults {
		if r.budget[i] > 0 {
			l.Punctual, l.Clientside = l.Punctual && f.Fault.Punctual, l.Clientside && f.Fault.Clientside
			l.Advancing = l.Advancing && !f.Fault.Rewinds
		}
	}
	return l
}

// WithoutTimeouts is client c's part without the time-outs of its requests that cannot come before the answers, if
// nothing holds up messages and threads, and nothing breaks connections: those that are due when the answer has long
// been there. Such a time-out never happens, and is never the next that is due, so that nothing depends on when it
// would. A Timing bounds how long messages take; without one nothing is left out.
func (ps Parts) WithoutTimeouts(c int, part ClientPart) ClientPart {
	if ps.s.config.Timing == nil || part.s.Paused || part.s.Stopped() > 0 {
		return part
	}
	for t := range part.s.Threads {
		th := &part.s.Threads[t]
		if th.Due == Never || !th.Phase.Waiting() {
			continue
		}
		answered := ps.answeredIn(c, th, ps.s.clients.op(int8(c), &part.s, t))
		if clock.Later(ps.s.config.Timing.Lateness, answered) < th.Due {
			th.Due = Never
		}
	}
	return part
}

// answeredIn is the longest time until a thread of client c's part reads the answer, if nothing keeps it from that;
// Never if there is no bound. That the connection breaks is an answer as well, and on its way for no longer.
func (ps Parts) answeredIn(c int, th *node.Thread, o *process.Op) time.Duration {
	latency := ps.s.clients.latency(int8(c), o)
	arrives := max(th.Hold, th.Latest)
	switch {
	case th.Broken || arrives == Never:
	case th.Phase == node.Answered:
		return arrives
	case th.Phase == node.Blocked:
		return clock.Later(latency, th.Hold)
	case th.Phase == node.Asking && o.Kind.ToServer():
		return clock.Later(arrives+latency, ps.s.kind.HoldsBack(o))
	case th.Phase == node.Asking:
		return arrives + latency
	}
	return Never
}

// Threads returns the number of threads of the client that wait for anything but a sleep: an answer, or to begin.
func (p *ClientPart) Threads() (n int) {
	for t := range p.s.Threads {
		if ph := p.s.Threads[t].Phase; ph == node.Unborn || ph.Waiting() {
			n++
		}
	}
	return n
}

// Serving reports whether the server is neither down nor hung.
func (p *NodePart) Serving() bool {
	is := p.s.Condition()
	return !is.Down && !is.Hung
}

// Split reports whether the server's old master lives on.
func (p *NodePart) Split() bool { return p.s.Condition().Split }

// Ready appends the choices of the client that depend on no server, as Enabled lists them, and
// returns the time until the client's next own deadline: 0 if it has come, Never if there is none.
// As long as no client reads its clock, none begins with a clock that is off.
func (ps Parts) Ready(c int, part *ClientPart, buf []Choice) (choices []Choice, due time.Duration) {
	w := ps.scratchWith(0, c, part)
	p := &w.procs[c-1]
	before := len(buf)
	buf = ps.s.clients.enabled(p, int8(c), buf)
	if !ps.s.traits.byClients && ps.s.stamps.grain == 0 && !part.Begun() { // whatever its clock shows, nothing reads it
		chooses := func(ch Choice) bool { return ch.Verb == Choose }
		buf = append(buf[:before], slices.DeleteFunc(buf[before:], chooses)...)
	}
	return ps.s.kind.Offers(ps.s.view(w), int8(c), false, buf), ps.s.clients.due(p, int8(c))
}

// ReadyNode appends the choices of server n by itself, as Enabled lists them.
func (ps Parts) ReadyNode(n int, part *NodePart, buf []Choice) []Choice {
	return ps.s.kind.Enabled(0, ps.s.kind.Absolute(0, part.s), int8(n), buf)
}

// DueAt returns the time until something is due at the server: a key, an outage or a session ends; Never if nothing.
func (ps Parts) DueAt(part *NodePart, now time.Duration) time.Duration {
	due := ps.s.kind.Due(now, ps.s.kind.Absolute(now, part.s))
	if due == Never {
		return Never
	}
	return due - now
}

// KeyLeft returns what is left of the first key of a server whose name begins so; Never: it has no time to live.
func (ps Parts) KeyLeft(part *NodePart, name string) time.Duration {
	found, first := false, Never
	if ps.s.fallible != nil {
		ps.s.fallible.Keys(0, ps.s.kind.Absolute(0, part.s), func(key string, _ bool, left time.Duration) {
			if !found && strings.HasPrefix(key, name) {
				found, first = true, left
			}
		})
	}
	return first
}

// Notifications appends the choices by which server n, from 1, sends threads of client c the notifications that they
// wait for, as Enabled lists them. Those for threads that wait for other servers are to be ignored.
func (ps Parts) Notifications(
	c int, client *ClientPart, n int, part *NodePart, now time.Duration, buf []Choice,
) []Choice {
	w := ps.scratchWith(now, c, client)
	ps.SetNode(w, n, part)
	return ps.s.kind.Offers(ps.s.view(w), int8(c), true, buf)
}

// Listens appends the choices by which client c's threads that listen would get a message, if there is one.
func (p *ClientPart) Listens(c int, buf []Choice) []Choice {
	for t := range p.s.Threads {
		if !p.s.Dead && p.s.Threads[t].Phase == node.Listening {
			buf = append(buf, Choice{Verb: Unblock, Client: int8(c), Thread: int8(t)})
		}
	}
	return buf
}

// Awaits reports whether a thread of client c waits for a notification, and can receive it.
func (ps Parts) Awaits(c int, part *ClientPart) bool {
	if part.s.Dead || part.s.Paused {
		return false
	}
	for t := range part.s.Threads {
		asleep := part.s.Threads[t].Phase == node.Asleep && !part.s.Stands(t)
		if asleep && ps.s.clients.op(int8(c), &part.s, t).Kind == process.Watch {
			return true
		}
	}
	return false
}

// Target is the server that the request of client c's thread goes to, from 1; 0 is the resource.
func (ps Parts) Target(c int, part *ClientPart, thread int) int {
	return max(int(ps.s.clients.op(int8(c), &part.s, thread).Node), 0)
}

// WaitsOn is the set of servers, bit n-1 for server n, from which client c waits for an answer.
func (ps Parts) WaitsOn(c int, part *ClientPart) (servers uint8) {
	return ps.serversOf(c, part, node.Phase.Waiting)
}

// BlockedOn is the set of servers that hold back an answer to client c until replicas have caught up.
func (ps Parts) BlockedOn(c int, part *ClientPart) (servers uint8) {
	return ps.serversOf(c, part, func(p node.Phase) bool { return p == node.Blocked })
}

func (ps Parts) serversOf(c int, part *ClientPart, in func(node.Phase) bool) (servers uint8) {
	for t := range part.s.Threads {
		if in(part.s.Threads[t].Phase) {
			if n := ps.Target(c, part, t); n > 0 {
				servers |= 1 << (n - 1)
			}
		}
	}
	return servers
}

// Entered reports whether client c has ever acquired the lock. It is not known of dead clients.
func (ps Parts) Entered(c int, part *ClientPart) bool {
	return ps.s.clients.procs[c-1].At(part.s.At).Entered
}

// Doing describes what a thread of client c does: "its SET on the way", "at work".
func (ps Parts) Doing(c int, part *ClientPart, thread int) string {
	if part.s.Dead {
		return "dead"
	}
	o := ps.s.clients.op(int8(c), &part.s, thread)
	what := "read"
	switch {
	case o.Kind.ToServer():
		what = strings.ToUpper(ps.s.clients.cmd(o)[0])
	case o.Kind == process.Write:
		what = "write"
	}
	switch part.s.Threads[thread].Phase {
	case node.Unborn:
		return "not yet begun"
	case node.Asking:
		return "its " + what + " on the way"
	case node.Stranded, node.Unsent:
		return "its " + what + " not yet sent"
	case node.Answered:
		return "its " + what + " executed"
	case node.Unheard:
		return "its " + what + " unheard of"
	case node.Listening:
		return "waiting for a message"
	case node.Idle:
		return "at its end"
	}
	if ps.s.clients.procs[c-1].At(part.s.At).Inside {
		return "at work"
	}
	return "between two attempts"
}

// Spent returns the number of faults injected, of those that the config allows.
func (ps Parts) Spent(r *RestPart) (spent int) {
	for i, f := range ps.s.config.Faults {
		spent += f.Times - int(r.budget[i])
	}
	return spent
}

// Faults appends every injection of a fault that is possible in w. The error
// is a *LimitError: there are others, for which the simulator has no room.
func (ps Parts) Faults(w *World, buf []Choice) ([]Choice, error) {
	ps.s.unoffered = nil
	return ps.s.faultsEnabled(w, buf), ps.s.unoffered
}
