package verdict

import (
	"math/bits"
	"time"

	"locklab/simulator/history"
)

// Facts are what the judges agree on: where every client is, and whose the key
// is on every node.
//
// A client is idle, unless it is in one of the sets below:
//
//	Acquire -> acquiring; Refuse -> idle; Enter -> inside; Leave -> leaving;
//	Release -> releasing; Released -> idle; Done -> idle; Crash -> dead
//
// A Leave with the note "exception" makes it idle as well, since mostly no
// Release follows; if one does, it is releasing. A lock taken again by its
// holder is Acquire, Enter, Release, Released without a Leave; such a client is
// inside all the while.
type facts struct {
	acquiring, inside, leaving, releasing, dead clients

	keyed   bool                         // the key was seen to change: the lock lives on it
	down    nodes                        // who is gone
	grant   [MaxNodes]grant              // of the key
	replica [MaxNodes][maxCopies]client8 // owners of the grants that the node's replicas have, and last its disk
	split   nodes                        // whose old masters live on

	// lapse is the true time from which a grant without a time to live may
	// be taken over: TTL after its value was made. 0: long ago.
	lapse [MaxNodes]time.Duration
}

// A grant is the key as it stands on one node. The zero grant is a missing key.
type grant struct {
	// owner made the key or last replaced its value. Prolonging or shortening
	// it does not make it anybody else's.
	owner client8
	// left says that the owner does not believe in it: it was refused, or has
	// given the lock back, or had an exception, or died. A grant that is not
	// left is live. Each attempt believes in its own grants only: a stamp
	// that a refused attempt left behind does not become live when its
	// client tries again, but it does if that client enters on it.
	left bool
	// forever says that the key has no time to live.
	forever bool
}

// client8 is a client's number in one byte; 0 is none.
type client8 uint8

// nobody owns a key that appeared without a client's command.
const nobody client8 = 1<<8 - 1

// clients is a set of clients, nodes one of nodes.
type (
	clients uint8
	nodes   uint8
)

// only gives the set of c alone; it is empty for no client and for nobody.
func only(c client8) clients { return clients(1) << (c - 1) }

func (s clients) has(c client8) bool { return s&only(c) != 0 }
func (s *clients) add(c client8)     { *s |= only(c) }
func (s *clients) remove(c client8)  { *s &^= only(c) }
func (s clients) first() client8     { return client8(bits.TrailingZeros8(uint8(s)) + 1) }
func (s clients) size() int          { return bits.OnesCount8(uint8(s)) }
func (s clients) appendTo(l []int) []int {
	for ; s != 0; s &= s - 1 {
		l = append(l, int(s.first()))
	}
	return l
}

func (f *facts) observe(c *Case, e *history.Event) {
	switch e.Kind {
	case history.Change:
		if e.Key == c.key {
			f.change(c, e)
		}
	case history.Expire:
		if e.Key == c.key {
			f.remove(e.Node - 1)
		}
	case history.Down:
		f.down |= 1 << (e.Node - 1)
	case history.Sync:
		f.replica[e.Node-1][history.Disk] = f.grant[e.Node-1].owner
	case history.Up, history.Failover:
		f.down &^= 1 << (e.Node - 1)
	case history.Split:
		f.part(c, e)
	case history.Heal:
		f.split &^= 1 << (e.Node - 1)
		f.remove(c.nodes + e.Node - 1)
	case history.Replicate:
		f.replica[e.Node-1][e.Replica] = f.grant[e.Node-1].owner
	default:
		f.move(client8(e.Client), e)
	}
}

// part gives the old master of a node, and the grant on it, a number of its own.
func (f *facts) part(c *Case, e *history.Event) {
	n, old := e.Node-1, c.nodes+e.Node-1
	if f.split&(1<<n) != 0 { // one more client is cut off
		return
	}
	f.split |= 1 << n
	f.grant[old], f.lapse[old] = f.grant[n], f.lapse[n]
}

