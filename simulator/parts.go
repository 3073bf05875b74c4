package simulator

import (
	"strings"
	"time"

	"locklab/simulator/internal/clock"
)

// A World falls into parts: a client each, a server each, and the rest. Hardly
// any choice reaches more than two of them. A search that keeps parts apart can
// remember what a choice does to the few parts it reaches, and name a whole
// world by a handful of numbers. Parts are comparable values.
//
// Times in a part count from the present, so that a part recurs whenever the
// same is left to happen. Where somebody reads a clock the present itself
// matters: see Lab.Absolute.
type (
	ClientPart struct{ s procState }
	NodePart   struct {
		s      nodeState
		copies [MaxReplicas + 1]dataState
		zoo    zooState // of the ensemble
	}
	RestPart struct {
		late   uint32 // in an order that does not depend on how it came about
		res    resourceState
		budget [MaxFaults]uint8
	}
)

// Absolute says whether what happens in this lab may depend on what time it is,
// and not only on how much time is left: somebody has read a clock so far, a
// client its own or a command its server's, or a clock has a rate of its own. It
// can become true, and stays so.
func (l *Simulator) ReadsClock() bool { return l.readsClock || l.table.clocked }

// Waits says whether somebody has sent WAIT so far, so that it matters whose
// writes a replica lacks. It can become true, and stays so.
func (l *Simulator) SendsWait() bool { return l.table.waited }

// ClientPart takes client c's part (from 1) out of w.
func (w *World) ClientPart(c int) ClientPart {
	p := w.procs[c-1]
	if p.dead {
		return ClientPart{procState{dead: true}}
	}
	if p.paused && p.until != clock.Never {
		p.until -= w.now
	}
	for t := range p.threads {
		th := &p.threads[t]
		th.msg = 0
		if (th.phase == asleep || th.phase.waiting()) && th.due != clock.Never {
			th.due = max(th.due-w.now, 0) // overdue is overdue: it stood still
		}
		if th.hold != clock.Never {
			th.hold = max(th.hold-w.now, 0)
		}
	}
	return ClientPart{p}
}

// SetClientPart puts a part in client c's place, from 1.
func (w *World) SetClientPart(c int, part *ClientPart) {
	p := &w.procs[c-1]
	*p = part.s
	if p.paused && p.until != clock.Never {
		p.until += w.now
	}
	for t := range p.threads {
		th := &p.threads[t]
		if (th.phase == asleep || th.phase.waiting()) && th.due != clock.Never {
			th.due += w.now
		}
		if th.hold > 0 && th.hold != clock.Never || th.phase == blocked {
			th.hold = clock.Later(w.now, th.hold)
		}
	}
}

// NodePart takes server n's part (from 1) out of w. Unless absolute, what is
// kept of its clock is where in its present millisecond it stands.
func (l *Simulator) NodePart(w *World, n int) NodePart {
	s := w.nodes[n-1]
	read := s.clock.Read(w.now)
	part := NodePart{s: s, zoo: w.zoo.shift(-w.now)}
	copy(part.copies[:], l.copiesOf(w, n-1))
	l.shiftNode(&part, -clock.Millis(read))
	if s.cut != 0 && s.refuses != clock.Never {
		part.s.refuses = max(s.refuses-w.now, 0)
	}
	if s.out != serving && s.until != clock.Never {
		part.s.until -= w.now
	}
	if !l.SendsWait() {
		part.s.lacks = [MaxReplicas]clientSet{}
	}
	if !l.ReadsClock() {
		part.s.clock.Offset = read - time.Duration(clock.Millis(read))*time.Millisecond
	}
	return part
}

// SetNodePart puts a part in server n's place, from 1.
func (l *Simulator) SetNodePart(w *World, n int, part *NodePart) {
	p := *part
	l.shiftNode(&p, clock.Millis(p.s.clock.Read(w.now)))
	if p.s.cut != 0 && p.s.refuses != clock.Never {
		p.s.refuses += w.now
	}
	if p.s.out != serving && p.s.until != clock.Never {
		p.s.until += w.now
	}
	w.nodes[n-1] = p.s
	w.zoo = p.zoo.shift(w.now)
	copy(l.copiesOf(w, n-1), p.copies[:])
}

// shiftNode moves the deadlines of a server and its copies by ms.
func (l *Simulator) shiftNode(p *NodePart, ms int64) {
	l.shift(&p.s.data, ms)
	for i := range p.copies {
		l.shift(&p.copies[i], ms)
	}
}

// shift moves the deadlines of data by ms.
func (l *Simulator) shift(d *dataState, ms int64) {
	for i := range l.table.shapes[d.shape].ttls {
		d.deadline[i] += ms
	}
}

// RestPart takes what belongs to nobody in particular out of w.
func (l *Simulator) RestPart(w *World) RestPart {
	return RestPart{l.canonicalLate(w.late, w.now), w.res, w.budget}
}

// SetRestPart puts it back.
func (l *Simulator) SetRestPart(w *World, r *RestPart) {
	w.late, w.res, w.budget = l.absoluteLate(r.late, w.now), r.res, r.budget
}

// At is an empty world at the given true time, for putting parts into.
func (l *Simulator) At(now time.Duration) World { return World{now: now} }

// Finished says whether the client's main thread has come to its end, or to its
// death; its timers may still run.
func (p *ClientPart) Finished() bool {
	return p.s.dead || !p.s.paused && p.s.threads[0].phase == idle
}

