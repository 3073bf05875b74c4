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

// The ensemble in a world. It is one server, number 1, and the only one: how its servers agree, and what happens when
// one of them fails, is left out, and faults that would need it are refused.
//
// Sessions ("ZooKeeper Sessions" in the Programmer's Guide). Code that opens connections begins and ends its sessions
// itself: see connections.go. Any other client has one before the run begins. Its library pings: while the process
// lives, is not paused and has a connection, the ensemble receives from it all the time; from the moment at which it
// does not, the session's time-out runs, on the ensemble's clock, which has a rate and does not jump (a server counts
// elapsed time). A process whose program has ended pings on. A request that is held up holds up the pings behind it. A
// real library pings every third of the time-out, so that a session may end up to that much sooner.
//
// When a session ends its ephemerals go and watches fire, and the client is not notified. It observes that when it
// connects again, which it does at once when it can; it then begins another session.
//
// Connections. Notifications of watches and replies reach a client in the order in which they were sent ("What
// ZooKeeper Guarantees about Watches"): what has been sent before a reply is received with it. Notifications are on
// their way until the client receives a reply or waits for one of them. If several threads of a client wait, each
// receives its reply in its own time, and notifications are left to the threads that wait for them: the client's
// library hands both on to the threads, and the threads are not ordered. Where it matters whether a watch was left
// before something was sent or after it, that is a limit. A message that is lost breaks the connection, and so does a
// client that has waited for an answer for two thirds of the time-out, as ZooKeeper's own client does. Then a request
// on its way is run before the client has connected again, or never; one that is sent meanwhile waits. A client that
// connects again hands in its watches: what it has missed fires.

// number is that of the ensemble among the servers.
const number = 1

// An EnsembleState is the ensemble of a world. It is a comparable value; its numbers name entries of its Kind's tables.
type EnsembleState struct {
	contents uint32
	clock    clock.State
	// ends are the true times at which the sessions at their places end that are silent; 0: the ensemble receives from
	// it, or there is none; endsNow: at the present instant, if it stays silent until that passes.
	ends [maxSessions]time.Duration
}

const endsNow = -1

// Condition is zero: no fault strikes the ensemble.
func (s EnsembleState) Condition() world.Condition { return world.Condition{} }

// WithoutCopies and WithoutAges are the ensemble itself, which has no replicas.
func (s EnsembleState) WithoutCopies() world.State { return s }
func (s EnsembleState) WithoutAges() world.State   { return s }

// shift moves the ends of sessions by d.
func (s *EnsembleState) shift(d time.Duration) {
	for c := range s.ends {
		if s.ends[c] > 0 && s.ends[c] != clock.Never {
			s.ends[c] += d
		}
	}
}

// An ensemble is that of a world while something happens to it.
type ensemble struct {
	*EnsembleState
	kind *Kind
	x    *Executor
	w    world.World
}

// now returns the contents of the ensemble.
func (s *ensemble) now() *contents { return s.x.contents.At(s.contents) }

// emit records an event of the ensemble and a client.
func (s *ensemble) emit(kind history.EventKind, c int8) *history.Event {
	e := s.w.Emit(kind)
	e.Client, e.Node = int(c), number
	return e
}

// onWires reports whether clients' code opens connections; else each one's library keeps one session, at its own place.
func (s *ensemble) onWires() bool { return s.kind.config.Wires }

// apply records that a request is run.
func (s *ensemble) apply(o *process.Op, from int8, msg, answer uint32) {
	e := s.emit(history.Apply, from)
	e.Lease, e.Msg, e.Cmd = int(o.Lease), int(msg), s.x.requests.At(o.Arg).text
	e.Reply = s.x.answers.At(answer).text
}

// wireOf returns the connection that a client's thread waits on; zero: it waits on none.
func (s *ensemble) wireOf(c, thread int8) (on wireRef) {
	if o := s.w.Op(c, thread); o.Kind.ToServer() {
		on = s.x.requests.At(o.Arg).on
	}
	return on
}

