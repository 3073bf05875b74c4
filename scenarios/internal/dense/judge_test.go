package dense

import (
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/history"
)

// The judges, from the definitions. A run is judged when it is over: judge goes through
// its events and keeps a ledger of who believes what, and of whose the key is.
//
//   - The key, as its value stands on a server, is a grant: that of the attempt whose command
//     made the value. It is live while its owner is acquiring in that attempt, has the lock,
//     or gives it back; then it is left. A value that two attempts of one client have made,
//     one after the other without a gap, belongs to both. Who enters on what an earlier
//     attempt left, and has made nothing itself, owns it anew.
//   - A client has the lock, by an attempt, if the key is that attempt's grant on a majority
//     of the servers. Where the key never changed the lock does not live on it, and a client
//     has the lock while it is inside.
//
// OVERLAP: one client more is inside than the lock allows. STALE-WRITE: the resource took a
// write on a read that is older than an update of another attempt, one that was not stale
// itself; or one whose sender no longer had the lock, while another was inside and had read.
// WRONG-DEL: a command made the key another value, or another end, where it was the live
// grant of another attempt; but a stamp (no time to live) that is a lease old may be replaced.
// LIE: a release was said to have found the lock still held, or not, and that was false at
// each moment of the call, or at that of its first change of the key's value. ORPHAN: while
// nobody had the lock, a request of a client was executed where the key was left by another
// that lives, on a majority, and the client was then refused. DEADLOCK: the probe was refused
// for good.
type judge struct {
	room, quorum int
	stamped      bool // a key without a time to live may be a stamp
	ttl          time.Duration

	stages  []part // by client, from 1, and of the probe
	changed bool
	grants  []grant // by server, from 1

	last, other update
	found       map[string]int // strikes until the first
	paid        int
}

// part is what a client plays.
type part struct {
	acquiring, inside, leaving, releasing, dead bool

	made int          // the attempt in which it has made the key; 0: not yet
	read bool         // inside, and has read
	met  map[int]bool // whose orphans its requests have met
	call lieAbout     // of its release
}

// A lieAbout is what was true in a call.
type lieAbout struct{ open, decided, had, lacked bool }

type grant struct {
	owner, attempt int // attempt 0: several
	left, forever  bool
	lapses         time.Duration // a stamp
}

type update struct{ version, client, attempt int }

// verdicts are the words that a run comes to, with the strikes before each.
func (w *world) verdicts() map[string]int {
	found := w.limits.judge(w.events, w.paid)
	if w.barred {
		found["DEADLOCK"] = w.strikes
	}
	return found
}

// judge judges events, each with the strikes before it.
func (l *limits) judge(events []history.Event, paid []int) map[string]int {
	j := &judge{room: max(l.entry.Holders, 1), quorum: l.nodes/2 + 1, stamped: !l.entry.OnZooKeeper(), ttl: l.ttl,
		grants: make([]grant, l.nodes+1), found: map[string]int{}}
	j.stages = make([]part, l.clients+2)
	if l.entry.Holders == lock.AnyNumber {
		j.room = l.clients + 1
	}
	if l.entry.Shards > 0 {
		j.quorum = 1
	}
	for i := range events {
		j.paid = paid[i]
		j.observe(&events[i])
	}
	return j.found
}

func (j *judge) add(word string) {
	if _, ok := j.found[word]; !ok {
		j.found[word] = j.paid
	}
}

// has says whether a client has the lock by an attempt, 0: by any.
func (j *judge) has(client, attempt int) bool {
	if !j.changed {
		return j.stages[client].inside
	}
	return j.count(func(g *grant) bool {
		return g.owner == client && (g.attempt == 0 || attempt == 0 || g.attempt == attempt)
	}) >= j.quorum
}

func (j *judge) count(is func(*grant) bool) (n int) {
	for i := range j.grants {
		if is(&j.grants[i]) {
			n++
		}
	}
	return n
}

// orphans are the clients whose orphans stand.
func (j *judge) orphans() (owners []int) {
	for c := range j.stages {
		if s := &j.stages[c]; s.inside || s.leaving || s.releasing {
			return nil
		}
	}
	for c := 1; c < len(j.stages); c++ {
		if !j.stages[c].dead && j.count(func(g *grant) bool { return g.owner == c && g.left }) >= j.quorum {
			owners = append(owners, c)
		}
	}
	return owners
}

func (j *judge) observe(e *history.Event) {
	c := &j.stages[e.Client]
	j.look()
	switch e.Kind {
	case history.Change, history.Expire:
		if e.Key == key {
			j.change(e)
		}
	case history.Apply:
		if e.Node > 0 && c.acquiring {
			j.meet(e, c)
		}
	case history.Read:
		c.read = c.read || c.inside
	case history.Write:
		j.write(e)
	default:
		j.move(e, c)
	}
	for i := range j.stages { // an orphan that is over has refused nobody any more
		if s := &j.stages[i]; len(s.met) > 0 {
			standing := j.orphans()
			for o := range s.met {
				if !slices.Contains(standing, o) {
					delete(s.met, o)
				}
			}
		}
	}
}

// meet is a request of a client that wants the lock.
func (j *judge) meet(e *history.Event, c *part) {
	if g := &j.grants[e.Node]; !g.left || g.owner == e.Client {
		return
	}
	for _, o := range j.orphans() {
		if o != e.Client {
			if c.met == nil {
				c.met = map[int]bool{}
			}
			c.met[o] = true
		}
	}
}

