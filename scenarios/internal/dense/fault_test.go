package dense

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/simulator/history"
)

// strike lets faults strike. unsent is a message that is about to be sent, or nil.
func (w *world) strike(unsent *message) {
	for i, left := range w.left {
		if left > 0 && w.oneIn(w.hazard) && w.inject(w.budget[i], unsent) {
			w.left[i]--
		}
	}
}

// inject has a fault strike somebody, and says whether it could. What it does at once is
// paid for by the strike.
func (w *world) inject(a allowance, unsent *message) bool {
	do := (func())(nil)
	switch a.fault {
	case "pause", "pause-thread":
		do = w.stop(a, unsent)
	case "crash":
		do = w.crash()
	case "lose-request", "lose-reply", "delay", "fail-call":
		do = w.hinder(a)
	case "hang", "restart", "failover", "node-clock":
		do = w.spoil(a)
	case "client-clock":
		if p := pick(w, w.processes, func(p *process) bool { return !p.dead }); p != nil {
			do = func() { d := w.jump(a.most); w.tell("the clock of c%d jumps by %v", p.id, d); p.ahead += d }
		}
	case "evict", "delete", "flush":
		do = w.remove(a)
	default:
		panic("no such fault: " + a.fault)
	}
	if do == nil || unsent != nil && a.fault != "pause" && a.fault != "pause-thread" {
		return false
	}
	w.strikes++
	do()
	return true
}

// pick is one of list that fits; nil: none does.
func pick[T any](w *world, list []*T, fits func(*T) bool) *T {
	fitting := slices.DeleteFunc(slices.Clone(list), func(x *T) bool { return !fits(x) })
	if len(fitting) == 0 {
		return nil
	}
	return fitting[w.IntN(len(fitting))]
}

// stop pauses a process, or a thread that has begun, for example the one that is about to send.
func (w *world) stop(a allowance, unsent *message) func() {
	runs := func(p *process) bool {
		return !p.dead && !p.done && !p.paused && (unsent == nil || unsent.from.p == p) &&
			!slices.ContainsFunc(p.threads, func(t *thread) bool { return t.paused })
	}
	p := pick(w, w.processes, runs)
	if p == nil {
		return nil
	}
	most := a.most
	switch {
	case most == 0 && w.lockstep:
		most = w.ttl * time.Duration(1+w.IntN(6)) / 2
	case most == 0:
		most = 3 * w.ttl
	}
	who, paused, threads := fmt.Sprintf("c%d", p.id), &p.paused, func() []*thread { return slices.Clone(p.threads) }
	if a.fault == "pause-thread" {
		t := pick(w, p.threads, func(t *thread) bool {
			return t.yield != nil && !t.over &&
				(unsent == nil || unsent.from == t)
		})
		if t == nil {
			return nil
		}
		who, paused, threads = "a thread of "+who, &t.paused, func() []*thread { return []*thread{t} }
	}
	return func() {
		*paused = true
		w.tell("%s is paused", who)
		w.at(w.now+w.long(most), func() {
			*paused = false
			w.tell("%s goes on", who)
			for _, t := range threads() {
				t.goOn()
			}
		})
	}
}

func (w *world) crash() func() {
	p := pick(w, w.processes, func(p *process) bool { return !p.dead && !p.done })
	if p == nil {
		return nil
	}
	return func() {
		w.record(history.Event{Kind: history.Crash, Client: p.id, Lease: p.attempt})
		p.dead, p.paused = true, false
	}
}

// hinder does something to a message.
func (w *world) hinder(a allowance) func() {
	awaited := func(m *message) bool { return !m.turn.over && !m.from.p.dead }
	m := pick(w, w.messages, func(m *message) bool {
		switch {
		case m.turn == nil || !awaited(m):
			return false
		case m.stage == asking:
			return a.fault != "lose-reply" && (a.fault != "fail-call" || m.node > 0)
		case m.stage == answering:
			return (a.fault == "lose-reply" || a.fault == "delay") && m.err == nil
		}
		return false
	})
	if m == nil {
		return nil
	}
	return func() {
		w.tell("%s strikes %v of c%d", a.fault, m, m.from.p.id)
		due := m.due
		due.off = true
		switch a.fault {
		case "lose-request", "lose-reply":
			m.stage = gone
		case "fail-call":
			m.reply = strings.Repeat("-BUSY Redis is busy running a script. You can only call SCRIPT KILL or "+
				"SHUTDOWN NOSAVE.\r\n", len(m.commands))
			w.answer(m)
		case "delay":
			m.due = w.at(w.now+w.long(m.latest-w.now+a.most), due.do)
		}
	}
}

// spoil does something to a server.
func (w *world) spoil(a allowance) func() {
	n := pick(w, w.servers, func(n *node) bool { return !n.down && (!n.hung || a.fault == "node-clock") })
	if n == nil {
		return nil
	}
	return func() {
		w.tell("%s strikes n%d", a.fault, n.n)
		switch a.fault {
		case "hang":
			n.hung = true
			w.at(w.now+w.long(a.most), func() { w.tell("n%d goes on", n.n); n.wake() })
		case "restart":
			n.crash()
			w.at(w.now+w.long(a.most), func() { w.tell("n%d is back", n.n); n.down = false })
		case "failover":
			n.failover()
		case "node-clock":
			n.jump(w.jump(a.most))
		}
	}
}

// wake ends a hang: what has arrived is executed in any order, and among what happens at that instant.
func (n *node) wake() {
	if !n.hung {
		return
	}
	n.hung = false
	for _, m := range n.queue {
		m.stage, m.due = asking, n.w.at(n.w.now, func() { n.w.arrive(m) })
	}
	n.queue = nil
}

// crash loses the server's data and breaks its connections.
func (n *node) crash() {
	n.down, n.hung = true, false
	n.store.wipe()
	n.log = nil
	n.look(0, 0)
	n.disconnect()
}

// failover replaces the server by one that has missed the last of its commands.
func (n *node) failover() {
	log := n.log[:len(n.log)-n.w.IntN(min(len(n.log), 4)+1)]
	n.store.wipe()
	for _, e := range log {
		n.show(e.at)
		n.store.run(e.peer, e.args...)
	}
	n.store.run(n.store.own, "SCRIPT", "FLUSH")
	n.log, n.hung = log, false
	n.look(0, 0)
	n.disconnect()
}

// disconnect breaks all connections.
func (n *node) disconnect() {
	n.lives++
	n.queue = nil
	for _, m := range n.w.messages {
		if m.node != n.n || m.stage == gone || m.stage == unsent {
			continue
		}
		if m.due != nil && m.stage != atServer {
			if m.stage == answering && n.w.oneIn(2) {
				continue // it arrives all the same
			}
			m.due.off = true
		}
		n.w.snap(m)
	}
}

// remove deletes keys by a stranger's hand.
func (w *world) remove(a allowance) func() {
	n := pick(w, w.servers, func(n *node) bool { return !n.down })
	if n == nil {
		return nil
	}
	n.tick()
	keys := n.store.m.Keys()
	if a.fault == "evict" {
		keys = slices.DeleteFunc(keys, func(k string) bool { return n.store.m.TTL(k) == 0 })
	}
	if len(keys) == 0 && a.fault != "flush" {
		return nil
	}
	return func() {
		w.tell("%s strikes n%d", a.fault, n.n)
		if a.fault == "flush" {
			n.store.m.FlushAll()
		} else {
			n.store.m.Del(keys[w.IntN(len(keys))])
		}
		n.look(0, 0)
	}
}