// heldUp reports whether a request on a connection of client c and the pings behind it are held up, or take time.
func (s *ensemble) heldUp(c int8, on wireRef) bool {
	for t, th := range s.w.Client(c).Each {
		late := th.Phase == world.Asking && max(th.Hold, th.Latest) > 0
		if late && s.w.Op(c, t).Kind == process.Request && s.wireOf(c, t) == on {
			return true
		}
	}
	return false
}

// silence begins the time-out of the session at a place, from 1, unless it runs: the ensemble receives no more from it.
func (s *ensemble) silence(at int8) {
	if s.ends[at-1] == 0 && s.alive(at) {
		s.ends[at-1] = clock.Later(s.w.Now(), s.clock.After(s.kind.config.Session))
	}
}

// passed ends the sessions whose time is over, the longest overdue first. Of two that end together that is first which
// owns the oldest znode, so that clients' names do not matter: where neither owns one any order will do.
func (s *ensemble) passed(pending bool) {
	for c := range s.ends {
		if pending && s.ends[c] == s.w.Now() {
			s.ends[c] = endsNow
		}
	}
	s.endSessions(func(end time.Duration) bool { return end > 0 && end <= s.w.Now() })
}

// endSessions ends the sessions whose ends are over; see passed for their order.
func (s *ensemble) endSessions(over func(end time.Duration) bool) {
	for {
		var due []int8
		for i, end := range s.ends {
			if over(end) {
				due = append(due, int8(i+1))
			}
		}
		if len(due) == 0 {
			return
		}
		s.endSession(slices.MinFunc(due, func(a, b int8) int {
			return cmp.Or(cmp.Compare(s.ends[a-1], s.ends[b-1]), cmp.Compare(s.oldest(a), s.oldest(b)))
		}))
	}
}

// oldest returns the transaction that created the oldest znode of the session at a place, from 1.
func (s *ensemble) oldest(at int8) (czxid int64) {
	in := s.now()
	czxid = math.MaxInt64
	for i := range in.state.nodes {
		if n := &in.state.nodes[i]; n.owner != 0 && n.owner == in.at(at).session {
			czxid = min(czxid, n.czxid)
		}
	}
	return czxid
}

// endSession ends the session at a place, from 1.
func (s *ensemble) endSession(at int8) {
	s.ends[at-1] = 0
	s.emit(history.SessionEnd, s.now().clientAt(at))
	s.act(ActEnd, at, 0)
}

// act has the ensemble do something.
func (s *ensemble) act(kind ActKind, client int8, arg uint32) *effect {
	a := act{s.contents, arg, kind, client}
	eff := s.x.look(a)
	s.kind.real(a, eff)
	s.enter(eff, kind, client)
	return eff
}

// enter puts the effect of an act of client in place and records what that changes. In a history the key is a znode at
// which clients queue, and its value the first of the line: the first has it by its session, as long as that lives.
func (s *ensemble) enter(eff *effect, kind ActKind, client int8) {
	s.contents = eff.to
	for i := range eff.lines {
		s.emitLine(&eff.lines[i], kind, client)
	}
	for _, f := range eff.fired {
		e := s.emit(history.Fire, f.client)
		e.Key, e.Note = f.path, f.what
	}
}

// emitLine records that a line has another first. If the old one has left, the client that removed it did that; that
// another one is first now is a grant to that one.
func (s *ensemble) emitLine(ch *lineChange, kind ActKind, client int8) {
	before := ch.before
	if ch.gone {
		k := history.Change
		if kind == ActEnd {
			k, client = history.Expire, 0
		}
		e := s.emit(k, client)
		e.Key, e.Before = ch.key, ch.before
		before = ""
	}
	if ch.after != "" {
		e := s.emit(history.Change, ch.owner)
		e.Key, e.Before, e.After, e.Until = ch.key, before, ch.after, history.Forever
	}
}
