// Package attack looks for false proofs: it changes each lock on Redis in one place, runs what comes of that at random,
// and asks the lab about the same code. What a run comes to nothing may have proved impossible. The runner shares no rule
// with the lab: its code runs in real goroutines against miniredis, in a bubble whose time is free to the nanosecond, and
// its judge is in this file.
package attack

import "time"

// The judge of runs: who is inside, whose key was changed, was a write lost, who was refused by a key that nobody
// believes in. It says less than the words mean, and never more: only what is clear is counted.
//
// OVERLAP: one more is inside than the lock allows. WRONG-DEL: a command changed a key that another client had made in
// the attempt that it is in, unless it replaces one without an end (a stamp) that is a lease old. STALE-WRITE: a write
// on a read that is older than a write of another attempt. ORPHAN: a client was refused while the key was that of
// another, living client's earlier attempt. LIE: a release said that the lock was still held, or not, and that was
// false as long as it took, up to what it did itself. DEADLOCK is what the probe says.
type judge struct {
	room, quorum int
	ttl          time.Duration
	writes       []attempt
	makers       map[string]attempt // of values of the key
	changed      bool               // else the lock does not live on the key
	found        map[string]bool
}

// An attempt is one of one client.
type attempt struct {
	by     *process
	number int
}

// A grant is the key as its value stands on one server.
type grant struct {
	attempt
	value string
	made  time.Time
	until time.Time // zero: it has no end
}

func (a attempt) active() bool {
	return a.by != nil && !a.by.dead && a.by.busy && a.by.attempt == a.number
}

func (g *grant) stands() bool {
	return g.value != "" && (g.until.IsZero() || time.Now().Before(g.until))
}

// tells reports whether it can be told whose the key is.
func (w *world) tells() bool { return len(w.nodes) == 1 && w.judge.room == 1 }

// holds reports whether a client has the key of its attempt on enough servers.
func (w *world) holds(p *process) bool {
	votes := 0
	for _, n := range w.nodes {
		if n.grant.attempt == (attempt{p, p.attempt}) && n.grant.stands() {
			votes++
		}
	}
	return votes >= w.judge.quorum
}

func (w *world) enter(p *process) {
	p.inside = true
	inside := 0
	for _, o := range w.processes {
		if o.inside && !o.dead {
			inside++
		}
	}
	w.see("OVERLAP", inside > w.judge.room)
}

// write is a write that is based on the first so many writes.
func (w *world) write(a attempt, base int) {
	for _, o := range w.judge.writes[base:] {
		w.see("STALE-WRITE", o != a && w.judge.room == 1)
	}
	w.judge.writes = append(w.judge.writes, a)
}

// change is what has become of the key, by the command of an attempt, or by nobody's.
func (w *world) change(n *node, a attempt, value string, until time.Time) {
	g := &n.grant
	if g.value == value && g.until.Equal(until) {
		return
	}
	lapsed := g.until.IsZero() && value != "" && value != g.value && time.Since(g.made) >= w.judge.ttl
	w.see("WRONG-DEL", g.value != "" && a.by != nil && g.by != a.by && g.active() && !lapsed && w.judge.room == 1)
	if a.by != nil && a.by.telling { // what it does itself ends what can be false of its release
		w.look()
		a.by.decided = a.by.decided || g.by == a.by
	}
	if maker, known := w.judge.makers[value]; a.by == nil { // an older copy of a server
		a = maker
	} else if known && maker != a {
		w.judge.makers[value] = attempt{} // it cannot be told
	} else {
		w.judge.makers[value] = a
	}
	if g.value != value {
		*g = grant{attempt: a, value: value, made: time.Now()}
	}
	g.until = until
	w.judge.changed = true
	w.look()
}

// look looks at the releases that are under way.
func (w *world) look() {
	for _, p := range w.processes {
		if p.telling && !p.decided {
			held := w.holds(p)
			p.had, p.lacked = p.had && held, p.lacked && !held
		}
	}
}

// told is what a release has said.
func (w *world) told(p *process, held, claims bool) {
	w.look()
	p.telling = false
	w.see("LIE", claims && w.judge.changed && w.tells() && (held && p.lacked || !held && p.had))
}

// met reports whether the key keeps a client out for the sake of an attempt that is over.
func (w *world) met(p *process) bool {
	g := w.nodes[0].grant
	return w.tells() && g.by != nil && g.by != p && !g.by.dead && !g.by.busy && g.stands()
}

func (w *world) see(word string, is bool) {
	if is {
		w.judge.found[word] = true
	}
}