// move is a client that goes from one stage to the next.
func (j *judge) move(e *history.Event, c *part) {
	switch e.Kind {
	case history.Acquire:
		if c.leaving {
			j.rest(e.Client, c)
		}
		c.acquiring, c.met = true, nil
	case history.Enter:
		j.enter(e, c)
	case history.Refuse:
		if e.Claims && len(c.met) > 0 {
			j.add("ORPHAN")
		}
		j.rest(e.Client, c)
	case history.Sleep: // with nothing to wait for but the orphans that it has met
		if e.Rests && len(c.met) > 0 {
			j.add("ORPHAN")
		}
	case history.Leave:
		c.inside, c.read, c.leaving = false, false, true
	case history.Release:
		c.leaving, c.releasing = false, true
		j.believe(e.Client, true)
		c.call = lieAbout{open: true}
		c.call.begin(j.has(e.Client, e.Lease))
	case history.Released:
		if e.Claims && j.changed && j.room == 1 && (e.OK && c.call.lacked || !e.OK && c.call.had) {
			j.add("LIE")
		}
		j.rest(e.Client, c)
	case history.Done:
		j.rest(e.Client, c)
	case history.Crash:
		j.rest(e.Client, c)
		c.dead = true
	}
}

// enter is a client that gets the lock.
func (j *judge) enter(e *history.Event, c *part) {
	inside := 0
	for i := range j.stages {
		if j.stages[i].inside {
			inside++
		}
	}
	if inside >= j.room {
		j.add("OVERLAP")
	}
	own := j.count(func(g *grant) bool {
		return g.owner == e.Client &&
			(g.attempt == 0 || g.attempt == e.Lease)
	}) >= j.quorum
	if !own && c.made != e.Lease {
		for i := range j.grants {
			if g := &j.grants[i]; g.owner == e.Client {
				g.attempt = e.Lease
			}
		}
	}
	c.acquiring, c.leaving, c.inside, c.made, c.met = false, false, true, 0, nil
	j.believe(e.Client, true)
}

// rest is a client that wants nothing.
func (j *judge) rest(client int, c *part) {
	*c = part{dead: c.dead}
	j.believe(client, false)
}

// believe makes the grants of a client live, or left.
func (j *judge) believe(client int, live bool) {
	for i := range j.grants {
		if g := &j.grants[i]; g.owner == client {
			g.left = !live
		}
	}
}

// nobody owns what no client has made.
const nobody = -1

func (j *judge) change(e *history.Event) {
	g := &j.grants[e.Node]
	if e.Client > 0 {
		own := g.owner == e.Client && (g.attempt == 0 || e.Lease == 0 || g.attempt == e.Lease)
		lapsed := j.stamped && g.forever && e.After != "" && e.After != e.Before && e.At >= g.lapses
		if g.owner != 0 && !g.left && !own && !lapsed && j.room == 1 {
			j.add("WRONG-DEL")
		}
		if c := &j.stages[e.Client]; c.call.open && !c.call.decided && e.Before != e.After {
			c.call.begin(j.has(e.Client, e.Lease))
			c.call.decided = true
		}
	}
	if g.owner > 0 && g.owner != e.Client && e.Before != e.After {
		if owner := &j.stages[g.owner]; owner.call.decided {
			owner.call.had = false
		}
	}
	j.changed = j.changed || e.Kind == history.Change
	j.own(e, g)
}

// own says whose the key is after a change.
func (j *judge) own(e *history.Event, g *grant) {
	forever := e.Until == history.Forever
	switch {
	case e.After == "":
		*g = grant{}
		return
	case e.Before == e.After:
		if forever && !g.forever {
			g.lapses = e.At + j.ttl
		}
		g.forever = forever
		return
	case e.Client == 0:
		*g = grant{owner: nobody, left: true, forever: forever}
		return
	}
	c := &j.stages[e.Client]
	attempt := e.Lease
	if g.owner == e.Client && g.attempt != e.Lease {
		attempt = 0
	}
	active := c.acquiring || c.inside || c.leaving || c.releasing
	*g = grant{owner: e.Client, attempt: attempt, left: !active, forever: forever, lapses: e.At + j.ttl}
	if c.acquiring {
		c.made = e.Lease
	}
}

func (a *lieAbout) begin(has bool) { a.had, a.lacked = has, !has }

// look looks at the calls that are not decided.
func (j *judge) look() {
	for i := range j.stages {
		if a := &j.stages[i].call; a.open && !a.decided {
			if j.has(i, 0) {
				a.lacked = false
			} else {
				a.had = false
			}
		}
	}
}

func (j *judge) write(e *history.Event) {
	if j.room > 1 {
		return
	}
	if j.stale(e) {
		j.add("STALE-WRITE")
		return
	}
	w := update{e.Version, e.Client, e.Lease}
	if j.last.client != w.client || j.last.attempt != w.attempt {
		j.other = j.last
	}
	j.last = w
}

func (j *judge) stale(e *history.Event) bool {
	before := j.last
	if before.client == e.Client && before.attempt == e.Lease {
		before = j.other
	}
	if before.version > e.Base {
		return true
	}
	if j.has(e.Client, e.Lease) {
		return false
	}
	for c := range j.stages {
		if s := &j.stages[c]; c != e.Client && s.inside && s.read {
			return true
		}
	}
	return j.stages[e.Client].inside && j.stages[e.Client].read && j.changed && j.has(e.Client, 0)
}