// Dead says whether the client has been killed.
func (p *ClientPart) Dead() bool { return p.s.dead }

// Timeless says whether the part does not change as time passes.
func (p *ClientPart) Timeless() bool {
	if p.s.paused && p.s.until != clock.Never {
		return false
	}
	for t := range p.s.threads {
		th := &p.s.threads[t]
		if (th.phase == asleep || th.phase.waiting()) && th.due != clock.Never && th.due > 0 {
			return false
		}
		if th.hold != clock.Never && th.hold > 0 {
			return false
		}
	}
	return true
}

// Ready appends what the client can do at once, as Enabled lists it, and says
// how long it is until something of its own is due: 0 if something is, Never if
// nothing ever will be.
func (l *Simulator) Ready(c int, part *ClientPart, buf []Choice) (choices []Choice, due time.Duration) {
	w := l.At(0)
	w.SetClientPart(c, part)
	p := &w.procs[c-1]
	buf = p.enabled(&w, int8(c), buf)
	if l.zoo != nil {
		buf = l.zooEnabled(&w, int8(c), buf)
	}
	return buf, max(p.due(0), 0)
}

// DueAt is how long it is until something is due at the server: a key expires, it
// comes back. Never if nothing is.
func (l *Simulator) DueAt(part *NodePart, now time.Duration) time.Duration {
	p := *part
	l.shiftNode(&p, clock.Millis(p.s.clock.Read(now)))
	if p.s.until != clock.Never {
		p.s.until += now
	}
	due := l.dueAt(now, &p.s, p.copies[:])
	if due != clock.Never {
		due -= now
	}
	return min(due, p.zoo.due())
}

// ReadyNode appends what server n can do at once, as Enabled lists it.
func (l *Simulator) ReadyNode(n int, part *NodePart, buf []Choice) []Choice {
	return part.s.enabled(int8(n), buf)
}

// Split says whether the server's old master lives on.
func (p *NodePart) Split() bool { return p.s.cut != 0 }

// Spent is how many strikes the faults have made, of what the setup allows.
func (l *Simulator) Spent(r *RestPart) (spent int) {
	for i, f := range l.setup.Faults {
		spent += f.Times - int(r.budget[i])
	}
	return spent
}

// Strikes appends every strike of a fault that is possible in w. The error is a
// *LimitError: there are others, for which the lab has no room.
func (l *Simulator) FaultChoices(w *World, buf []Choice) ([]Choice, error) {
	l.unsaid = nil
	for i, f := range l.setup.Faults {
		if w.budget[i] > 0 {
			buf = f.Fault.Choices(FaultContext{l, w}, buf)
		}
	}
	return buf, l.unsaid
}

// Entered says whether client c was given the lock, now or before. Of the dead
// nothing is known.
func (l *Simulator) Entered(c int, part *ClientPart) bool {
	return l.procs[c-1].nodes[part.s.at].entered
}

// Doing says what a thread of client c is at: "its SET on the way", "at work".
func (l *Simulator) Doing(c int, part *ClientPart, thread int) string {
	p := l.procs[c-1]
	o := &p.nodes[part.s.at].ops[thread]
	what := "read"
	switch o.kind {
	case opCommand, opListen, opZoo:
		what = strings.ToUpper(l.cmd(o)[0])
	case opWrite:
		what = "write"
	}
	switch part.s.threads[thread].phase {
	case unborn:
		return "not yet begun"
	case asking:
		return "its " + what + " on the way"
	case stranded:
		return "its " + what + " not yet sent"
	case answered:
		return "its " + what + " executed"
	case unheard:
		return "its " + what + " unheard of"
	case listening:
		return "waiting for a message"
	case idle:
		return "at its end"
	}
	if p.nodes[part.s.at].inside {
		return "at work"
	}
	return "between two attempts"
}

// Threads is how many threads of the client wait for something that is not a
// sleep: an answer, or to begin.
func (p *ClientPart) Threads() (n int) {
	for t := range p.s.threads {
		if ph := p.s.threads[t].phase; ph == unborn || ph.waiting() {
			n++
		}
	}
	return n
}

// WaitsOn is the set of servers, bit n-1 for server n, from which client c waits
// for an answer.
func (l *Simulator) WaitsOn(c int, part *ClientPart) (servers uint8) {
	for t := range part.s.threads {
		if part.s.threads[t].phase.waiting() {
			if n := l.Target(c, part, t); n > 0 {
				servers |= 1 << (n - 1)
			}
		}
	}
	return servers
}

// BlockedOn is the set of servers that hold back an answer to client c until
// replicas have caught up.
func (l *Simulator) BlockedOn(c int, part *ClientPart) (servers uint8) {
	for t := range part.s.threads {
		if part.s.threads[t].phase == blocked {
			servers |= 1 << (l.Target(c, part, t) - 1)
		}
	}
	return servers
}

// Target is the server that the request of client c's thread goes to, from 1; 0
// is the resource.
func (l *Simulator) Target(c int, part *ClientPart, thread int) int {
	return max(int(l.procs[c-1].nodes[part.s.at].ops[thread].node), 0)
}

// Skip moves the present by d without looking at what is due. It is for worlds
// that hold no server's part.
func (w *World) Skip(d time.Duration) { w.now += d }