// move follows a client from one stage to the next.
func (f *facts) move(c client8, e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		if f.leaving.has(c) { // it never released
			f.idle(c)
		}
		f.acquiring.add(c)
	case history.Enter:
		f.acquiring.remove(c)
		f.inside.add(c)
		f.believe(c, true)
	case history.Leave:
		f.inside.remove(c)
		f.leaving.add(c)
		if e.Note == history.Exception {
			f.idle(c)
		}
	case history.Release:
		f.leaving.remove(c)
		f.releasing.add(c)
		f.believe(c, true)
	case history.Refuse, history.Released:
		f.acquiring.remove(c)
		f.releasing.remove(c)
		if !f.inside.has(c) {
			f.idle(c)
		}
	case history.Done:
		f.idle(c)
	case history.Crash:
		f.idle(c)
		f.dead.add(c)
	}
}

// idle takes c out of every stage, and leaves its grants behind.
func (f *facts) idle(c client8) {
	f.acquiring.remove(c)
	f.inside.remove(c)
	f.leaving.remove(c)
	f.releasing.remove(c)
	f.believe(c, false)
}

// believe makes the grants of c live, or leaves them.
func (f *facts) believe(c client8, live bool) {
	for n := range f.grant {
		if f.grant[n].owner == c {
			f.grant[n].left = !live
		}
	}
}

// change lets a command, or a loss of data, change the key on one node.
func (f *facts) change(c *Case, e *history.Event) {
	n := e.Node - 1
	f.keyed = true
	if e.After == "" {
		f.remove(n)
		return
	}
	g, forever := &f.grant[n], e.Until == history.Forever
	made := e.Before != e.After
	if made {
		g.owner = f.maker(e)
		g.left = !f.active().has(g.owner)
	}
	switch {
	case !forever:
		f.lapse[n] = 0
	case made && e.Client == 0:
		f.lapse[n] = 0 // nobody knows how old it is
	case made || !g.forever:
		f.lapse[n] = e.At + c.ttl
	}
	g.forever = forever
}

// maker says whose the value is that e has made. What a replica brings with it
// at a failover, and a disk after a crash, belongs to whoever owned it when the
// copy last caught up; a
// key that stands from the beginning (told by a Change of client 0) is nobody's.
func (f *facts) maker(e *history.Event) client8 {
	if e.Client != 0 {
		return client8(e.Client)
	}
	if r := f.replica[e.Node-1][e.Replica]; r != 0 {
		return r
	}
	return nobody
}

func (f *facts) remove(n int) {
	f.grant[n] = grant{}
	f.lapse[n] = 0
}

// rebase is Safety.Rebase.
func (f *facts) rebase(now time.Duration) {
	for n := range f.lapse {
		if f.dead.has(f.grant[n].owner) { // never live again
			f.lapse[n] = 0
		}
		f.lapse[n] = max(f.lapse[n]-now, 0)
	}
}

// holders are the clients that believe they have the lock.
func (f *facts) holders() clients { return f.inside | f.leaving | f.releasing }

// active are the clients that have the lock or are asking for it.
func (f *facts) active() clients { return f.holders() | f.acquiring }

// free says that nobody has the lock or is being granted it: no client is
// inside, leaving or releasing, and none is acquiring with a grant that a
// server has already given it.
func (f *facts) free() bool {
	if f.holders() != 0 {
		return false
	}
	for n := range f.grant {
		if g := f.grant[n]; !g.left && f.acquiring.has(g.owner) {
			return false
		}
	}
	return true
}

// owned are the nodes on which the key is who's.
func (f *facts) owned(who client8) nodes {
	var s nodes
	for n := range f.grant {
		if f.grant[n].owner == who {
			s |= 1 << n
		}
	}
	return s
}

// leftovers are the nodes on which the key stands although nobody believes in
// it.
func (f *facts) leftovers() nodes {
	var s nodes
	for n := range f.grant {
		if f.grant[n].left {
			s |= 1 << n
		}
	}
	return s
}

// majority says whether the nodes in s are a quorum. Old masters that live on
// are none of the quorum's.
func (c *Case) majority(s nodes) bool { return c.count(s) >= c.quorum }

// barring says whether the nodes in s are so many that the others are no
// quorum. Of four nodes, two bar although they are no majority.
func (c *Case) barring(s nodes) bool { return c.nodes-c.count(s) < c.quorum }

func (c *Case) count(s nodes) int { return bits.OnesCount8(uint8(s) & (1<<c.nodes - 1)) }
